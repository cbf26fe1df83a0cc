"""PURE: what a fault has for itself while it stands: another one there would be undone with it.

1. Such undos are absolute: a host is started, a listener opened, whoever stopped or closed it. Of
   two faults on one thing the end of the first ends both, and the other is believed to hold.
2. What carries a name of its own window (a chain, a toxic) stands beside others of its kind.
"""

from collections.abc import Iterable, Sequence

from faults import places

Thing = tuple[str, ...]
OF_HOSTS = ("kill", "stop", "freeze", "reboot")
OF_LISTENERS = ("close", "refuse", "reset")
OF_CLIENTS = ("client_crash", "client_freeze")


def things(
    kind: str, host: str, resource: str, links: Sequence[str], clients: Sequence[str]
) -> frozenset[Thing]:
    """What a fault of this kind has for itself. `host`: places as one text; `links`, `clients`:
    those that it means."""
    if kind in OF_HOSTS:
        return frozenset(("host", place) for place in places.split(host))
    if kind in OF_LISTENERS:
        return frozenset(("link", link) for link in links)
    if kind in OF_CLIENTS:
        return frozenset(("client", client) for client in clients)
    return frozenset({("alarm", host, resource)}) if kind == "alarm" else frozenset()


def clash(own: Iterable[Thing], others: Iterable[Thing]) -> bool:
    """Whether two faults have one thing; what a host has, its processes have, too."""
    others = tuple(others)
    return any(_same(one, other) for one in own for other in others)


def _same(one: Thing, other: Thing) -> bool:
    if one[0] == other[0] == "host":
        return places.overlap(one[1], other[1])
    return one == other
