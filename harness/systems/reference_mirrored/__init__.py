"""The reference of mirrored queues (reference_impl): RabbitMQ's protocol and management API.

declaration  the system
node         a node's configuration, and its ports
processes    its nodes as subprocesses of this machine
services     its nodes in containers
foreground   nodes to play with
"""
