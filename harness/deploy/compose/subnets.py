"""Chooses private addresses that nothing else on the machine uses.

1. Choosing is pure; looking around is separate.
2. Each process begins its search elsewhere, so that two that look at once seldom collide.
"""

import os
from collections.abc import Iterable, Iterator
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError
from pathlib import Path

import docker

from harness.cluster.port import DeployError
from harness.deploy.engine import engine_errors

_RANGES = ("172.31", "10.231", "192.168")  # the last two for machines that use the first one
_ROUTES = Path("/proc/net/route")


def free_network(client: docker.DockerClient) -> str:
    """Return the first three parts of a /24 that no Docker network and no route overlaps. Raise
    DeployError."""
    return choose([*docker_networks(client), *machine_routes()], start=os.getpid())


def choose(taken: Iterable[IPv4Network], start: int) -> str:
    """Raises DeployError when every candidate is taken."""
    used = list(taken)
    for prefix in _candidates(start):
        network = IPv4Network(f"{prefix}.0/24")
        if not any(network.overlaps(other) for other in used):
            return prefix
    raise DeployError(
        f"no free private network among {', '.join(f'{start}.0.0/16' for start in _RANGES)}; "
        "remove unused Docker networks (`docker network prune`)"
    )


def _candidates(start: int) -> Iterator[str]:
    for base in _RANGES:
        for number in range(256):
            yield f"{base}.{(start + number) % 256}"


def docker_networks(client: docker.DockerClient) -> list[IPv4Network]:
    """Raises DeployError."""
    with engine_errors("the networks of the Docker engine could not be listed"):
        networks = client.networks.list()
    subnets = [
        part.get("Subnet", "")
        for network in networks
        for part in (network.attrs.get("IPAM") or {}).get("Config") or []
    ]
    return [found for subnet in subnets for found in _networks(subnet)]


def machine_routes(table: Path = _ROUTES) -> list[IPv4Network]:
    """All routes but the default one; none where the machine has no such table."""
    try:
        lines = table.read_text(encoding="ascii").splitlines()[1:]
    except OSError:
        return []
    fields = [line.split() for line in lines]
    routes = [
        found for row in fields for found in _networks(f"{_dotted(row[1])}/{_dotted(row[7])}")
    ]
    return [route for route in routes if route.prefixlen > 0]


def _dotted(little_endian: str) -> str:
    return ".".join(str(part) for part in reversed(bytes.fromhex(little_endian)))


def _networks(text: str) -> list[IPv4Network]:
    """None or one: IPv6 subnets do not stand in our way."""
    try:
        return [IPv4Network(text, strict=False)]
    except (AddressValueError, NetmaskValueError, ValueError):
        return []
