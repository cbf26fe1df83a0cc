"""PURE: where nodes of mirrored queues are spoken to by whoever looks at a fault: RabbitMQ's, and
those of the reference."""

from faults.executors.doors import AMQP, Doors
from faults.peers import DISTRIBUTION_PORT

AMQP_PORT = 5672

MIRRORED_DOORS = Doors(protocol=AMQP, usual=AMQP_PORT, to_peers=DISTRIBUTION_PORT, ports={})
