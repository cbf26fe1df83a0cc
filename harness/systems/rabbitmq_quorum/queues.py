"""PURE: how a quorum queue is declared; members.py reads what the management API says of one."""

from harness.systems.rabbitmq.members import queues_of

QUORUM_QUEUES = queues_of("quorum", {}, size="x-quorum-initial-group-size")
