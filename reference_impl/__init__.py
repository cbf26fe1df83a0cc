"""The reference: brokers whose behaviour is known, and can be broken on purpose.

Each layer knows only those below it (a contract in pyproject.toml); of it all, only __main__ and
shell touch sockets, disk or time.

__main__   the program: one node, or a small cluster to play with
shell      sockets, disk, timers; the programs
node       one node: its processes, its cluster, its management API
rocketmq   name servers and brokers of RocketMQ
amqp       AMQP 0-9-1: codec, connections, channels, routing, confirms
mirrored   mirrored queues: the ring, masters, mirrors, synchronisation, promotion
misbehave  injected bugs, the choice of messages, and the log of every message that was hit
process    the form of a process: one event in, effects out
metadata   the tables that every node knows, equal on all of them
protocol   the messages between processes of different packages
pid        names of processes
"""
