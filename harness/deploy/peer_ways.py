"""PURE: where ways between hosts lead in containers when they pass the proxy.

1. Erlang's ports are the same on every host, so each way, from one host to another, has an address
   of its own on the servers' network. A host's own table of names leads there, and so do its
   broker's words: nothing in them tells another address.
2. All these addresses are of the one proxy that clients' links pass, too: one API for whoever
   makes, breaks, heals or sweeps. The two cannot mix: a client's listener has a port that the
   kernel gives, a peer's has its broker's at an address where nobody else listens, and their names
   begin differently.
3. Compose gives a container one address in a network. The others are added from beside it, by a
   container that may do no more than that and shares the proxy's network namespace.
"""

from collections.abc import Iterable, Mapping
from itertools import permutations

from faults.kinds import TOXIPROXY
from faults.peers import PORTS, peer_link
from faults.shapes import Way
from harness.plan.model import Layout

HOSTS_MAX = 8  # 56 ways; their addresses lie between the hosts' and the proxy's own
_FIRST = 40


def addresses(layout: Layout, network: str) -> dict[Way, str]:
    """(host, peer) -> the address by which the host reaches the peer; empty: by the peer's own."""
    if layout.peer_links != TOXIPROXY:
        return {}
    assert len(layout.hosts) <= HOSTS_MAX, "the catalogue takes no more"
    ways = permutations((host.name for host in layout.hosts), 2)
    return {way: f"{network}.{_FIRST + number}" for number, way in enumerate(ways)}


def names(host: str, ways: Mapping[Way, str]) -> list[str]:
    """A host's table of its peers' names, as Compose takes it."""
    return [f"{peer}:{address}" for (start, peer), address in ways.items() if start == host]


def listeners(ways: Mapping[Way, str], hosts: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Each peer link's name -> where it listens and where it leads. `hosts`: their addresses."""
    return {
        peer_link(host, peer, port): (f"{address}:{port}", f"{hosts[peer]}:{port}")
        for (host, peer), address in ways.items()
        for port in PORTS[TOXIPROXY]
    }


def adding(ways: Iterable[str], own: str) -> list[str]:
    """The command that adds all addresses beside `own`, and stays. Again is no error."""
    find = f"ip -o -4 addr show to {own} | {{ read -r _ name _; echo $name; }}"
    add = f'for one in {" ".join(ways)}; do ip addr replace $one/32 dev "$device"; done'
    script = f'set -e; device=$({find}); test -n "$device"; {add}; exec sleep infinity'
    return ["/bin/sh", "-c", script]
