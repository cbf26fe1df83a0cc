"""The name server of a client that does not report it, by the kernel's list of its connections.

1. The C++ client keeps a connection to the name server that it uses, and to no other. If there are
   established ones to none or several, the name server is unknown.
2. It uses the first of its list until that fails (docs/behaviour/rocketmq.md 1): so a required one
   comes first.
"""

import os
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from harness.workers.clients.rocketmq.options import RocketOptions, attach_to
from harness.workers.protocol import Endpoint, WorkerConfig

PERIOD_S = 0.25
_ESTABLISHED = "01"  # of the column `st` of proc(5)'s net/tcp
_SOCKET = "socket:["
_Peer = tuple[str, int]


def first(config: WorkerConfig) -> tuple[Endpoint, ...]:
    """The worker's name servers, the one that it is to ask before all others."""
    wanted = attach_to(RocketOptions.from_json(config.own), config.role, config.index)
    return tuple(sorted(config.endpoints, key=lambda one: one.host != wanted))


class Attached:
    """`noticed` is called with `attached` and its host whenever it asks another name server."""

    def __init__(self, name_servers: Iterable[Endpoint], noticed: Callable[[str, str], None]):
        self._hosts = {peer: one.host for one in name_servers for peer in _peers(one)}
        self._noticed = noticed
        self._known = ""

    def look(self) -> None:
        hosts = {self._hosts[peer] for peer in connected() if peer in self._hosts}
        now = hosts.pop() if len(hosts) == 1 else ""
        if now != self._known:
            self._known = now
            self._noticed("attached", now)


def connected() -> Iterator[_Peer]:
    """The other ends of this process's established TCP connections, by IPv4."""
    own = set(_own_sockets())
    yield from (peer for peer, inode in _established(_table()) if inode in own)


def _peers(one: Endpoint) -> Iterator[_Peer]:
    with suppress(OSError):
        found = socket.getaddrinfo(one.address, one.port, socket.AF_INET, socket.SOCK_STREAM)
        yield from ((str(place[0]), int(place[1])) for *_, place in found)


def _own_sockets() -> Iterator[str]:
    """Their inodes."""
    for entry in os.scandir("/proc/self/fd"):
        with suppress(OSError):  # closed meanwhile
            target = os.readlink(entry.path)  # noqa: PTH115
            if target.startswith(_SOCKET):
                yield target.removeprefix(_SOCKET).rstrip("]")


def _table() -> Sequence[str]:
    return Path("/proc/self/net/tcp").read_text(encoding="ascii").splitlines()[1:]


def _established(table: Iterable[str]) -> Iterator[tuple[_Peer, str]]:
    for line in table:
        words = line.split()
        if words[3] == _ESTABLISHED:
            yield _peer(words[2]), words[9]


def _peer(text: str) -> _Peer:
    """`0100007F:1F90`: the address as the machine holds it, so its octets come the other way."""
    address, port = text.split(":")
    return socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)
