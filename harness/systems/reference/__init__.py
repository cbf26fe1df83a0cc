"""The reference brokers (reference_impl): they speak RabbitMQ's protocol and management API.

node       a node's configuration, and its ports
services   its nodes in containers
"""
