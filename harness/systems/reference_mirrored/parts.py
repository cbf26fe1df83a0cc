"""Nodes of the reference in containers that stand: who asks and tells them."""

from harness.systems.containers import Parts, Stand
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.held import by_api
from harness.systems.rabbitmq.parts import links
from harness.systems.rabbitmq.queues import MIRRORED
from harness.systems.rabbitmq.service_ports import RABBITMQ_SERVICE_PORTS


def reference_parts(stand: Stand) -> Parts:
    """Its process is its broker: where the one runs, so does the other."""
    addresses = stand.addresses
    broker = RabbitBroker.on_ports(stand.layout, stand.agent, addresses, MIRRORED, by_api)
    return Parts(
        broker=broker,
        operator=ApiOperator(broker.api),
        ways=links(stand),
        service_ports=RABBITMQ_SERVICE_PORTS,
        alarms=broker.alarms,
        lifeless=None,
    )
