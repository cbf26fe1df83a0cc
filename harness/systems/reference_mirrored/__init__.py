"""The reference of mirrored queues (reference_impl): RabbitMQ's protocol and management API.

declaration  the system: its image, and nodes to play with
node         a node's configuration and ports; its commands for alarms and orders
processes    its nodes as subprocesses of this machine
operator     carries orders out: the API and the command line
parts        its running nodes in containers: their adapters
"""
