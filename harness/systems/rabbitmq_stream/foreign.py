"""A cluster of RabbitMQ with streams that somebody else runs."""

from harness.systems.files import text_in
from harness.systems.foreign import Access, Foreign
from harness.systems.rabbitmq.foreign.brokers import ForeignRabbits
from harness.systems.rabbitmq.foreign.door import AMQP_DOOR
from harness.systems.rabbitmq.foreign.file import layout
from harness.systems.rabbitmq.foreign.own import api_ways
from harness.systems.rabbitmq_stream.queues import stream_queues
from harness.systems.rabbitmq_stream.topology_file import STREAM_TOPOLOGY


def _brokers(access: Access) -> ForeignRabbits:
    found = layout(access.topology)
    return ForeignRabbits(access, found, stream_queues(found))


STREAM_FOREIGN = Foreign(
    shape=STREAM_TOPOLOGY,
    layout=layout,
    clients=AMQP_DOOR,
    brokers=_brokers,
    other_ways=api_ways,
    from_compose=None,  # its services get quorum queues
    example=text_in("harness.systems.rabbitmq_stream", "topology_example.toml"),
    driven_by=(),
)
