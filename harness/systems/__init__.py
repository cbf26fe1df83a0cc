"""What is a system's own, a folder each, and what their files are made of.

registry       every system by its name: ours, and those of other packages
port           what deployments need of a system
containers     the part of it that is for containers
standing       what brokers are asked while a cluster stands
catalogue      the systems and layouts that can be put under test, read from their TOML files
layout_parts   what layout files of all systems are made of
likeness       a layout file that has what it lacks from a built-in one
files          where the systems' own files lie
services       what a system says of its processes in containers
stand_in       a container instead of a process that is down, for operators

Families, and what their systems share:

rabbitmq/            whatever speaks RabbitMQ's management API
rocketmq/            Apache RocketMQ

Systems, a folder each:

rabbitmq_mirrored/   RabbitMQ with mirrored classic queues
reference_mirrored/  the reference of those
rocketmq_2m2s/       RocketMQ's masters and slaves
"""
