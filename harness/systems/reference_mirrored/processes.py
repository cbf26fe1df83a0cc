"""The reference's nodes as subprocesses of this machine."""

import asyncio
import json
import sys

from harness.cluster.links import Links
from harness.cluster.port import DeployError
from harness.plan.model import Layout
from harness.systems.files import PACKAGES
from harness.systems.port import Adapters, Here, Node, Unit
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.held import by_api
from harness.systems.rabbitmq.queues import MIRRORED
from harness.systems.rabbitmq.service_ports import RABBITMQ_SERVICE_PORTS
from harness.systems.reference_mirrored.node import (
    AMQP_PORT,
    API_PORT,
    PEER_PORT,
    OperatorCommand,
    Ports,
    configuration,
)
from harness.systems.reference_mirrored.operator import COMMAND_LIMIT_S, ReferenceOperator

COMMAND = (sys.executable, "-m", "reference_impl", "node")


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
