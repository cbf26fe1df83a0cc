"""RabbitMQ with quorum queues, whose members decide by majority (Raft).

declaration  the system
guarantees   what quorum queues guarantee by a layout
queues       how one is declared
topology_file  a file of brokers that somebody else runs, and its layout
foreign      what is asked of those, and how
parts        its nodes in containers that stand
"""
