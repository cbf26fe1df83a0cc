"""PURE: a node of the reference: its configuration as reference_impl reads it, and its commands.

1. The command line changes the disk of a node that is down; it refuses if a node runs on it.
2. Its first word is always followed by the path of the node's configuration.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from faults.core.alarms import NOTHING, AlarmCommands, Command
from harness.cluster.orders import AddNode, ForceBoot, ForgetNode, Order, ResetNode, WipeNode
from harness.plan.layouts.layout_values import MIB, Host
from harness.plan.model import Layout
from harness.systems.core.services import COOKIE, Addresses, Service, Services, port_is_open

AMQP_PORT, API_PORT, PEER_PORT = 5672, 15672, 25672


@dataclass(frozen=True, slots=True)
class Ports:
    """Of every node of a cluster, each at an address of its own."""

    amqp: int = AMQP_PORT
    api: int = API_PORT
    peer: int = PEER_PORT


def configuration(
    layout: Layout,
    name: str,
    bind: str,
    peers: Mapping[str, tuple[str, int]],
    data: str,
    log: str,
    ports: Ports,
    cookie: str,
) -> dict[str, Any]:
    """Return a node's configuration. `peers`: the address of each other node.

    `data`, `log`: paths; `cookie`: the cluster's secret, the same for all its nodes.
    """
    pause = layout.pause_if_all_down
    spare = name in [host.name for host in layout.spares]
    founders = [name] if spare else [host.name for host in layout.hosts]
    mib = layout.memory_high_watermark_mib
    return {
        "name": name,
        "bind": bind,
        "amqp_port": ports.amqp,
        "api_port": ports.api,
        "peer_port": ports.peer,
        "peers": dict(peers),
        **({"founders": founders} if layout.spares else {}),
        "data": data,
        "cookie": cookie,
        "net_ticktime_s": layout.detection_timeout_s,
        "partition_handling": layout.partition_handling,
        "preferred": [] if pause is None else list(pause.hosts),
        "recover": "ignore" if pause is None else pause.recover,
        **({} if mib is None else {"memory_high_octets": mib * MIB}),
        "log": log,
    }


CONFIGURATION = "/etc/mqproof/node.json"  # where its entry point writes it
_RAISED = {"memory": "1", "disk": "1000000000000000"}  # a limit that no node keeps


def _limit(*words: str) -> Command:
    return ("python3", "-m", "reference_impl", "limit", CONFIGURATION, *words)


def _all_cleared() -> Command:
    script = f"[ -e {CONFIGURATION} ] || {{ echo '{NOTHING}'; exit 0; }}; exec \"$@\""
    return ("sh", "-c", script, "clear", *_limit("all"))


REFERENCE_ALARMS = AlarmCommands(
    raised={resource: _limit(resource, octets) for resource, octets in _RAISED.items()},
    cleared={resource: _limit(resource) for resource in _RAISED},
    all_cleared=_all_cleared(),
)


@dataclass(frozen=True, slots=True)
class OperatorCommand:
    host: str
    what: str
    words: tuple[str, ...] = ()
    instead: bool = False  # of the node, which is down; else beside it

    @property
    def text(self) -> str:
        """Return the command as text, for the record."""
        return " ".join((self.what, *self.words))

    def line(self, configuration: str) -> tuple[str, ...]:
        """What follows the interpreter."""
        return ("-m", "reference_impl", self.what, configuration, *self.words)


def command(order: Order) -> OperatorCommand | None:
    """What carries the order out; None where the command line does not."""
    match order:
        case AddNode(host=host, through=through):
            return OperatorCommand(host, "join", (through,))
        case ForgetNode(host=host, through=through, offline=False):
            return OperatorCommand(through, "forget", (host,))
        case ForgetNode(host=host, through=through):
            return OperatorCommand(through, "forget", (host, "--offline"), instead=True)
        case ForceBoot(host=host):
            return OperatorCommand(host, "force-boot", instead=True)
        case WipeNode(host=host):
            return OperatorCommand(host, "wipe", instead=True)
        case ResetNode(host=host):
            return OperatorCommand(host, "reset")
    return None


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
