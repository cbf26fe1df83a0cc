"""PURE: where ways between hosts lead in containers when they pass the proxy.

1. Hosts cannot be distinguished by ports (Erlang's are the same everywhere). So each way from one
   host to another has its own address on the servers' network, with a listener at each port of the
   peer. The host's own table of names leads there, and its processes know only names. Name servers
   and masters report names, too.
2. All these addresses belong to the proxy that clients' links pass, too: one API to make, break,
   heal and sweep. The two cannot mix: a client's listener has a port that the kernel gives. A
   peer's has its broker's port, at an address without other listeners. Their names begin
   differently.
3. Compose gives a container one address in a network. The others are added from beside it, by a
   container that may do no more than that and shares the proxy's network namespace.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations

from faults.core.mechanisms import TOXIPROXY
from faults.core.peers import Mesh, Serving, peer_link
from faults.core.shapes import Way
from harness.plan.model import Layout
from harness.systems.layout_parts import PROXIED_HOSTS_MAX

# 56 ways at most; their addresses lie between the hosts' and the proxy's own
_FIRST = 40


def addresses(layout: Layout, network: str) -> dict[Way, str]:
    """(host, peer) -> the address by which the host reaches the peer; empty: by the peer's own."""
    if layout.peer_links != TOXIPROXY:
        return {}
    assert len(layout.hosts) <= PROXIED_HOSTS_MAX, "the catalogue takes no more"
    ways = permutations((host.name for host in layout.hosts), 2)
    return {way: f"{network}.{_FIRST + number}" for number, way in enumerate(ways)}


def names(host: str, ways: Mapping[Way, str]) -> list[str]:
    """A host's table of its peers' names, as Compose takes it."""
    return [f"{peer}:{address}" for (start, peer), address in ways.items() if start == host]


def listeners(
    ways: Mapping[Way, str], layout: Layout, serving: Serving
) -> dict[str, tuple[str, str]]:
    """Each peer link's name -> where it listens and where it leads. `layout`: with addresses."""
    hosts = {host.name: host.address for host in layout.hosts}
    mesh = Mesh(TOXIPROXY, serving)
    return {
        peer_link(host, peer, port): (f"{address}:{port}", f"{hosts[peer]}:{port}")
        for (host, peer), address in ways.items()
        for one in mesh.served(peer)
        for port in one.ports
    }


def adding(ways: Mapping[str, Iterable[str]]) -> list[str]:
    """The command that adds addresses, each beside the proxy's own one of the same network (the
    key), and stays. Again is no error."""
    steps = []
    for own, others in ways.items():
        find = f"ip -o -4 addr show to {own} | {{ read -r _ name _; echo $name; }}"
        add = f'for one in {" ".join(others)}; do ip addr replace $one/32 dev "$device"; done'
        steps += [f'device=$({find}); test -n "$device"; {add}']
    return ["/bin/sh", "-c", f"set -e; {'; '.join(steps)}; exec sleep infinity"]
