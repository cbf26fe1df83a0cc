"""A broker, which is a master or a slave (docs/behaviour/rocketmq.md 3.2 to 6).

server       its connections, their requests, its own ticks
parts        what its parts share: its role, its meters; they read it, and it knows none of them
registering  its registration at name servers

Messages:
sending      sends of producers
misbehaving  injected misbehaviour of a broker
committing   the moment when that counts as sent
replicating  the same, in a DLedger group
leading      such a broker's changes of role
switching    the same, where a control node decides
pulling      pulls of consumers, and long polling
retrying     messages that they send back
delays       delayed messages
levels       where they wait, and when they are due
transactions halves, their decisions, and checks at producers
halves       what becomes of one that is decided
copies       a master's slaves
following    a slave's master
tables       the tables that a slave copies beside the log

Who and what:
topics       its topics
groups       groups of consumers, as configured
clients      connected clients, and their subscriptions
membership   heartbeats, farewells, and notices of them
offsets      consumed offsets of groups
locks        exclusive locks of queues
queries      queries about queues, offsets and single messages
operating    requests of operators, tools and slaves
"""
