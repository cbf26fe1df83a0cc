"""Client libraries as they are declared, ours and other packages': the one registry of them.

declaration          what is declared of a library and of its family, and the capabilities
section              a family's own part of `[workload]`: its shape, and all that comes of it
amqp                 the family of AMQP 0-9-1: pika
amqp_section         its section
rocketmq             the family of RocketMQ's remoting protocol: Java's clients, and the native one
rocketmq_section     its section
rocketmq_table       the keys of its section, and checks of several of them
rocketmq_terms       which messages wait, or are in transactions, and what becomes of them
registry             all of them by name, those of the entry points `mqproof.clients` included
requirements         what a workload and a layout require of a client, and why it cannot do it
client_options       options in a client's name: NAME+KEY=VALUE
"""
