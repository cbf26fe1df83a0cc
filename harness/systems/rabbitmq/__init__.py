"""The family of RabbitMQ: systems with its protocol and its management API.

broker         the Broker port: the management API and one declare
alarms          how a node is brought into alarm, and out of it
api            the management API, on every host
khepri         where nodes keep their metadata: Khepri or Mnesia
cluster_state  what the API's answers mean
layouts        what stands in a layout file of nodes, whatever their queues
queues         what differs between kinds of queues: how they are declared, and what is said of one
members        queues whose members decide by majority: what the API says of leader and members
member_layouts  the layout files of such queues
api_operator   orders over the API: policies, synchronisation
commands       the command lines for an order
held            how much of a queue a node holds itself
held_beside     the same, of a node in a container
service_ports  the ports of its nodes by which faults are verified
drain          how queues are read empty
servers        what its nodes are on hosts, and where they listen to each other
stopped        whether it has stopped in a process that runs
versions       the versions that Debian packages
users_image    the conventions that a user's image must follow
containers     its nodes in containers: the image
services       its nodes in containers: their configuration
parts          its running nodes in containers: their adapters
operator       carries orders out in containers: the API and the command line
foreign/       an external cluster
"""
