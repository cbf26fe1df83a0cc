"""RabbitMQ with streams over AMQP 0-9-1: replicated logs that consumers read by offset.

declaration  the system
layouts      the mistakes of a layout file
guarantees   what streams guarantee by a layout
queues       how one is declared
topology_file  a file of brokers that somebody else runs, and its layout
foreign      what is asked of those, and how
parts        its nodes in containers that stand
"""
