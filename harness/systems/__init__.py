"""What is a system's own, a folder a family of brokers, and what their files are made of.

registry       every system by its name: ours, and those of other packages
port           what deployments need of a system
catalogue      the systems and layouts that can be put under test, read from their TOML files
layout_parts   what layout files of all systems are made of
likeness       a layout file that has what it lacks from a built-in one
files          where the systems' own files lie
services       what a family says of its processes in containers
stand_in       a container instead of a process that is down, for operators

rabbitmq/      RabbitMQ, and whatever speaks its management API
reference/     the reference brokers, which do
rocketmq/      Apache RocketMQ
"""
