"""What is pure in RabbitMQ's family: no module here touches the outside world.

Nodes:

versions       the versions that Debian packages
service_ports  the ports by which faults are verified
servers        what nodes are on hosts, and where they listen to each other
alarms         how a node is brought into alarm, and out of it
commands       the command lines for an order
khepri         where nodes keep their metadata: Khepri or Mnesia
cluster_state  what the management API's answers mean

Kinds of queues:

queues         what differs between them: how they are declared, and what is said of one
members        queues whose members decide by majority: what the API says of leader and members
streams        how a stream is declared and read, and what it guarantees

Layout files:

layouts           what stands in one of nodes, whatever their queues
member_layouts    of queues with members
mirrored_layouts  of mirrored queues: its file, and its guarantees
policies          what a layout's policies say, held against what it promises
"""
