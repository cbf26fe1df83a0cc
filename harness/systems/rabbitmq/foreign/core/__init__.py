"""What is pure for clusters of RabbitMQ's that somebody else runs.

own        what a topology file says that only this family understands
arguments  those that its queues may have, and why not others
looks      what the cluster says of itself, held against its file
"""
