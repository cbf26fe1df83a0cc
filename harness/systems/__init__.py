"""The systems under test, a module each beside their families, and the parts of their files.

registry        every system by its name: ours, and those of other packages
port            the parts of a system that deployments need
containers      its part for containers
running_broker  queries to brokers while a cluster runs
foreign         its part for external brokers
catalogue       the systems and layouts that can be put under test, read from their TOML files
topologies      topology files of external brokers
layout_parts    common parts of layout files
files           where the systems' own files lie
core/           what is pure of this: likeness of layouts, configuration of containers

Families, and what their systems share:

rabbitmq/             systems that speak RabbitMQ's management API
rocketmq/             Apache RocketMQ
reference/            the brokers of reference_impl, which speak like either

Systems, a module each:

rabbitmq_mirrored     RabbitMQ with mirrored classic queues
rabbitmq_quorum       RabbitMQ with quorum queues
rabbitmq_stream       RabbitMQ with streams
reference_mirrored    the reference of mirrored queues
rocketmq_2m2s         RocketMQ's masters and slaves
rocketmq_dledger      RocketMQ's groups, with leaders elected by Raft
reference_2m2s        the reference of masters and slaves
reference_dledger     the reference of groups with elected leaders
rocketmq_controller   RocketMQ's groups, with masters elected by controllers
reference_ctgmq       the reference of groups whose masters name servers replace

Their first topology files, where they have one, lie in examples.
"""
