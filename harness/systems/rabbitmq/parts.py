"""RabbitMQ's nodes in containers that stand: who asks and tells them, and the ways to them.

1. A node's command line, run beside it, reports how much of a queue it holds. Engine calls block,
   so they run in a thread.
2. RabbitMQ may have stopped in a container whose process runs, as after a pause that it did not
   come back from. Only its own word that it is stopped counts, not that it is silent, or boots.
"""

import asyncio
from functools import partial

from faults.core.actions import ENDING_S, Start, Stop
from faults.core.model import FaultError
from harness.cluster.links import Links
from harness.cluster.port import DeadBroker
from harness.plan.layouts.layout_values import BALANCER
from harness.systems.containers import ClusterAdapters, PlaceCommands, Stand
from harness.systems.rabbitmq.api import ManagementApi
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.core.commands import BOOT_STATE, STOPPED, held
from harness.systems.rabbitmq.core.queues import MIRRORED, QueueKind
from harness.systems.rabbitmq.core.service_ports import AMQP_PORT, RABBITMQ_SERVICE_PORTS
from harness.systems.rabbitmq.held import Held
from harness.systems.rabbitmq.operator import RabbitOperator

HELD_LIMIT_S = 150


def by_command(commands: PlaceCommands) -> Held:
    def ask(queue: str, host: str) -> int | None:
        status, output = commands.run(host, ["timeout", str(HELD_LIMIT_S), *held(queue)])
        words = output.split() or [""]  # its warnings come before what it was asked
        return int(words[-1]) if status == 0 and words[-1].isdecimal() else None

    async def count(_api: ManagementApi, queue: str, host: str) -> int | None:
        try:
            return await asyncio.to_thread(ask, queue, host)
        except FaultError:
            return None

    return count


def by_application(commands: PlaceCommands, place: str) -> DeadBroker | None:
    """None where RabbitMQ does not say that it is stopped. Blocks; raises FaultError."""
    status, output = commands.run(place, BOOT_STATE)
    if status or output.strip() != STOPPED:
        return None
    start = (Stop(place), Start(place, ENDING_S, after="stop"))
    return DeadBroker("its process runs, but RabbitMQ in it has stopped", start, waits=True)


def links(stand: Stand) -> Links:
    """A listener a worker and node, or one a worker where balancers stand before them."""
    nodes = {host: f"{address}:{AMQP_PORT}" for host, address in stand.addresses.items()}
    entrances = (
        {BALANCER: f"{stand.client_endpoint}:{AMQP_PORT}"} if stand.client_endpoint else None
    )
    return Links(stand.agent, stand.proxy, nodes, entrances)


def rabbitmq_parts(stand: Stand) -> ClusterAdapters:
    """Of nodes whose queues are classic ones."""
    return parts_of(stand, MIRRORED, by_command(stand.commands))


def parts_of(stand: Stand, kind: QueueKind, held: Held) -> ClusterAdapters:
    """Of nodes whose queues are of that kind."""
    broker = RabbitBroker.on_ports(stand.layout, stand.agent, stand.addresses, kind, held)

    def joined(host: str, address: str) -> None:
        """A spare is a member now."""
        stand.addresses[host] = address
        broker.add(host, address)

    spares = {host.name: host.address for host in stand.layout.spares}
    return ClusterAdapters(
        broker=broker,
        operator=RabbitOperator(ApiOperator(broker.api), stand.commands, spares, joined),
        ways=links(stand),
        service_ports=RABBITMQ_SERVICE_PORTS,
        alarms=broker.alarms,
        dead_broker=partial(by_application, stand.commands),
    )
