"""RabbitMQ's nodes in containers that stand: who asks and tells them, and the ways to them."""

from functools import partial

from faults.executors.project import Project
from harness.cluster.links import Links
from harness.plan.model import BALANCER
from harness.systems.containers import Parts, Stand
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.doors import AMQP_PORT, MIRRORED_DOORS
from harness.systems.rabbitmq.operator import RabbitOperator
from harness.systems.rabbitmq.stopped import by_application


def links(stand: Stand) -> Links:
    """A listener a worker and node, or one a worker where balancers stand before them."""
    nodes = {host: f"{address}:{AMQP_PORT}" for host, address in stand.addresses.items()}
    entrances = {BALANCER: f"{stand.entrance}:{AMQP_PORT}"} if stand.entrance else None
    return Links(stand.agent, stand.proxy, nodes, entrances)


def rabbitmq_parts(stand: Stand) -> Parts:
    broker = RabbitBroker.on_ports(stand.layout, stand.agent, stand.addresses)
    project = Project(stand.client, stand.project)

    def joined(host: str, address: str) -> None:
        """A spare is a member now."""
        stand.addresses[host] = address
        broker.add(host, address)

    spares = {host.name: host.address for host in stand.layout.spares}
    return Parts(
        broker=broker,
        operator=RabbitOperator(ApiOperator(broker.api), project, stand.client, spares, joined),
        ways=links(stand),
        doors=MIRRORED_DOORS,
        lifeless=partial(by_application, project),
    )
