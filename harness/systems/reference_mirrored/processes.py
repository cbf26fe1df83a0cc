"""The reference's nodes as subprocesses of this machine."""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from harness.cluster.agent import AgentClient
from harness.plan.model import Layout
from harness.systems import port as declared
from harness.systems.port import Node, Told
from harness.systems.rabbitmq.api_operator import ApiOperator
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.held import by_api
from harness.systems.rabbitmq.queues import MIRRORED
from harness.systems.rabbitmq.service_ports import RABBITMQ_SERVICE_PORTS
from harness.systems.reference_mirrored.node import (
    AMQP_PORT,
    API_PORT,
    PEER_PORT,
    Ports,
    configuration,
)


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
    ) -> Told:
        ports = port(AMQP_PORT), port(API_PORT)
        broker = RabbitBroker.on_ports(layout, agent, addresses, MIRRORED, by_api, *ports)
        return Told(broker, ApiOperator(broker.api), RABBITMQ_SERVICE_PORTS)
