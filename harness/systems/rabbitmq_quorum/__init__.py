"""RabbitMQ with quorum queues, whose members decide by majority (Raft).

declaration  the system
layouts      a layout file, and the layout that it becomes
guarantees   what quorum queues guarantee by a layout
queues       how one is declared, and what the API says of its leader and members
topology_file  a file of brokers that somebody else runs, and its layout
foreign      what is asked of those, and how
parts        its nodes in containers that stand
"""
