"""RabbitMQ's nodes in containers that stand: who asks and tells them, and the ways to them."""

from functools import partial

from faults.executors.project import Project
from harness.cluster.links import Links
from harness.plan.model import BALANCER
from harness.systems.containers import ClusterAdapters, Stand
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.held import Held
from harness.systems.rabbitmq.held_beside import by_command
from harness.systems.rabbitmq.operator import RabbitOperator
from harness.systems.rabbitmq.queues import MIRRORED, QueueKind
from harness.systems.rabbitmq.service_ports import AMQP_PORT, RABBITMQ_SERVICE_PORTS
from harness.systems.rabbitmq.stopped import by_application


def links(stand: Stand) -> Links:
    """A listener a worker and node, or one a worker where balancers stand before them."""
    nodes = {host: f"{address}:{AMQP_PORT}" for host, address in stand.addresses.items()}
    entrances = (
        {BALANCER: f"{stand.client_endpoint}:{AMQP_PORT}"} if stand.client_endpoint else None
    )
    return Links(stand.agent, stand.proxy, nodes, entrances)


def rabbitmq_parts(stand: Stand) -> ClusterAdapters:
    """Of nodes whose queues are classic ones."""
    return parts_of(stand, MIRRORED, by_command(Project(stand.client, stand.project)))


def parts_of(stand: Stand, kind: QueueKind, held: Held) -> ClusterAdapters:
    """Of nodes whose queues are of that kind."""
    project = Project(stand.client, stand.project)
    broker = RabbitBroker.on_ports(stand.layout, stand.agent, stand.addresses, kind, held)

    def joined(host: str, address: str) -> None:
        """A spare is a member now."""
        stand.addresses[host] = address
        broker.add(host, address)

    spares = {host.name: host.address for host in stand.layout.spares}
    return ClusterAdapters(
        broker=broker,
        operator=RabbitOperator(ApiOperator(broker.api), project, stand.client, spares, joined),
        ways=links(stand),
        service_ports=RABBITMQ_SERVICE_PORTS,
        alarms=broker.alarms,
        dead_broker=partial(by_application, project),
    )
