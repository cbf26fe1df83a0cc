"""Apache RocketMQ in groups of a master and its slaves.

declaration  the system
layout       a layout file, its guarantees, and the configuration and roles of its servers
fixed_roles  who leads: as it is configured
topology_file  the shape of the file of a cluster that somebody else runs
foreign      clusters that somebody else runs: RocketMQ's, and the reference's
parts        running servers in containers, and the operator who makes a slave the master
"""
