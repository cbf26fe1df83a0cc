"""PURE: what the processes of each system run in containers."""

from collections.abc import Mapping

from harness.systems.rabbitmq import services as rabbitmq
from harness.systems.reference_mirrored import services as reference
from harness.systems.rocketmq import services as rocketmq
from harness.systems.services import Broker

BROKERS: Mapping[str, Broker] = {
    "rabbitmq-mirrored": rabbitmq.NODES,
    "reference-mirrored": reference.NODES,
    "rocketmq-2m2s": rocketmq.SERVERS,
}
