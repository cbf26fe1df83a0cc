"""A FakeNode behind a socket: unmodified clients talk to real connections and to fake queues.

`python -m tests.reference_impl.amqp.fake_server PORT` serves on loopback until it is stopped.
"""

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from reference_impl.pid import Pid
from reference_impl.process import Timeout
from tests.reference_impl.amqp.fake_node import FakeNode

START_LIMIT_S = 5


class FakeServer:
    """What a shell does for a node: octets, ends of connections, timers in the loop's time."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.node = FakeNode()
        self._loop = loop
        self._timers: dict[tuple[Pid, str], asyncio.TimerHandle] = {}
        self._transports: dict[Pid, asyncio.Transport] = {}

    def connected(self, transport: asyncio.Transport) -> Pid:
        pid = self.node.accept()
        self._transports[pid] = transport
        self.carry_out()
        return pid

    def received(self, pid: Pid, octets: bytes) -> None:
        self.node.octets(pid, octets)
        self.carry_out()

    def lost(self, pid: Pid) -> None:
        self.node.hang_up(pid)
        self.carry_out()

    def carry_out(self) -> None:
        for pid, transport in list(self._transports.items()):
            if pid in self.node.sent:
                transport.write(bytes(self.node.sent.pop(pid)))
            if pid not in self.node.processes:
                del self._transports[pid]
                transport.close()
        for key in self._timers.keys() - self.node.armed.keys():
            self._timers.pop(key).cancel()
        for key in self.node.armed.keys() - self._timers.keys():
            after_s = self.node.armed[key] / 1000
            self._timers[key] = self._loop.call_later(after_s, self._fired, *key)

    def _fired(self, pid: Pid, name: str) -> None:
        del self._timers[pid, name], self.node.armed[pid, name]
        self.node.tell(pid, Timeout(name))
        self.carry_out()


class _Socket(asyncio.Protocol):
    def __init__(self, server: FakeServer) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._pid = self._server.connected(transport)

    def data_received(self, data: bytes) -> None:
        self._server.received(self._pid, data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.lost(self._pid)


async def serve(port: int) -> asyncio.Server:
    loop = asyncio.get_running_loop()
    fake = FakeServer(loop)
    return await loop.create_server(lambda: _Socket(fake), "127.0.0.1", port)


@contextmanager
def fake_server() -> Iterator[int]:
    """The port of a broker that runs in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(serve(0), loop).result(START_LIMIT_S)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _for_ever(port: int) -> None:
    await (await serve(port)).serve_forever()


if __name__ == "__main__":
    asyncio.run(_for_ever(int(sys.argv[1])))
