"""The family of RabbitMQ: systems with its protocol and its management API.

declaration    the parts that all declarations share, and how queues are read empty
broker         the Broker port: the management API and one declare
alarms         how a node is brought into alarm, and out of it
api            the management API, on every host
khepri         where nodes keep their metadata: Khepri or Mnesia
cluster_state  what the API's answers mean
layouts        what stands in a layout file of nodes, whatever their queues
queues         what differs between kinds of queues: how they are declared, and what is said of one
members        queues whose members decide by majority: what the API says of leader and members
member_layouts  the layout files of such queues
api_operator   orders over the API: policies, synchronisation
commands       the command lines for an order
held           how much of a queue a node holds itself
service_ports  the ports of its nodes by which faults are verified
servers        what its nodes are on hosts, and where they listen to each other
versions       the versions that Debian packages
containers     its nodes in containers: images and configuration
parts          its running nodes in containers: their adapters
operator       carries orders out in containers: the API and the command line
foreign/       an external cluster
"""
