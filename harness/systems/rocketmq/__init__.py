"""The family of Apache RocketMQ: name servers, and brokers in groups.

What its systems share; who leads a group is each one's own (leading.py).

layout         what only its layouts have: versions, groups, ports, timers
layout_files   what their files have in common
servers        what they are on hosts, and where they listen to each other
settings       what every server's configuration file has
containers     servers in containers: the images
jars           what servers are run from
services       servers in containers: what they are told
parts          servers in containers that stand: who asks and tells them
broker         the Broker port: what servers say of themselves
leading        who leads a group: what a system answers
no_operator    where nobody has to do anything by hand
api            questions to servers through the agent
cluster_state  what their answers mean
links          listeners of the proxy where brokers are known by name
service_ports  where its servers are spoken to by whoever looks at a fault
drain          how topics are read empty
"""
