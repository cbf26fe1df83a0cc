"""The family of RabbitMQ: whatever speaks its protocol and its management API.

broker         the Broker port: the management API and one declare
alarms          how a node is brought into alarm, and out of it
api            the management API, on every host
cluster_state  what the API's answers mean
layouts        what stands in a layout file of nodes, whatever their queues
queues         what differs between kinds of queues: how they are declared, and what is said of one
api_operator   orders over the API: policies, synchronisation
commands       what the command line is told for an order
held            how much of a queue a node holds itself, by whom it is asked
held_beside     the same, of a node in a container
service_ports  where its nodes are spoken to by whoever looks at a fault
drain          how queues are read empty
servers        what its nodes are on hosts, and where they listen to each other
stopped        whether it has stopped in a process that runs
containers     its nodes in containers: the image
services       its nodes in containers: what they are told
parts          its nodes in containers that stand: who asks and tells them
operator       carries orders out in containers: the API and the command line
foreign/       a cluster that somebody else runs
"""
