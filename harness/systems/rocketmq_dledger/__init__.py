"""Apache RocketMQ with DLedger: groups of brokers whose log is a Raft log, and who elect a leader.

declaration  the system, and clusters that somebody else runs: RocketMQ's, and the reference's
layout       a layout file, its guarantees, and the configuration and roles of its servers
parts        the leaders, as members report them; running servers in containers
"""
