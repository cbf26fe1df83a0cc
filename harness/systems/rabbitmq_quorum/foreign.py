"""A cluster of RabbitMQ with quorum queues that somebody else runs."""

from harness.systems.files import text_in
from harness.systems.foreign import Foreign
from harness.systems.rabbitmq.foreign.brokers import ForeignRabbits
from harness.systems.rabbitmq.foreign.door import AMQP_DOOR
from harness.systems.rabbitmq.foreign.file import layout
from harness.systems.rabbitmq.foreign.from_compose import topology_text
from harness.systems.rabbitmq.foreign.own import api_ways
from harness.systems.rabbitmq_quorum.queues import QUORUM_QUEUES
from harness.systems.rabbitmq_quorum.topology_file import QUORUM_TOPOLOGY

QUORUM_FOREIGN = Foreign(
    shape=QUORUM_TOPOLOGY,
    layout=layout,
    clients=AMQP_DOOR,
    brokers=lambda access: ForeignRabbits(access, layout(access.topology), QUORUM_QUEUES),
    other_ways=api_ways,
    from_compose=topology_text,
    example=text_in("harness.systems.rabbitmq_quorum", "topology_example.toml"),
    driven_by=(),
)
