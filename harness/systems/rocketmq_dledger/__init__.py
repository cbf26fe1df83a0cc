"""Apache RocketMQ with DLedger: groups of brokers whose log is a Raft log, and who elect a leader.

declaration  the system
layout       a layout file, its guarantees, and the configuration and roles of its servers
topology_file  the shape of the file of a cluster that somebody else runs
foreign      clusters that somebody else runs: RocketMQ's, and the reference's
parts        the leaders, as members report them; running servers in containers
"""
