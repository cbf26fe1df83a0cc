"""The store of a broker (docs/behaviour/rocketmq.md 4, 5): one log of all messages, and for each
queue of each topic the places of its own. Octet for octet as the real one has it on its disk.

store       messages put, found and recovered
log         the commit log
queues      the consume queues
records     one message as it stands in the log
properties  a message's properties, and the number of its tags
disk        the port of a store to its disk
"""
