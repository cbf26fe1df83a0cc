"""PURE: links between hosts that pass a proxy: their names, and what a fault does to them.

1. A link is dialled by one host and leads to one peer; its upstream carries the way to the peer,
   its downstream the way back. Either end may have dialled the connection that the two talk by.
2. A name is of a way and, if a host listens to its peers at several ports, of a port.
3. All of a deployment's links are of one kind, which the mechanism says. The system declares the
   ports (Serving): nothing of it is known here, and a host without a declaration listens nowhere.
4. A process of a host that carries several has the links that lead to it, and, if it dials any
   peer, those that its host dials.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from faults.core.actions import STREAMS, Action, AddToxic, Disable, Enable, RemoveToxic
from faults.core.mechanisms import PROXY
from faults.core.places import host_of, process_of
from faults.core.shapes import Way


@dataclass(frozen=True, slots=True)
class Served:
    """The ports where a process listens to its peers, and those of them at which it is spoken
    to."""

    ports: tuple[int, ...]
    word: int
    process: str = ""  # one of several on its host; "": the host's only one
    dials: bool = True  # its peers, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """The ports where a system's hosts listen to their peers: a system declares all of it, nothing
    by default.

    `renewed`: what a cut held is thrown away with its links, for if it came back late, all at
    once, it would undo what the hosts that were cut off did meanwhile.
    """

    by_host: Mapping[str, tuple[Served, ...]]
    renewed: bool


_OURS = (Served((0,), 0),)  # of the reference's nodes: one way, whatever its port is


@dataclass(frozen=True, slots=True)
class Mesh:
    """The links of a deployment: all of them, or those of the process that `place` names
    (places.py). `serving`: None where the links are our own proxy's, which has no ports."""

    mechanism: str
    serving: Serving | None
    place: str = ""

    def served(self, host: str) -> tuple[Served, ...]:
        if self.mechanism == PROXY:
            return _OURS
        assert self.serving is not None, f"no declaration of where {host} listens to its peers"
        return self.serving.by_host[host]

    def links(self, host: str, peer: str) -> tuple[str, ...]:
        """The names of all proxies by which a host's processes reach a peer's."""
        meant = (one for one in self.served(peer) if self._meant(host, peer, one))
        return tuple(peer_link(host, peer, port) for one in meant for port in one.ports)

    def ends(self, host: str, peer: str, meant: bool = True) -> tuple[str, ...]:
        """Return where a host sends words to a peer: to each of its processes by itself, if there
        may be several. `meant`: by these links, or by those that are not of them."""
        return tuple(
            f"{peer}:{one.word}" if one.process else peer
            for one in self.served(peer)
            if self._meant(host, peer, one) is meant
        )

    def _meant(self, host: str, peer: str, one: Served) -> bool:
        at, process = host_of(self.place), process_of(self.place)
        if not process:
            return True
        if peer == at:
            return one.process == process
        own = (each for each in self.served(at) if each.process == process)
        return host == at and any(each.dials for each in own)


def peer_link(host: str, peer: str, port: int = 0) -> str:
    """The name of the proxy by which a host's broker reaches a peer's."""
    return f"mqproof-peer.{host}.{peer}" + (f".{port}" if port else "")


def streams(ways: tuple[Way, ...], mesh: Mesh) -> dict[tuple[str, ...], tuple[str, ...]]:
    """The streams that carry these ways -> the links on which just these streams do."""
    carrying: dict[str, set[str]] = {}
    for start, end in ways:
        for link in mesh.links(start, end):
            carrying.setdefault(link, set()).add("upstream")
        for link in mesh.links(end, start):
            carrying.setdefault(link, set()).add("downstream")
    found: dict[tuple[str, ...], tuple[str, ...]] = {}
    for link, own in carrying.items():
        key = tuple(stream for stream in STREAMS if stream in own)
        found[key] = (*found.get(key, ()), link)
    return found


def stall(ways: tuple[Way, ...], toxic: str, mesh: Mesh) -> tuple[AddToxic, ...]:
    """Stall these ways: a bandwidth of 0 holds what is sent, and gives it back; no connection
    ends."""
    return _add(ways, toxic, mesh, "bandwidth", (("rate", 0),))


def delay(ways: tuple[Way, ...], toxic: str, mesh: Mesh, latency_ms: int) -> tuple[AddToxic, ...]:
    return _add(ways, toxic, mesh, "latency", (("latency", latency_ms),))


def release(ways: tuple[Way, ...], toxic: str, mesh: Mesh) -> RemoveToxic:
    """From all links at one moment, whichever of their streams it is on."""
    found = [link for links in streams(ways, mesh).values() for link in links]
    return RemoveToxic(tuple(found), toxic)


def renew(ways: tuple[Way, ...], toxic: str, mesh: Mesh) -> tuple[Action, ...]:
    """End a stall, and every link with it: what was held is thrown away, and hosts that still want
    to talk dial again.

    A RocketMQ broker gives up on a registration after 6 s, and dials again for the next one. If
    all that was held came at once, a name server would register brokers by connections that end in
    the same moment, and drop them with those (4.9.7, after a cut of 30 s: five such registrations
    by release, none so). A toxic that drops what it gets lets the ends of connections pass: then a
    broker is dropped after 7 s, not when it was silent for as long as it may be.
    """
    released = release(ways, toxic, mesh)
    return Disable(released.proxies), released, Enable(released.proxies)


def _add(
    ways: tuple[Way, ...],
    toxic: str,
    mesh: Mesh,
    type: str,
    attributes: tuple[tuple[str, int], ...],
) -> tuple[AddToxic, ...]:
    return tuple(
        AddToxic(links, toxic, type, own, attributes) for own, links in streams(ways, mesh).items()
    )
