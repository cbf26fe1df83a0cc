"""The family of Apache RocketMQ: name servers, and brokers in groups.

What its systems share; who leads a group is each one's own (leading.py).

declaration    the parts that all declarations share
layout         what only its layouts have: versions, groups, ports, timers
layout_files   what their files have in common
servers        what they are on hosts, and where they listen to each other
settings       what every server's configuration file has
containers     servers in containers: the images and their jars
distribution   the same, of a vendor's own build
client_python  builds rocketmq-client-python 2.0.0 with its shim
services       servers in containers: their configuration
parts          running servers in containers: their adapters
broker         the Broker port: what servers report
leading        who leads a group: what a system answers
no_operator    for layouts that need no operator
foreign/       clusters that somebody else runs
api            questions to servers through the agent
cluster_state  what their answers mean
links          listeners of the proxy where brokers are known by name
service_ports  the ports of its servers by which faults are verified
drain          how topics are read empty
"""
