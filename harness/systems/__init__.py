"""What is a system's own, a folder each, and what their files are made of.

registry       every system by its name: ours, and those of other packages
port           what deployments need of a system
containers     the part of it that is for containers
standing       what brokers are asked while a cluster stands
foreign        the part of it that is for brokers that somebody else runs
catalogue      the systems and layouts that can be put under test, read from their TOML files
topologies     topology files of the systems that somebody else may run
layout_parts   what layout files of all systems are made of
likeness       a layout file that has what it lacks from a built-in one
files          where the systems' own files lie
services       what a system says of its processes in containers
stand_in       a container instead of a process that is down, for operators

Families, and what their systems share:

rabbitmq/             whatever speaks RabbitMQ's management API
rocketmq/             Apache RocketMQ

Systems, a folder each:

rabbitmq_mirrored/    RabbitMQ with mirrored classic queues
rabbitmq_quorum/      RabbitMQ with quorum queues
reference_mirrored/   the reference of mirrored queues
rocketmq_2m2s/        RocketMQ's masters and slaves
rocketmq_dledger/     RocketMQ's groups that elect their leader by Raft
reference_2m2s/       the reference of masters and slaves
rocketmq_controller/  RocketMQ's groups whose masters controllers elect
"""
