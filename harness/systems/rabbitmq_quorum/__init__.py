"""RabbitMQ with quorum queues, whose members decide by majority (Raft).

declaration  the system
layouts      a layout file, and the layout that it becomes
guarantees   what quorum queues guarantee by a layout
queues       how one is declared, and what the API says of its leader and members
parts        its nodes in containers that stand
"""
