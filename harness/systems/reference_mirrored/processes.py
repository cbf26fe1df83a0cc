"""The reference's nodes as subprocesses of this machine."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from typing import Any

from harness.cluster.agent import AgentClient
from harness.cluster.port import DeployError
from harness.plan.model import Layout
from harness.systems import port as declared
from harness.systems.files import PACKAGES
from harness.systems.port import Node, Told
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.held import by_api
from harness.systems.rabbitmq.queues import MIRRORED
from harness.systems.rabbitmq.service_ports import RABBITMQ_SERVICE_PORTS
from harness.systems.reference_mirrored.commands import Command
from harness.systems.reference_mirrored.node import (
    AMQP_PORT,
    API_PORT,
    PEER_PORT,
    Ports,
    configuration,
)
from harness.systems.reference_mirrored.operator import COMMAND_LIMIT_S, ReferenceOperator


class ReferenceNodes:
    """port.Processes: whoever asks them speaks RabbitMQ's management API."""

    command = (sys.executable, "-m", "reference_impl", "node")
    ports = declared.Ports(clients=AMQP_PORT, peers=PEER_PORT, others=(API_PORT,))

    def configuration(self, node: Node) -> Mapping[str, Any]:
        ports = Ports(*map(node.port, (AMQP_PORT, API_PORT, PEER_PORT)))
        own = (node.layout, node.host, node.address, node.peers, node.data, node.log, ports)
        return {**configuration(*own, node.cookie), "misbehave": node.misbehave}

    def told(
        self,
        layout: Layout,
        agent: AgentClient,
        addresses: Mapping[str, str],
        port: Callable[[int], int],
        configured: Callable[[str], str],
    ) -> Told:
        async def tell(command: Command) -> tuple[int, str]:
            return await _said(sys.executable, *command.line(configured(command.host)))

        def joined(host: str) -> None:
            broker.add(host, addresses[host], *ports)

        ports = port(AMQP_PORT), port(API_PORT)
        members = {host.name: addresses[host.name] for host in layout.hosts}
        broker = RabbitBroker.on_ports(layout, agent, members, MIRRORED, by_api, *ports)
        operator = ReferenceOperator(ApiOperator(broker.api), tell, joined)
        return Told(broker, operator, RABBITMQ_SERVICE_PORTS)


async def _said(*words: str) -> tuple[int, str]:
    """A program's status, and what it said. Raises DeployError."""
    process = await asyncio.create_subprocess_exec(
        *words,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=PACKAGES,
    )
    try:
        async with asyncio.timeout(COMMAND_LIMIT_S):
            said, _ = await process.communicate()
    except TimeoutError:
        raise DeployError(f"{' '.join(words[1:])}: {COMMAND_LIMIT_S:g} s") from None
    finally:
        if process.returncode is None:
            process.kill()
    assert process.returncode is not None, "it has said all"
    return process.returncode, said.decode(errors="replace")
