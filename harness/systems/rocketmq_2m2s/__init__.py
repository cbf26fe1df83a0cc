"""Apache RocketMQ in groups of a master and its slaves.

declaration  the system, and clusters that somebody else runs: RocketMQ's, and the reference's
layout       a layout file, its guarantees, and the configuration and roles of its servers
fixed_roles  who leads: as it is configured
parts        running servers in containers, and the operator who makes a slave the master
"""
