"""PURE: what a fault has for itself while it stands: another one there would be undone with it.

1. Such undos are absolute: a host is started, a listener opened, whoever stopped or closed it. Of
   two faults on one thing the end of the first ends both, and the other is believed to hold.
2. What carries a name of its own window (a chain, a toxic) stands beside others of its kind.
"""

from collections.abc import Sequence

Thing = tuple[str, ...]
OF_HOSTS = ("kill", "stop", "freeze", "reboot")
OF_LISTENERS = ("close", "refuse", "reset")
OF_CLIENTS = ("client_crash", "client_freeze")


def things(
    kind: str, host: str, resource: str, links: Sequence[str], clients: Sequence[str]
) -> frozenset[Thing]:
    """What a fault of this kind has for itself. `links`, `clients`: those that it means."""
    if kind in OF_HOSTS:
        return frozenset({("host", host)})
    if kind in OF_LISTENERS:
        return frozenset(("link", link) for link in links)
    if kind in OF_CLIENTS:
        return frozenset(("client", client) for client in clients)
    return frozenset({("alarm", host, resource)}) if kind == "alarm" else frozenset()
