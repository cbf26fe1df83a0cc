"""RabbitMQ with quorum queues, whose members decide by majority (Raft).

declaration  the system: its queues and guarantees, and clusters that somebody else runs
"""
