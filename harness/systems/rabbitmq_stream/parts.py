"""RabbitMQ's nodes in containers that stand, with streams on them."""

from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rabbitmq.held import by_nobody
from harness.systems.rabbitmq.parts import parts_of
from harness.systems.rabbitmq_stream.queues import stream_queues


def stream_parts(stand: Stand) -> ClusterAdapters:
    """No command tells how much of a stream one replica holds; the audit reads each."""
    return parts_of(stand, stream_queues(stand.layout), by_nobody)
