"""What is pure in RocketMQ's family: no module here touches the outside world.

Every system's:

layout         what only its layouts have: versions, groups, ports, timers
layout_files   what their files have in common
servers        what servers are on hosts, and where they listen to each other
service_ports  the ports by which faults are verified
settings       what every server's configuration file has
services       servers in containers: their configuration
drain          how topics are read empty
cluster_state  what servers' answers mean

Layouts that a real system and its reference share: file, guarantees, servers' configuration:

master_slave   groups of a master and its slaves
dledger        groups that elect their leader
controlled     groups whose master controllers elect
"""
