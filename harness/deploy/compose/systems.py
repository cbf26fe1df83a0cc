"""What differs between systems in containers: who is asked, who is told, how links are made."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from docker import DockerClient

from faults.executors.doors import Doors
from harness.cluster.agent import AgentClient
from harness.cluster.orders import Operator
from harness.cluster.port import Link
from harness.deploy.compose import balancers, worker_ways
from harness.deploy.compose.render import proxy_address
from harness.deploy.links import Links
from harness.plan.model import BALANCER, Layout
from harness.plan.rocketmq_layout import servers
from harness.systems.port import Standing
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.doors import AMQP_PORT, MIRRORED_DOORS
from harness.systems.rabbitmq.operator import held_of, operator_of
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.doors import doors_of
from harness.systems.rocketmq.links import RocketLinks
from harness.systems.rocketmq.operator import RocketOperator
from harness.workers.protocol import Endpoint


class Ways(Protocol):
    """deploy/links.py, or what does the same."""

    async def make(self, run: str, worker: str) -> tuple[Link, ...]: ...

    async def remove(self, run: str) -> None: ...

    async def direct(self, host: str) -> Endpoint: ...

    def dial(self, name: str) -> tuple[str, int]: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """`command`: how a worker is started whose own command is given."""

    broker: Standing
    operator: Operator
    ways: Ways
    doors: Doors
    command: Callable[[str, list[str]], list[str]]


def parts(
    client: DockerClient,
    project: str,
    layout: Layout,
    network: str,
    agent: AgentClient,
    addresses: dict[str, str],
) -> Parts:
    """`addresses`: by host; a spare that joins is added."""
    if layout.rocketmq is None:
        return _of_queues(client, project, layout, network, agent, addresses)
    return _of_logs(client, project, layout, network, agent, addresses)


def _of_queues(
    client: DockerClient,
    project: str,
    layout: Layout,
    network: str,
    agent: AgentClient,
    addresses: dict[str, str],
) -> Parts:
    held = held_of(client, project, layout)
    broker = RabbitBroker.on_ports(layout, agent, addresses, held)

    def joined(host: str, address: str) -> None:
        """A spare is a member now."""
        addresses[host] = address
        broker.add(host, address)

    entrance = balancers.entrance(layout, network)
    ways = Links(
        agent,
        proxy_address(network),
        {host: f"{address}:{AMQP_PORT}" for host, address in addresses.items()},
        {BALANCER: f"{entrance}:{AMQP_PORT}"} if entrance else None,
    )
    operator = operator_of(client, project, layout, broker.api, joined)
    return Parts(broker, operator, ways, MIRRORED_DOORS, lambda _, own: own)


def _of_logs(
    client: DockerClient,
    project: str,
    layout: Layout,
    network: str,
    agent: AgentClient,
    addresses: Mapping[str, str],
) -> Parts:
    every = servers(layout.hosts)
    free = worker_ways.addresses(layout, network)
    ways = RocketLinks(agent, proxy_address(network), free, every, addresses)
    names = [host.name for host in layout.hosts]

    def command(worker: str, own: list[str]) -> list[str]:
        address = ways.address(worker)
        return own if address is None else worker_ways.command(names, address, own)

    broker = RocketBroker(layout, agent, addresses)
    operator = RocketOperator(client, project, layout, broker)
    return Parts(broker, operator, ways, doors_of(layout.hosts), command)
