"""PURE: links between hosts that pass a proxy: their names, and what a fault does to them.

1. A link is dialled by one host and leads to one peer; its upstream carries the way to the peer,
   its downstream the way back. Either end may have dialled what the two talk by.
2. A name is of a way and, where a broker listens to its peers at several ports, of a port.
3. All of a deployment's links are of one kind, which the mechanism tells.
"""

from faults.actions import AddToxic, RemoveToxic
from faults.kinds import PROXY, TOXIPROXY
from faults.shapes import Way

STREAMS = ("upstream", "downstream")
EPMD_PORT, DISTRIBUTION_PORT = 4369, 25672
PORTS: dict[str, tuple[int, ...]] = {  # RabbitMQ asks epmd first where its peer listens
    TOXIPROXY: (EPMD_PORT, DISTRIBUTION_PORT),
    PROXY: (),
}


def peer_link(host: str, peer: str, port: int = 0) -> str:
    """The name of the proxy by which a host's broker reaches a peer's."""
    return f"mqproof-peer.{host}.{peer}" + (f".{port}" if port else "")


def links(host: str, peer: str, mechanism: str) -> tuple[str, ...]:
    """The names of all proxies by which a host's broker reaches a peer's."""
    return tuple(peer_link(host, peer, port) for port in PORTS[mechanism] or (0,))


def streams(ways: tuple[Way, ...], mechanism: str) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The streams that carry these ways -> the links on which just these streams do."""
    carrying: dict[str, set[str]] = {}
    for start, end in ways:
        for link in links(start, end, mechanism):
            carrying.setdefault(link, set()).add("upstream")
        for link in links(end, start, mechanism):
            carrying.setdefault(link, set()).add("downstream")
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for link, own in carrying.items():
        key = tuple(stream for stream in STREAMS if stream in own)
        found[key] = (*found.get(key, ()), link)
    return found


def stall(ways: tuple[Way, ...], toxic: str, mechanism: str) -> tuple[AddToxic, ...]:
    """A bandwidth of 0 holds what is sent, and gives it back: nobody sees a connection end."""
    return _add(ways, toxic, mechanism, "bandwidth", (("rate", 0),))


def delay(
    ways: tuple[Way, ...], toxic: str, mechanism: str, latency_ms: int
) -> tuple[AddToxic, ...]:
    return _add(ways, toxic, mechanism, "latency", (("latency", latency_ms),))


def release(ways: tuple[Way, ...], toxic: str, mechanism: str) -> RemoveToxic:
    """From all links at one moment, whichever of their streams it is on."""
    found = [link for links in streams(ways, mechanism).values() for link in links]
    return RemoveToxic(tuple(found), toxic)


def _add(
    ways: tuple[Way, ...],
    toxic: str,
    mechanism: str,
    type: str,
    attributes: tuple[tuple[str, int], ...],
) -> tuple[AddToxic, ...]:
    return tuple(
        AddToxic(links, toxic, type, own, attributes)
        for own, links in streams(ways, mechanism).items()
    )
