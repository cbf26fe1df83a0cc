"""The reference: brokers whose behaviour is known, and can be broken on purpose.

amqp       AMQP 0-9-1: codec, connections, channels, routing, confirms
metadata   what every node knows, and how it stays equal on all of them
mirrored   mirrored queues: the ring, masters, mirrors, synchronisation, promotion
misbehave  injected bugs, with the truth about every message that they touched
node       one node: its processes, its cluster, its management API
shell      sockets, disk, timers; the programs
"""
