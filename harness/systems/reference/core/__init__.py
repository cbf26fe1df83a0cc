"""What is pure in the reference's systems.

node   a node with mirrored queues: its configuration, and its commands
speed  the timers of RocketMQ's servers: as they are played, and as servers are configured
ctgmq  a layout of CTGMQ: its file, and the configuration of its servers
"""
