"""Connections of clients: octets in, octets out, one process of the node behind each.

1. A socket drains as long as no more than the transport's high-water mark (64 KiB) waits in this
   process for the kernel to take it. The process that requested it gets Written when it does.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from reference_impl.pid import Pid

LEAVE_LIMIT_S = 5.0


class Broker(Protocol):
    """The node, as its clients' connections use it."""

    def accept(self, name: str) -> Pid: ...

    def octets(self, client: Pid, octets: bytes) -> None: ...

    def written(self, pid: Pid) -> None: ...

    def hung_up(self, client: Pid) -> None: ...


class ClientSockets:
    """Every AMQP connection of one boot. `turn` is called when the node has something to do."""

    def __init__(self, node: Broker, turn: Callable[[], None]) -> None:
        self.node = node
        self.turn = turn
        self._sockets: dict[Pid, _Socket] = {}
        self._due: set[_Socket] = set()

    def socket(self) -> asyncio.Protocol:
        """The protocol of one connection."""
        return _Socket(self)

    def transmit(self, client: Pid, octets: bytes) -> None:
        socket = self._sockets.get(client)
        if socket is not None:
            socket.out.append(octets)
            self._due.add(socket)

    def when_written(self, client: Pid, pid: Pid) -> None:
        socket = self._sockets.get(client)
        if socket is not None:
            socket.waiting[pid] = None
            self._due.add(socket)

    def stop_reading(self, client: Pid) -> None:
        socket = self._sockets.get(client)
        if socket is not None:
            socket.read(False)

    def read_on(self, client: Pid) -> None:
        socket = self._sockets.get(client)
        if socket is not None:
            socket.read(True)

    def hang_up(self, client: Pid) -> None:
        socket = self._sockets.pop(client, None)
        if socket is not None:
            socket.leaving = True
            self._due.add(socket)

    def flush(self) -> None:
        """Send what was transmitted in this turn, a write a connection."""
        due, self._due = self._due, set()
        for socket in due:
            socket.flush()

    def close(self) -> None:
        for client in list(self._sockets):
            self.hang_up(client)
        self.flush()

    def made(self, socket: "_Socket", name: str) -> Pid:
        pid = self.node.accept(name)
        self._sockets[pid] = socket
        return pid

    def written(self, pids: Iterable[Pid]) -> None:
        for pid in pids:
            self.node.written(pid)
        self.turn()

    def lost(self, pid: Pid) -> None:
        if self._sockets.pop(pid, None) is not None:
            self.node.hung_up(pid)
            self.turn()


class _Socket(asyncio.Protocol):
    def __init__(self, sockets: ClientSockets) -> None:
        self.out: list[bytes] = []
        self.waiting: dict[Pid, None] = {}  # processes that get Written when it drains
        self.leaving = False
        self._full = False
        self._sockets = sockets
        self._pid: Pid | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP gives one"
        self._transport = transport
        client, server = transport.get_extra_info("peername"), transport.get_extra_info("sockname")
        name = f"{client[0]}:{client[1]} -> {server[0]}:{server[1]}"
        self._pid = self._sockets.made(self, name)

    def data_received(self, data: bytes) -> None:
        assert self._pid is not None, "it was made first"
        self._sockets.node.octets(self._pid, data)
        self._sockets.turn()

    def connection_lost(self, exc: Exception | None) -> None:
        assert self._pid is not None, "it was made first"
        self._sockets.lost(self._pid)

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._report_written()

    def read(self, on: bool) -> None:
        assert self._transport is not None, "it was made first"
        if self._transport.is_closing():
            return
        if on:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def flush(self) -> None:
        assert self._transport is not None, "it was made first"
        if self.out:
            out, self.out = self.out, []
            self._transport.write(out[0] if len(out) == 1 else b"".join(out))
        if not self._full:
            self._report_written()
        if self.leaving:
            self._transport.close()
            # A client that reads nothing would keep it open for as long as it likes.
            asyncio.get_running_loop().call_later(LEAVE_LIMIT_S, self._transport.abort)

    def _report_written(self) -> None:
        if self.waiting:
            waiting, self.waiting = self.waiting, {}
            self._sockets.written(waiting)
