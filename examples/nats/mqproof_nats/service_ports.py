"""PURE: how faults on a server are verified."""

from faults.executors.service_ports import Greeting, ServicePorts
from mqproof_nats.names import CLIENT_PORT, ROUTE_PORT

NATS_SERVICE_PORTS = ServicePorts(
    hello=Greeting(says="", begins="INFO {"),  # a server speaks first
    canaries="mqproof_nats.canaries:opened",
    peer_word=None,
    usual=CLIENT_PORT,
    to_peers=ROUTE_PORT,
    ports={},
)
