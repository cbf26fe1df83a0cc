"""PURE: the configuration of a node of the reference, as reference_impl reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.plan.model import Layout

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
        "log": log,
    }
