"""The family of Apache RocketMQ: name servers, and brokers in groups.

layout         what only its layouts have: versions, groups, ports, timers
servers        what they are on hosts, and where they listen to each other
settings       each server's configuration file
containers     servers in containers: the images
jars           what servers are run from
services       servers in containers: what they are told
parts          servers in containers that stand: who asks and tells them
broker         the Broker port: what servers say of themselves
api            questions to servers through the agent
cluster_state  what their answers mean
links          listeners of the proxy where brokers are known by name
operator       makes a slave its group's master, in containers
service_ports  where its servers are spoken to by whoever looks at a fault
drain          how topics are read empty
"""
