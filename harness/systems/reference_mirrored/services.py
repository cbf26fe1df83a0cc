"""PURE: nodes of the reference in containers."""

import json

from harness.plan.model import Host, Layout
from harness.systems.reference_mirrored.node import AMQP_PORT, PEER_PORT, Ports, configuration
from harness.systems.services import COOKIE, Addresses, Service, Services, port_is_open

_DATA = "/var/lib/mqproof"


def _configure(layout: Layout, host: Host, _process: str, addresses: Addresses) -> Service:
    """One node; its configuration is one text."""
    own = addresses[host.name]
    peers = {
        peer: (address, PEER_PORT) for peer, address in addresses.items() if peer != host.name
    }
    node = configuration(layout, host.name, own, peers, _DATA, "/dev/stdout", Ports(), COOKIE)
    return {
        "environment": {"MQPROOF_NODE": json.dumps(node)},
        # It serves clients as soon as its port is open.
        "healthcheck": port_is_open(AMQP_PORT, own),
    }


NODES = Services(data=_DATA, configure=_configure)
