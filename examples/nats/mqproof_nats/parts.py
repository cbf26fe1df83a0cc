"""Servers in containers that run: their adapters."""

from harness.cluster.links import Links
from harness.systems.containers import ClusterAdapters, Stand
from mqproof_nats.broker import NatsServers, NoOperator, Way
from mqproof_nats.names import CLIENT_PORT, MONITORING_PORT
from mqproof_nats.service_ports import NATS_SERVICE_PORTS


def nats_parts(stand: Stand) -> ClusterAdapters:
    """A container's process is the server: where the one runs, so does the other."""
    ways = {
        host: Way(address, CLIENT_PORT, MONITORING_PORT)
        for host, address in stand.addresses.items()
    }
    dialled = {host: f"{way.address}:{way.client_port}" for host, way in ways.items()}
    return ClusterAdapters(
        broker=NatsServers(stand.layout, stand.agent, ways),
        operator=NoOperator(),
        ways=Links(stand.agent, stand.proxy, dialled),
        service_ports=NATS_SERVICE_PORTS,
        alarms=None,
        dead_broker=None,
    )
