"""Client libraries as they are declared, ours and other packages': the one registry of them.

declaration.py       what is declared of a library and of its family, and the capabilities
section.py           a family's own part of `[workload]`: its shape, and all that comes of it
amqp.py              the family of AMQP 0-9-1: pika
amqp_section.py      its section
rocketmq.py          the family of RocketMQ's remoting protocol: Java's clients, and the native one
rocketmq_section.py  its section
rocketmq_checks.py   checks of several keys of its section together
rocketmq_terms.py    which messages wait, or are in transactions, and what becomes of them
registry.py          all of them by name, those of the entry points `mqproof.clients` included
requirements.py      what a workload and a layout require of a client, and why it cannot do it
client_options.py    options in a client's name: NAME+KEY=VALUE
"""
