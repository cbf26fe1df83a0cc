"""Name servers and brokers of RocketMQ between sockets: octets in, octets out, and the time.

1. The output of one event goes out before the next event, a write a connection.
2. A peer that does not read is not read from, either: what waits for it here stays small.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from reference_impl.rocketmq.effects import (
    TICK_MS,
    AppendTruth,
    Close,
    Dial,
    Effect,
    Note,
    Server,
    Transmit,
)
from reference_impl.shell.self_connections import aborted_self_connection

DIAL_LIMIT_S = 3.0
LEAVE_LIMIT_S = 5.0


class SystemClock:
    """effects.Clock."""

    def now_ms(self) -> int:
        return int(time.monotonic() * 1000)

    def wall_ms(self) -> int:
        return int(time.time() * 1000)  # noqa: TID251  (records tell the time of day)


class ServerSockets:
    """The connections of one server. `failed`: hears of what no server can go on after; `names`:
    the addresses of hosts that no resolver knows; `truth`: the file for what it admits."""

    def __init__(
        self,
        server: Server,
        failed: Callable[[Exception], None],
        names: Mapping[str, str],
        truth: Path | None = None,
    ) -> None:
        self.server = server
        self._truth = truth
        self._failed = failed
        self._names = names
        self._loop = asyncio.get_running_loop()
        self._sockets: dict[int, _ServerSocket] = {}
        self._last = 0
        self._dials: set[asyncio.Task[None]] = set()
        self._listening: list[asyncio.Server] = []
        self._timer: asyncio.TimerHandle | None = None

    async def listen(self, address: str, port: int, door: str) -> None:
        """Raises OSError."""
        made = await self._loop.create_server(
            lambda: _ServerSocket(self, door, None), address, port, reuse_address=True
        )
        self._listening.append(made)

    def begin(self) -> None:
        self._timer = self._loop.call_later(TICK_MS / 1000, self._tick)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for task in self._dials:
            task.cancel()
        for server in self._listening:
            server.close()
        for socket in [*self._sockets.values()]:
            socket.leave()

    def opened(self, socket: "_ServerSocket", peer: str) -> int:
        self._last += 1
        self._sockets[self._last] = socket
        self.hear(lambda: self.server.opened(self._last, peer, socket.door, socket.dialled))
        return self._last

    def not_reached(self, address: str, door: str) -> None:
        self.hear(lambda: self.server.refused(address, door))

    def lost(self, connection: int) -> None:
        if self._sockets.pop(connection, None) is not None:
            self.hear(lambda: self.server.closed(connection))

    def hear(self, event: Callable[[], list[Effect]]) -> None:
        """Carry out the effects of an event. The server's own errors end it: nothing half done
        goes on."""
        try:
            effects = event()
        except Exception as error:
            self._failed(error)
            return
        self.carry_out(effects)

    def carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Transmit(connection, octets):
                    if connection in self._sockets:
                        self._sockets[connection].write(octets)
                case Close(connection):
                    if connection in self._sockets:
                        self._sockets[connection].leave()
                case AppendTruth(lines):
                    self._admit(lines)
                case Note(text):
                    stamp = datetime.now().isoformat(" ", "milliseconds")
                    print(f"{stamp} INFO mqproof - {text}", flush=True)
                case Dial(address, door):
                    task = self._loop.create_task(self._dial(address, door))
                    self._dials.add(task)
                    task.add_done_callback(self._dials.discard)

    def _admit(self, lines: bytes) -> None:
        assert self._truth is not None, "an honest server admits nothing"
        with self._truth.open("ab", buffering=0) as truth:
            truth.write(lines)

    def _tick(self) -> None:
        self.begin()
        self.hear(self.server.tick)

    async def _dial(self, address: str, door: str) -> None:
        host, _, port = address.rpartition(":")
        try:
            async with asyncio.timeout(DIAL_LIMIT_S):
                await self._loop.create_connection(
                    lambda: _ServerSocket(self, door, address),
                    self._names.get(host, host),
                    int(port),
                )
        except (OSError, ValueError, TimeoutError):
            self.not_reached(address, door)


class _ServerSocket(asyncio.Protocol):
    def __init__(self, sockets: ServerSockets, door: str, dialled: str | None) -> None:
        self.door = door
        self.dialled = dialled
        self._sockets = sockets
        self._number = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP gives one"
        self._transport = transport
        if self.dialled is not None and aborted_self_connection(transport):
            self._sockets.not_reached(self.dialled, self.door)
            return
        host, port = transport.get_extra_info("peername")[:2]
        self._number = self._sockets.opened(self, f"{host}:{port}")

    def data_received(self, data: bytes) -> None:
        self._sockets.hear(lambda: self._sockets.server.received(self._number, data))

    def connection_lost(self, exc: Exception | None) -> None:
        self._sockets.lost(self._number)

    def pause_writing(self) -> None:
        assert self._transport is not None, "it was made first"
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        assert self._transport is not None, "it was made first"
        if not self._transport.is_closing():
            self._transport.resume_reading()

    def write(self, octets: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(octets)

    def leave(self) -> None:
        """Leave. What was written goes out first, to peers that read it in time."""
        if self._transport is not None and not self._transport.is_closing():
            self._transport.close()
            asyncio.get_running_loop().call_later(LEAVE_LIMIT_S, self._transport.abort)
