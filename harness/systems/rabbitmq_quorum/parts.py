"""RabbitMQ's nodes in containers that stand, with quorum queues on them."""

from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rabbitmq.held import by_nobody
from harness.systems.rabbitmq.parts import parts_of
from harness.systems.rabbitmq_quorum.declaration import QUORUM_QUEUES


def quorum_parts(stand: Stand) -> ClusterAdapters:
    """No command tells how much of a queue one member holds."""
    return parts_of(stand, QUORUM_QUEUES, by_nobody)
