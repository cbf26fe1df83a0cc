"""The reference of RabbitMQ's mirrored queues: what it promises is what they do.

1. An operator uses the management API, and the command line (reference/core/node.py). A spare that
   has joined is queried like every other host from then on.
2. In containers engine calls block, so they run in threads. A container that stands in for a node
   that is down has the node's environment, and writes its configuration as the node's entry point
   does.
"""

import asyncio
import json
import math
import shlex
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Annotated

import typer

from faults.core.model import FaultError
from harness.cluster.links import Links
from harness.cluster.orders import AddNode, Operator, Order
from harness.cluster.port import DeployError
from harness.plan.misbehave import DRAWN
from harness.plan.model import Layout
from harness.plan.problems import PlanError, Problem
from harness.systems.containers import (
    ClusterAdapters,
    Containers,
    PlaceCommands,
    Stand,
    worker_image,
)
from harness.systems.files import PACKAGES
from harness.systems.port import Adapters, Demo, Foreground, Here, Node, Unit
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.core.mirrored_layouts import (
    REPLICATED,
    MirroredLayoutFile,
    mirrored_guarantees,
)
from harness.systems.rabbitmq.core.queues import MIRRORED
from harness.systems.rabbitmq.core.service_ports import RABBITMQ_SERVICE_PORTS
from harness.systems.rabbitmq.declaration import rabbitmq_declaration
from harness.systems.rabbitmq.held import by_api
from harness.systems.rabbitmq.parts import links
from harness.systems.rabbitmq_mirrored import MIRRORED_FOREIGN
from harness.systems.reference.containers import nodes_image
from harness.systems.reference.core.node import (
    AMQP_PORT,
    API_PORT,
    CONFIGURATION,
    NODES,
    PEER_PORT,
    REFERENCE_ALARMS,
    OperatorCommand,
    Ports,
    command,
    configuration,
)

COMMAND = (sys.executable, "-m", "reference_impl", "node")
COMMAND_LIMIT_S = 60.0
# Return status and output, or raise DeployError.
RunCommand = Callable[[OperatorCommand], Awaitable[tuple[int, str]]]


class ReferenceOperator:
    """The orders.Operator of the reference.

    `run_command` runs the command line where the nodes are. `joined` gets each new member.
    """

    def __init__(
        self, api: Operator, run_command: RunCommand, joined: Callable[[str], None]
    ) -> None:
        self._api = api
        self._run_command = run_command
        self._joined = joined

    async def carry_out(self, order: Order) -> str:
        line = command(order)
        if line is None:
            return await self._api.carry_out(order)
        status, output = await self._run_command(line)
        short = " ".join(output.split())[-300:]
        if status:
            raise DeployError(f"{line.text} on {line.host}: status {status}: {short}")
        if isinstance(order, AddNode):
            self._joined(order.host)
        return f"{line.host}: {short or 'done'}"


# --- in containers ----------------------------------------------------------------------------

_CONFIGURED = (
    f"umask 077; mkdir -p /etc/mqproof; printf '%s\\n' \"$MQPROOF_NODE\" >{CONFIGURATION}"
)


def reference_parts(stand: Stand) -> ClusterAdapters:
    """Its process is its broker: where the one runs, so does the other."""
    addresses = stand.addresses
    spares = {host.name: host.address for host in stand.layout.spares}

    def joined(host: str) -> None:
        addresses[host] = spares[host]
        broker.add(host, spares[host])

    broker = RabbitBroker.on_ports(stand.layout, stand.agent, addresses, MIRRORED, by_api)
    return ClusterAdapters(
        broker=broker,
        operator=ReferenceOperator(ApiOperator(broker.api), by_engine(stand.commands), joined),
        ways=links(stand),
        service_ports=RABBITMQ_SERVICE_PORTS,
        alarms=broker.alarms,
        dead_broker=None,
    )


def by_engine(commands: PlaceCommands) -> RunCommand:
    def run(command: OperatorCommand) -> tuple[int, str]:
        line = ["python3", *command.line(CONFIGURATION)]
        if command.instead:
            text = f"{_CONFIGURED}; exec {shlex.join(line)}"
            return commands.run_instead(command.host, text, COMMAND_LIMIT_S)
        limited = ["timeout", f"{COMMAND_LIMIT_S:.0f}", *line]
        return commands.run(command.host, limited)

    async def run_command(command: OperatorCommand) -> tuple[int, str]:
        try:
            return await asyncio.to_thread(run, command)
        except FaultError as error:
            raise DeployError(f"{command.text} on {command.host}: {error}") from error

    return run_command


