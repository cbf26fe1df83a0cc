"""Mirrored queues (docs/behaviour/rabbitmq.md sections 1 and 3): one copy a node, held alike by a
ring.

A node's part:
supervisor      process 0: it starts and ends the node's replicas
local_replicas  the node's replicas, at most one a queue at a time
declarations    declarations that are not answered yet
upkeep          the duties of a node by a queue's record
placement       the nodes of a queue's master and mirrors

One copy of a queue:
replica         the common parts of master and mirror, and their flushes
backing         its messages, in their order
line            the ready messages of one priority: Q1, Q2, delta, Q3, Q4
paging          how many messages may be in memory
journal         its entries for the disk, collected until the next flush
store           entries on disk, from which a queue is restored
confirms        its confirms and its credit, collected by channel

The ring:
gm              guaranteed multicast: all members hear the same; neighbours and aliases
streams         one member's state of each sender's broadcasts
messages        the messages between copies of a queue, and supervisors
broadcasts      the broadcasts of a master, joined where one body can say it

The master:
master          its process
serving         its service for channels
consumers       the choice of the consumer of the next message
limits          its length limits, and the route of its dead letters
terms           expiry and priority of its messages
synchronising   the occasions to synchronise mirrors
sync            an explicit synchronisation
misbehaving     the bugs that are injected into its messages

A mirror:
mirror          its process
following       bodies round the ring, carried out on its own copy; how far that is behind
senders         the two ways of a publish to it: from the channel, and round the ring
promotion       its promotion to master

ending          the end of a process among its effects
"""
