"""Requests of a server's own, which wait for an answer for so long and no longer.

1. A connection that ends fails what waits on it, at once.
2. An answer to a request that is over is dropped.
"""

from collections.abc import Callable

import msgspec

from reference_impl.rocketmq.remoting.command import Command

Heard = Callable[[Command | None], None]  # None: no answer came


class _PendingCall(msgspec.Struct, frozen=True):
    connection: int
    until_ms: int
    heard: Heard


class Calls:
    def __init__(self) -> None:
        self._waiting: dict[int, _PendingCall] = {}
        self._last = 0

    def number(self) -> int:
        """For the next request, on whatever connection."""
        self._last = (self._last + 1) & 0x7FFFFFFF
        return self._last

    def begun(self, number: int, connection: int, until_ms: int, heard: Heard) -> None:
        self._waiting[number] = _PendingCall(connection, until_ms, heard)

    def answered(self, connection: int, command: Command) -> None:
        waiting = self._waiting.get(command.header.opaque)
        if waiting is not None and waiting.connection == connection:
            del self._waiting[command.header.opaque]
            waiting.heard(command)

    def closed(self, connection: int) -> None:
        self._fail([n for n, one in self._waiting.items() if one.connection == connection])

    def overdue(self, now_ms: int) -> None:
        if self._waiting:
            self._fail([n for n, one in self._waiting.items() if one.until_ms <= now_ms])

    def _fail(self, numbers: list[int]) -> None:
        for waiting in [self._waiting.pop(number) for number in numbers]:
            waiting.heard(None)
