"""Name servers, brokers and whoever talks to them in virtual time, from one seed: the same cores
that shell runs, and a network, clocks and disks that do what they are told.

world    who is where, what is under way, and what happens next
network  connections: octets on their way, cuts, ends
clocks   each host's own time
disks    what is left of a disk after a crash, and after the loss of power
"""
