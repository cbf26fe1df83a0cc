"""The conversation of a worker with the harness: JSON lines on standard input and output.

1. A worker that was frozen hears what waited for it before it judges the harness's silence: its
   timers may run before what came in is read (the loop's wait is interrupted), so it looks twice.
2. The harness is lost when the input ends, when the output breaks, or when nothing was heard for
   SILENCE_LIMIT_S; that is reported once.
3. Nothing here waits: output that the harness does not read is kept until it does, or is lost.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from harness.workers import protocol

FLUSH_LIMIT_S = 1.0
READ_LIMIT_S = 0.05  # what came in while the process stood still is read by then


class Control(asyncio.Protocol):
    """Both ends of the conversation. `hear` gets each message, `orphaned` the reason, once."""

    def __init__(
        self,
        hear: Callable[[dict[str, Any]], None],
        misheard: Callable[[str], None],
        orphaned: Callable[[str], None],
    ) -> None:
        self._hear = hear
        self._misheard = misheard
        self._orphaned = orphaned
        self._lost = False
        self._part = b""
        self._last_line_s = time.monotonic()
        self._output = _Output(lambda: self._lose("the output is closed"))

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.connect_write_pipe(lambda: self._output, sys.stdout)
        await loop.connect_read_pipe(lambda: self, sys.stdin)
        self._watch()

    def say(self, message: dict[str, Any]) -> None:
        self._output.write(protocol.encode(message))

    async def finish(self) -> None:
        """Until everything said has left, at most FLUSH_LIMIT_S."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FLUSH_LIMIT_S):
                await self._output.empty.wait()

    def data_received(self, data: bytes) -> None:
        self._last_line_s = time.monotonic()
        *lines, self._part = (self._part + data).split(b"\n")
        for line in lines:
            try:
                message = protocol.decode(line)
            except ValueError as error:
                self._misheard(f"not a message: {error}")
            else:
                self._hear(message)

    def eof_received(self) -> None:
        self._lose("the input has ended")

    def connection_lost(self, error: Exception | None) -> None:
        self._lose("the input has ended" if error is None else f"the input broke: {error}")

    def _watch(self) -> None:
        left_s = self._left_s()
        loop = asyncio.get_running_loop()
        if left_s <= 0:
            loop.call_later(READ_LIMIT_S, self._watch_again)
        elif not self._lost:
            loop.call_later(left_s, self._watch)

    def _watch_again(self) -> None:
        if self._left_s() <= 0:
            self._lose(f"nothing heard for {protocol.SILENCE_LIMIT_S:g} s")
        else:
            self._watch()

    def _left_s(self) -> float:
        return self._last_line_s + protocol.SILENCE_LIMIT_S - time.monotonic()

    def _lose(self, reason: str) -> None:
        if not self._lost:
            self._lost = True
            self._orphaned(reason)


class _Output(asyncio.BaseProtocol):
    """Standard output, and whether all of it has left."""

    def __init__(self, broke: Callable[[], None]) -> None:
        self._broke = broke
        self._transport: asyncio.WriteTransport | None = None
        self.empty = asyncio.Event()
        self.empty.set()

    def write(self, line: bytes) -> None:
        if self._transport is not None:
            self._transport.write(line)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        transport.set_write_buffer_limits(high=0)
        self._transport = transport

    def pause_writing(self) -> None:
        self.empty.clear()

    def resume_writing(self) -> None:
        self.empty.set()

    def connection_lost(self, _error: Exception | None) -> None:
        self._transport = None
        self.empty.set()
        self._broke()


def say_at_once(message: dict[str, Any]) -> None:
    """Write without the event loop, for last messages; they are lost if they are not read."""
    with contextlib.suppress(OSError):
        os.write(sys.stdout.fileno(), protocol.encode(message))
