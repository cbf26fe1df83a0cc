"""The reference brokers (reference_impl): they speak RabbitMQ's protocol and management API.

node       a node's configuration, and its ports
processes  its nodes as subprocesses of this machine
services   its nodes in containers
"""
