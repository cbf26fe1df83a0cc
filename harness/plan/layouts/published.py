"""PURE: the ports of a cluster by hand that people and their clients reach, at loopback addresses.

1. Every host has an address of its own, so every port is the standard one.
2. Each port leads through the proxy, so that faults of links reach these clients, too.
"""

from dataclasses import dataclass

from harness.plan.layouts.servers import Servers
from harness.plan.model import Layout

PREFIX = "mqproof.by-hand."  # of the listeners' names
_MANAGEMENT = "management"


@dataclass(frozen=True, slots=True)
class PublishedPort:
    """A port of a host. `number`: the host's among all that are published together, from 0.

    `process`: the process of the host that it leads to, where a host may have several. `clients`:
    whether it is for clients of the brokers; else for browsers and HTTP clients.
    """

    system: str
    host: str
    number: int
    process: str
    port: int
    clients: bool

    @property
    def listener(self) -> str:
        """The name of the proxy's listener."""
        end = (self.process or "clients") if self.clients else _MANAGEMENT
        return f"{PREFIX}{self.system}.{self.host}.{end}"


def published(layout: Layout, servers: Servers, first: int = 0) -> tuple[PublishedPort, ...]:
    """Return the ports of a layout's members. `first`: the number of its first host."""
    found = []
    for number, host in enumerate(layout.hosts, start=first):
        for one in servers.processes:
            if one.host == host.name and one.client_port is not None:
                word = one.word if servers.apart else ""
                found.append(
                    PublishedPort(layout.system, host.name, number, word, one.client_port, True)
                )
        if servers.management_port is not None:
            port = servers.management_port
            found.append(PublishedPort(layout.system, host.name, number, "", port, False))
    return tuple(found)
