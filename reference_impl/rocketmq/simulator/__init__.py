"""Name servers, brokers and their peers in virtual time, from one seed: the same cores
that shell runs, and a simulated network, clocks and disks.

world    the hosts, what is under way, and what happens next
network  connections: octets on their way, cuts, ends
disks    the content of a disk after a crash, and after the loss of power
"""
