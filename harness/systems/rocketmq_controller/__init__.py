"""Apache RocketMQ 5 with controllers: they say which of a group's brokers is its master.

declaration  the system
layout       a layout file, its guarantees, and the configuration and roles of its servers
parts        the masters, as controllers report them; running servers in containers
"""