REFERENCE_CONTAINERS = Containers(
    image=nodes_image,
    worker_image=worker_image,
    services=NODES,
    jars=(),
    parts=reference_parts,
    alarms=REFERENCE_ALARMS,
    users_image=None,
    distribution=None,
)


# --- as processes of this machine -------------------------------------------------------------


class ReferenceNodes:
    """The port.Processes of the reference, with RabbitMQ's management API."""

    moves = True
    peers_at = PEER_PORT

    def units(self, layout: Layout) -> tuple[Unit, ...]:
        return tuple(
            Unit(host.name, word, COMMAND, AMQP_PORT, (AMQP_PORT, API_PORT, PEER_PORT))
            for host in (*layout.hosts, *layout.spares)
            for word in host.processes
        )

    def configuration(self, node: Node) -> str:
        ports = Ports(*map(node.port, (AMQP_PORT, API_PORT, PEER_PORT)))
        own = (node.layout, node.host, node.address, node.peers, node.data, node.log, ports)
        settings = {**configuration(*own, node.cookie), "misbehave": node.misbehave}
        return json.dumps(settings, indent=1)

    def adapters(self, here: Here) -> Adapters:
        words = {unit.host: unit.word for unit in self.units(here.layout)}

        async def run_command(command: OperatorCommand) -> tuple[int, str]:
            path = here.configured(command.host, words[command.host])
            return await _run(sys.executable, *command.line(path))

        def joined(host: str) -> None:
            broker.add(host, here.addresses[host], *ports)

        ports = here.port(AMQP_PORT), here.port(API_PORT)
        members = {host.name: here.addresses[host.name] for host in here.layout.hosts}
        broker = RabbitBroker.on_ports(here.layout, here.agent, members, MIRRORED, by_api, *ports)
        operator = ReferenceOperator(ApiOperator(broker.api), run_command, joined)
        dialled = {host: f"{address}:{ports[0]}" for host, address in members.items()}
        return Adapters(
            broker, operator, RABBITMQ_SERVICE_PORTS, Links(here.agent, here.proxy, dialled)
        )


async def _run(*words: str) -> tuple[int, str]:
    """Run a program; return its status and output. Raise DeployError."""
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=PACKAGES,
    )
    try:
        async with asyncio.timeout(COMMAND_LIMIT_S):
            output, _ = await process.communicate()
    except TimeoutError:
        raise DeployError(f"{' '.join(words[1:])}: {COMMAND_LIMIT_S:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode is not None, "it has said all"
    return process.returncode, output.decode(errors="replace")


# --- the system -------------------------------------------------------------------------------


def nodes_to_play_with(
    nodes: Annotated[int, typer.Option(min=1, max=9, help="How many.")] = 3,
    port: Annotated[
        int, typer.Option(min=1, max=45000, help="Of the first node; the next ones follow.")
    ] = 5672,
    net_ticktime: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds until a silent peer is given up.")
    ] = 60.0,
    pause_minority: Annotated[
        bool, typer.Option("--pause-minority", help="Nodes in a minority stop serving.")
    ] = False,
) -> tuple[str, ...]:
    """Run mirrored queues as in RabbitMQ 3.10, on 127.0.0.1, until Ctrl-C or SIGTERM."""
    if math.isnan(net_ticktime):
        raise PlanError([Problem("--net-ticktime", "must be a number of seconds")])
    words = ["--nodes", str(nodes), "--port", str(port), "--net-ticktime", str(net_ticktime)]
    words += ["--partition-handling", "pause_minority" if pause_minority else "ignore"]
    return (sys.executable, "-m", "reference_impl", "mirrored", *words)


REFERENCE_MIRRORED = rabbitmq_declaration(
    "reference-mirrored",
    layout_file=MirroredLayoutFile,
    guarantees=mirrored_guarantees,
    replicated=REPLICATED,
    processes=ReferenceNodes(),
    misbehaves=(*DRAWN, "stale-guard"),
    containers=REFERENCE_CONTAINERS,
    foreground=Foreground("mirrored", nodes_to_play_with),
    demo=Demo(
        deployment="local",
        keeps="all-automatic@T=10",
        breaks="exactly-2-manual@T=10",
        real="rabbitmq-mirrored",
    ),
    foreign=replace(MIRRORED_FOREIGN, example=None),  # the first file is one of RabbitMQ's
)
