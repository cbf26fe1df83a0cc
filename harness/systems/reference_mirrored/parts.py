"""Nodes of the reference in containers that stand: who asks and tells them."""

from harness.systems.containers import Parts, Stand
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.doors import MIRRORED_DOORS
from harness.systems.rabbitmq.parts import links


def reference_parts(stand: Stand) -> Parts:
    """Its process is its broker: where the one runs, so does the other."""
    broker = RabbitBroker.on_ports(stand.layout, stand.agent, stand.addresses)
    return Parts(
        broker=broker,
        operator=ApiOperator(broker.api),
        ways=links(stand),
        doors=MIRRORED_DOORS,
        lifeless=None,
    )
