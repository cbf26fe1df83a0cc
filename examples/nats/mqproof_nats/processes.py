"""Servers as subprocesses of this machine: harness.systems.port.Processes."""

import sys

from harness.cluster.links import Links
from harness.plan.model import Layout
from harness.systems.port import Adapters, Here, Node, Unit
from mqproof_nats.broker import NatsServers, NoOperator, Way
from mqproof_nats.configuration import Listens, configuration
from mqproof_nats.layouts import storage
from mqproof_nats.names import CLIENT_PORT, MONITORING_PORT, ROUTE_PORT
from mqproof_nats.service_ports import NATS_SERVICE_PORTS

COMMAND = (sys.executable, "-m", "mqproof_nats.server")
PORTS = (CLIENT_PORT, MONITORING_PORT, ROUTE_PORT)


class NatsProcesses:
    """Each server's routes to its peers pass mqproof's proxy."""

    moves = True
    peers_at = ROUTE_PORT

    def units(self, layout: Layout) -> tuple[Unit, ...]:
        return tuple(
            Unit(host.name, word, COMMAND, CLIENT_PORT, PORTS)
            for host in layout.hosts
            for word in host.processes
        )

    def configuration(self, node: Node) -> str:
        return configuration(
            node.host,
            Listens(node.address, *map(node.port, PORTS)),
            node.peers,
            node.data,
            node.cookie,
            storage(node.layout).sync_always,
            proxied=True,
            log=node.log,
        )

    def adapters(self, here: Here) -> Adapters:
        client_port, monitoring_port = here.port(CLIENT_PORT), here.port(MONITORING_PORT)
        ways = {
            host: Way(address, client_port, monitoring_port)
            for host, address in here.addresses.items()
        }
        dialled = {host: f"{way.address}:{way.client_port}" for host, way in ways.items()}
        return Adapters(
            NatsServers(here.layout, here.agent, ways),
            NoOperator(),
            NATS_SERVICE_PORTS,
            Links(here.agent, here.proxy, dialled),
        )
