"""A cluster of mirrored queues that somebody else runs: RabbitMQ's, or the reference's."""

from harness.systems.foreign import Foreign
from harness.systems.rabbitmq.foreign.brokers import ForeignRabbits
from harness.systems.rabbitmq.foreign.door import AMQP_DOOR
from harness.systems.rabbitmq.foreign.own import api_ways
from harness.systems.rabbitmq.queues import MIRRORED
from harness.systems.rabbitmq_mirrored.topology_file import MIRRORED_TOPOLOGY, layout

MIRRORED_FOREIGN = Foreign(
    shape=MIRRORED_TOPOLOGY,
    layout=layout,
    clients=AMQP_DOOR,
    brokers=lambda access: ForeignRabbits(access, layout(access.topology), MIRRORED),
    other_ways=api_ways,
    from_compose=None,  # its services get quorum queues
)
