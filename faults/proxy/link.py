"""One connection through a proxy: two sockets, and a link for each direction.

1. A link reads its source, passes what it read through its chain, and writes to its destination.
   While the chain is clean, bytes go from the kernel to the kernel through one buffer of the
   process; nothing is made of them.
2. A link that cannot write, or whose chain is full, does not read: the kernel's own buffers then
   hold the sender back.
3. The end of a link closes its destination altogether, both ways, once everything before it is
   written; for the other link that is the end of its source. So an end of either side ends both,
   unless a toxic holds it.
4. A failed write ends the same way, at once. A failed read is an end.
"""

import asyncio
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from random import Random

from faults.proxy.core.chain import Chain
from faults.proxy.core.model import Direction, Toxic
from faults.proxy.core.registry import Added, Change, Updated
from faults.proxy.core.toxics.catalogue import resets_on_close
from faults.proxy.core.toxics.flow import END, Item

# One event loop and one thread: every link borrows this between a read and the write after it.
_BUFFER = bytearray(1 << 16)
_VIEW = memoryview(_BUFFER)


class ProxyConnection:
    """Both sides and both links. `gone` is called once, when both sockets are closed."""

    def __init__(
        self,
        client: socket.socket,
        upstream: socket.socket,
        toxics: Callable[[Direction], list[Toxic]],
        random: Callable[[Direction], Random],
        gone: "Callable[[ProxyConnection], None]",
    ) -> None:
        if any(resets_on_close(toxic.settings) for way in Direction for toxic in toxics(way)):
            for side in (client, upstream):
                side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._gone = gone
        self._sides = (client, upstream)
        now_ns = time.monotonic_ns()
        chains = {way: Chain(toxics(way), random(way), now_ns) for way in Direction}
        up = _Link(client, upstream, chains[Direction.UPSTREAM], self._close)
        down = _Link(upstream, client, chains[Direction.DOWNSTREAM], self._close)
        self._links = {Direction.UPSTREAM: up, Direction.DOWNSTREAM: down}
        for link in (up, down):
            link.open()

    def change(self, change: Change) -> None:
        self._links[change.toxic.direction].change(change)

    def abort(self) -> None:
        """Close both sockets now, whatever is held, without notice to either side."""
        for link in self._links.values():
            link.drop()
        for side in self._sides:
            side.close()

    def _close(self, side: socket.socket) -> None:
        if side.fileno() < 0:
            return
        for link in self._links.values():
            link.leave(side)
        side.close()
        for link in self._links.values():
            link.closed(side)
        if all(each.fileno() < 0 for each in self._sides):
            self._gone(self)


class _Link:
    """One direction. `close` closes a socket for both links."""

    def __init__(
        self,
        source: socket.socket,
        destination: socket.socket,
        chain: Chain,
        close: Callable[[socket.socket], None],
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._source = source
        self._destination = destination
        self._chain = chain
        self._close = close
        self._clean = chain.clean
        self._recv_into = source.recv_into
        self._send = destination.send
        self._unwritten: deque[bytes] = deque()
        self._source_ended = False
        self._finishing = False  # the end has left the chain
        self._over = False
        self._reading = self._writing = False
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ns: int | None = None

    def open(self) -> None:
        self._settle()

    def change(self, change: Change) -> None:
        if self._over:
            return
        now_ns = time.monotonic_ns()
        if isinstance(change, Added):
            items = self._chain.add(change.toxic, now_ns)
        elif isinstance(change, Updated):
            items = self._chain.update(change.toxic, now_ns)
        else:
            items = self._chain.remove(change.toxic, now_ns)
        self._clean = self._chain.clean
        self._pass(items)

    def drop(self) -> None:
        self._over = True
        self._unwritten.clear()
        self._settle()

    def leave(self, side: socket.socket) -> None:
        """The socket is about to be closed: the loop must not watch it any more."""
        if side is self._source:
            self._read_if(False)
        else:
            self._write_if(False)

    def closed(self, side: socket.socket) -> None:
        if side is self._source:
            self._end_of_source()

    def _readable(self) -> None:
        try:
            count = self._recv_into(_BUFFER)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            count = 0
        if count == 0:
            self._end_of_source()
        elif not self._clean:
            self._pass(self._chain.receive(_VIEW[:count].tobytes(), time.monotonic_ns()))
        else:
            self._write_through(count)

    def _write_through(self, count: int) -> None:
        """Nothing waits to be written: a link that could not write does not read."""
        try:
            sent = self._send(_VIEW[:count])
        except (BlockingIOError, InterruptedError):
            sent = 0
        except OSError:
            self._finish()
            return
        if sent < count:
            self._unwritten.append(_VIEW[sent:count].tobytes())
            self._settle()

    def _end_of_source(self) -> None:
        if not self._source_ended and not self._over:
            self._source_ended = True
            self._pass(self._chain.end(time.monotonic_ns()))

    def _ring(self) -> None:
        self._alarm = self._alarm_ns = None
        self._pass(self._chain.tick(time.monotonic_ns()))

    def _pass(self, items: list[Item]) -> None:
        for item in items:
            if item is END:
                self._finishing = True
            else:
                self._unwritten.append(item.octets)
        self._write()

    def _write(self) -> None:
        try:
            while self._unwritten:
                first = self._unwritten.popleft()
                sent = self._send(first)
                if sent < len(first):
                    self._unwritten.appendleft(first[sent:])
        except (BlockingIOError, InterruptedError):
            self._unwritten.appendleft(first)
        except OSError:
            self._finish()
            return
        if self._finishing and not self._unwritten:
            self._finish()
        else:
            self._settle()

    def _finish(self) -> None:
        self.drop()
        self._close(self._destination)

    def _settle(self) -> None:
        """Watches what must be watched, and nothing else."""
        self._write_if(bool(self._unwritten))
        held = self._source_ended or bool(self._unwritten) or self._over
        self._read_if(not held and (self._clean or not self._chain.full))
        due_ns = None if self._over else self._chain.due_ns
        if due_ns != self._alarm_ns:
            self._set_alarm(due_ns)

    def _read_if(self, wanted: bool) -> None:
        if wanted and not self._reading:
            self._loop.add_reader(self._source, self._readable)
        elif self._reading and not wanted:
            self._loop.remove_reader(self._source)
        self._reading = wanted

    def _write_if(self, wanted: bool) -> None:
        if wanted and not self._writing:
            self._loop.add_writer(self._destination, self._write)
        elif self._writing and not wanted:
            self._loop.remove_writer(self._destination)
        self._writing = wanted

    def _set_alarm(self, due_ns: int | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm, self._alarm_ns = None, due_ns
        if due_ns is not None:
            wait_s = max(0, due_ns - time.monotonic_ns()) / 1e9
            self._alarm = self._loop.call_later(wait_s, self._ring)
