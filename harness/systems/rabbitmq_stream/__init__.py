"""RabbitMQ with streams over AMQP 0-9-1: replicated logs that consumers read by offset.

declaration  the system: its layout files, and clusters that somebody else runs
queues       how a stream is declared and read, and what it guarantees
topology_file  a file of brokers that somebody else runs, and its layout
"""
