"""A proxy on its ground: the listening socket, the connections, the way to the upstream.

1. Names of hosts are looked up. Only loopback is listened at: an address without a host, which is
   all of them, is refused, too.
2. A client is accepted before the upstream is dialled; if that fails the client's connection is
   closed. Clients do not wait for each other's dialling, as those of the real server do.
3. Closing ends everything at once, dialling too.
"""

import asyncio
import errno
import os
import socket
from collections import Counter
from dataclasses import dataclass, field
from random import Random

from faults.proxy.core.addresses import AddressError, is_loopback, is_number, join, split
from faults.proxy.core.model import Direction, Proxy
from faults.proxy.core.registry import Change, ListenError
from faults.proxy.link import ProxyConnection
from faults.self_connections import refuse_self_connection

BACKLOG = 4096
ACCEPTS_AT_ONCE = 64
NO_ROOM = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
NO_ROOM_PAUSE_S = 0.1


@dataclass(frozen=True, slots=True)
class Draws:
    """A stream of choices for each connection and direction, fixed by the seed and by which
    connection of its proxy it is."""

    seed: int
    _counts: Counter[str] = field(default_factory=Counter)

    def next_connection(self, proxy: str) -> int:
        self._counts[proxy] += 1
        return self._counts[proxy]

    def stream(self, proxy: str, connection: int, direction: Direction) -> Random:
        return Random(f"{self.seed}/{proxy}/{connection}/{direction.value}")


class Listeners:
    """The ground of the registry: every proxy that is enabled."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._open: dict[Proxy, _Listener] = {}

    def resolve(self, listen: str) -> str:
        return join(*_resolve(listen))

    def open(self, proxy: Proxy) -> str:
        listener = _Listener(proxy, _bind(proxy.listen), self._draws)
        self._open[proxy] = listener
        return listener.address

    def close(self, proxy: Proxy) -> None:
        self._open.pop(proxy).close()

    def change(self, proxy: Proxy, change: Change) -> None:
        if proxy in self._open:
            self._open[proxy].change(change)

    def close_all(self) -> None:
        for proxy in list(self._open):
            self.close(proxy)


class _Listener:
    def __init__(self, proxy: Proxy, listening: socket.socket, draws: Draws) -> None:
        self._loop = asyncio.get_running_loop()
        self._proxy = proxy
        self._listening = listening
        self._draws = draws
        self._connections: dict[ProxyConnection, None] = {}  # in the order in which they came
        self._dialling: set[asyncio.Task[None]] = set()
        self._resume: asyncio.TimerHandle | None = None
        host, port, *_ = listening.getsockname()
        self.address = join(host, port)
        self._loop.add_reader(listening, self._accept)

    def change(self, change: Change) -> None:
        for connection in list(self._connections):
            connection.change(change)

    def close(self) -> None:
        if self._resume is not None:
            self._resume.cancel()
        self._loop.remove_reader(self._listening)
        self._listening.close()
        for task in self._dialling:
            task.cancel()
        for connection in self._connections:
            connection.abort()
        self._connections.clear()

    def _accept(self) -> None:
        for _ in range(ACCEPTS_AT_ONCE):
            try:
                client, _ = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in NO_ROOM:
                    raise
                self._pause()
                return
            task = self._loop.create_task(self._connect(client))
            self._dialling.add(task)
            task.add_done_callback(self._dialling.discard)

    def _pause(self) -> None:
        """Clients wait in the kernel until there is room again."""
        self._loop.remove_reader(self._listening)
        self._resume = self._loop.call_later(
            NO_ROOM_PAUSE_S, lambda: self._loop.add_reader(self._listening, self._accept)
        )

    async def _connect(self, client: socket.socket) -> None:
        try:
            upstream = await _dial(self._proxy.upstream)
        except (OSError, AddressError, UnicodeError):  # the last: a name that no DNS could hold
            client.close()
            return
        except asyncio.CancelledError:
            client.close()
            raise
        for side in (client, upstream):
            side.setblocking(False)
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = self._proxy.name
        number = self._draws.next_connection(name)
        connection = ProxyConnection(
            client,
            upstream,
            self._proxy.of,
            lambda direction: self._draws.stream(name, number, direction),
            self._forget,
        )
        self._connections[connection] = None

    def _forget(self, connection: ProxyConnection) -> None:
        self._connections.pop(connection, None)


def _bind(listen: str) -> socket.socket:
    try:
        host, port = _resolve(listen)
    except AddressError as error:
        raise ListenError(f"listen tcp: {error}") from None
    where = join(host, port)
    if not is_loopback(host):
        raise ListenError(f"listen tcp {where}: not on loopback")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        text = os.strerror(error.errno or 0)
        raise ListenError(f"listen tcp {where}: bind: {text[:1].lower()}{text[1:]}") from None
    return listening


def _resolve(listen: str) -> tuple[str, int]:
    """Host and port as numbers; the empty host stays."""
    host, port = split(listen)
    if not host or is_number(host):
        return host, port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise AddressError(f"lookup {host}: no such host") from None
    addresses = [str(one[4][0]) for one in found]
    return next((one for one in addresses if "." in one), addresses[0]), port


async def _dial(upstream: str) -> socket.socket:
    """Each address of the name in turn; the error of the last is raised."""
    loop = asyncio.get_running_loop()
    host, port = split(upstream)
    host = host or "localhost"
    addresses = [host]
    if not is_number(host):
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in found]
    failed: OSError = OSError(f"{upstream}: no address")
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        dialled = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        try:
            await loop.sock_connect(dialled, (address, port))
            refuse_self_connection(dialled)
        except OSError as error:
            failed = error
            dialled.close()
        except asyncio.CancelledError:
            dialled.close()
            raise
        else:
            return dialled
    raise failed
