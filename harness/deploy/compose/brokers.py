"""PURE: what the processes of each system run in containers.

1. A process joins the network of its host and brings its own data volume; both are render.py's.
2. Everything of a layout reaches a broker by its environment: its entry point makes files of it.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.plan.model import Host, Layout
from harness.plan.rocketmq_layout import parse_broker
from harness.systems.rocketmq import settings as rocketmq_settings

Addresses = Mapping[str, str]  # by host
Service = dict[str, Any]

_HEALTH: Service = {
    # Rare: each look costs a process and three lines of the broker's log. The harness asks by its
    # agent and does not wait for this one.
    "interval": "15s",
    "timeout": "5s",
    "retries": 5,
}


@dataclass(frozen=True, slots=True)
class Broker:
    """One system's processes: their image for people, where they keep data, what they are told.

    `told`: of a process of a host, by its word in the layout.
    """

    image: Callable[[Layout], str]
    data: str
    told: Callable[[Layout, Host, str, Addresses], Service]


def _rabbitmq(layout: Layout, _host: Host, _process: str, addresses: Addresses) -> Service:
    """One RabbitMQ node; its entry point turns these words into its configuration."""
    environment = {
        "MQPROOF_COOKIE": "mqproof",
        "MQPROOF_NODES": " ".join(addresses),
        "MQPROOF_NET_TICKTIME": f"{layout.timer_s:.0f}",
        "MQPROOF_PARTITION_HANDLING": layout.partition_handling,
        "MQPROOF_MEMORY_HIGH_WATERMARK": "2GB",
    }
    if (pause := layout.pause_if_all_down) is not None:
        environment["MQPROOF_PAUSE_IF_ALL_DOWN"] = " ".join([pause.recover, *pause.hosts])
    return {
        "environment": environment,
        "healthcheck": {"test": ["CMD", "/usr/local/bin/amqp-ready.sh"], **_HEALTH},
    }


_AMQP_PORT, _API_PORT, _PEER_PORT = 5672, 15672, 25672
_REFERENCE_DATA = "/var/lib/mqproof"


def _reference(layout: Layout, host: Host, _process: str, addresses: Addresses) -> Service:
    """One node of the reference; its configuration is one text."""
    node = {
        "name": host.name,
        "bind": addresses[host.name],
        "amqp_port": _AMQP_PORT,
        "api_port": _API_PORT,
        "peer_port": _PEER_PORT,
        "peers": {
            peer: [address, _PEER_PORT] for peer, address in addresses.items() if peer != host.name
        },
        "data": _REFERENCE_DATA,
        "net_ticktime_s": layout.timer_s,
        "partition_handling": layout.partition_handling,
        "log": "/dev/stdout",
    }
    return {
        "environment": {"MQPROOF_NODE": json.dumps(node)},
        # It serves clients as soon as its port is open.
        "healthcheck": _port_is_open(_AMQP_PORT, addresses[host.name]),
    }


def _rocketmq(layout: Layout, host: Host, process: str, _addresses: Addresses) -> Service:
    """One name server or broker; its entry point writes its configuration file."""
    settings = rocketmq_settings.configuration(layout, host.name, process)
    return {
        "environment": {
            "MQPROOF_ROLE": "broker" if parse_broker(process) else process,
            "MQPROOF_CONFIGURATION": rocketmq_settings.text(settings),
        },
        "healthcheck": _port_is_open(int(settings["listenPort"])),
    }


def _port_is_open(port: int, address: str = "127.0.0.1") -> Service:
    return {"test": ["CMD", "bash", "-c", f"exec 3<>/dev/tcp/{address}/{port}"], **_HEALTH}


def _rocketmq_image(layout: Layout) -> str:
    assert layout.rocketmq is not None, layout.label
    return f"${{MQPROOF_ROCKETMQ_IMAGE:-mqproof/rocketmq:{layout.rocketmq.version}}}"


BROKERS = {
    "rabbitmq-mirrored": Broker(
        image=lambda _: "${MQPROOF_RABBITMQ_IMAGE:-mqproof/rabbitmq:3.10.8}",
        data="/var/lib/rabbitmq",
        told=_rabbitmq,
    ),
    "reference-mirrored": Broker(
        image=lambda _: "${MQPROOF_REFERENCE_IMAGE:-mqproof/reference:mirrored}",
        data=_REFERENCE_DATA,
        told=_reference,
    ),
    "rocketmq-2m2s": Broker(
        image=_rocketmq_image,
        data="/var/lib/rocketmq",
        told=_rocketmq,
    ),
}
