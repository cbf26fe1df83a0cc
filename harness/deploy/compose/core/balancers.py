"""PURE: balancers before the brokers, as services of a compose file.

1. A balancer is one container that owns its network: when it is killed its address, and the one
   that floats between two, go with it, as a machine's do. No process but its own joins it.
2. The first of a pair holds the floating address as long as it lives.
3. It carries the load's connections and has a broker's share of the processor.
"""

from typing import Any

from harness.deploy import labels
from harness.deploy.compose.core.confined import balancer_rights
from harness.deploy.compose.core.settings import Settings
from harness.plan.model import Layout

_FIRST, _FLOATING = 110, 112
_PRIORITIES = (150, 100)


def balancer_address(layout: Layout, network: str) -> str:
    """Return the one address that clients know; "" if they know the brokers' addresses."""
    if not layout.balancers:
        return ""
    return f"{network}.{_FLOATING if len(layout.balancers) > 1 else _FIRST}"


def services(
    layout: Layout, brokers: dict[str, str], settings: Settings, cpu_shares: int
) -> dict[str, Any]:
    """By name. `brokers`: their addresses by host."""
    addresses = " ".join(f"{host}:{address}" for host, address in brokers.items())
    return {
        name: {
            "image": settings.balancer_image,
            "init": True,
            "restart": "no",
            "hostname": name,
            "environment": {
                "MQPROOF_BROKERS": addresses,
                **_pair(layout, number, settings.network),
            },
            "cpu_shares": cpu_shares,
            "networks": {
                "servers": {"ipv4_address": _own(settings.network, number), "aliases": [name]}
            },
            "labels": {labels.ROLE: labels.ROLE_PROCESS, labels.HOST: name},
            "cap_add": balancer_rights(floats=len(layout.balancers) > 1),
        }
        for number, name in enumerate(layout.balancers)
    }


def _pair(layout: Layout, number: int, network: str) -> dict[str, str]:
    if len(layout.balancers) == 1:
        return {}
    return {
        "MQPROOF_OWN": _own(network, number),
        "MQPROOF_PEER": _own(network, 1 - number),
        "MQPROOF_FLOATING": balancer_address(layout, network),
        "MQPROOF_PRIORITY": str(_PRIORITIES[number]),
    }


def _own(network: str, number: int) -> str:
    return f"{network}.{_FIRST + number}"
