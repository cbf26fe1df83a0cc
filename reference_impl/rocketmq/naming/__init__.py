"""A name server (docs/behaviour/rocketmq.md 3.1): it knows what brokers told it, and forgets who
is silent. Name servers do not know of each other, and keep nothing on a disk.

server     its connections, its requests, and whom it gives up
requests   what it answers
controlling  what its control node answers, if it has one
routes     who is there, and which broker has which topic
"""
