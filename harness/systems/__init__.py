"""What is a system's own, a folder a family of brokers, and what their files are made of.

catalogue      the systems and layouts that can be put under test, read from their TOML files
layout_parts   what layout files of all systems are made of
likeness       a layout file that has what it lacks from a built-in one
files          where the systems' own files lie
stand_in       a container instead of a process that is down, for operators

rabbitmq/      whoever has RabbitMQ's management API and mirrored queues (the reference, too)
rocketmq/      Apache RocketMQ
"""
