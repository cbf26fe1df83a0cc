"""What is pure for clusters of RocketMQ's that somebody else runs.

own    what a topology file says that only this family understands
looks  what servers say of themselves, held against its file
"""
