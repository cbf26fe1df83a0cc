"""Mirrored queues (docs/behaviour/rabbitmq.md sections 1 and 3): one copy a node, held alike by a
ring.

A node's part:
supervisor      process 0: it starts and ends the node's replicas
local_replicas  the node's replicas, at most one a queue at a time
declarations    declarations that are not answered yet
upkeep          what a queue's record asks of the node that looks at it
placement       where a queue's master and mirrors should be

One copy of a queue:
replica         what master and mirror have alike, and what goes out together
backing         its messages, in their order
line            what is ready of one priority: Q1, Q2, delta, Q3, Q4
paging          how many messages may be in memory
journal         what it has to write to disk, collected until the next flush
store           entries on disk, from which a queue is restored
confirms        its confirms, collected by channel
crediting       how much of what channels sent it has carried out

The ring:
gm              guaranteed multicast: all members hear the same
view            the group's record as one member sees it: neighbours and aliases
streams         what one member holds of each sender's broadcasts
messages        what copies of a queue, and supervisors, say to each other
telling         what a master broadcasts, joined where one body can say it

The master:
master          its process
serving         what it does for channels
consumers       who gets the next message
limits          how long the queue may be
terms           how long its messages live, and which go first
dead_letters    where those of its messages go that it has no use for
synchronising   when it synchronises mirrors
sync            how
misbehaving     the bugs that are injected into what it holds

A mirror:
mirror          its process
following       what comes round the ring, carried out on its own copy
senders         the two ways of a publish to it: from the channel, and round the ring
depth           whether it holds what its master holds
promotion       how it becomes the master

ending          the end of a process among its effects
"""
