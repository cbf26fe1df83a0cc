"""The reference of mirrored queues (reference_impl): RabbitMQ's protocol and management API.

declaration  the system
node         a node's configuration, and its ports
processes    its nodes as subprocesses of this machine
containers   its nodes in containers: the image
services     its nodes in containers: their configuration
alarms       how they are brought into alarm, and out of it
commands     its command lines for an order
operator     carries orders out: the API and the command line
parts        its running nodes in containers: their adapters
foreground   nodes to play with
"""
