"""The toxics that drop bytes or end the connection.

reset_peer:
1. The first thing that comes is dropped, and after a while the connection is reset. Nothing
   happens until something comes: bytes or an end. After that nothing stops it.
2. That the sockets reset when they close is set when they connect (see `listener`), as in the
   real server: a connection that is older ends with a FIN.
3. A release brings a reset that has begun forward; the real server makes its caller wait for it.

timeout:
1. Whatever comes is dropped, and the connection ends after a while without any. Timeout 0 never
   ends it. Each chunk restarts the time, as does an interruption.
2. The source's end passes at once.
3. Removing the toxic ends the connection (`catalogue.ends_on_removal`): what was dropped can never
   come again.

slow_close: bytes pass; the end leaves so much later than it came. An interruption restarts the
delay; a release lets the end go at once.

limit_data:
1. So many bytes pass, then the connection ends. Bytes count from when the toxic, or the
   connection, was added; settings change the limit, never the count.
2. The byte that reaches the limit is delivered, and the end follows it at once; above the limit
   the next piece brings the end.
"""

from dataclasses import dataclass
from random import Random

from faults.proxy.core.toxics.flow import (
    END,
    MS,
    Arrived,
    Chunk,
    Event,
    Interrupted,
    Item,
    Released,
    Retuned,
    Ticked,
)


@dataclass(frozen=True, slots=True)
class ResetPeer:
    """In milliseconds."""

    timeout: int = 0


class ResetPeerPipe:
    def __init__(self, settings: ResetPeer, _random: Random, _started_ns: int) -> None:
        self._timeout_ms = settings.timeout
        self.due_ns: int | None = None  # set: the reset has begun

    @property
    def full(self) -> bool:
        return self.due_ns is not None

    def handle(self, event: Event[ResetPeer]) -> list[Item]:
        match event:
            case Arrived():
                if self.due_ns is None:
                    self.due_ns = event.at_ns + max(0, self._timeout_ms) * MS
                return self._reset(event.at_ns)
            case Ticked():
                return self._reset(event.at_ns)
            case Retuned(settings=settings):
                self._timeout_ms = settings.timeout
            case Released():
                return [] if self.due_ns is None else self._reset(self.due_ns)
            case Interrupted():
                pass
        return []

    def _reset(self, now_ns: int) -> list[Item]:
        return [END] if self.due_ns is not None and now_ns >= self.due_ns else []


@dataclass(frozen=True, slots=True)
class Timeout:
    """In milliseconds."""

    timeout: int = 0


class TimeoutPipe:
    full = False

    def __init__(self, settings: Timeout, _random: Random, started_ns: int) -> None:
        self._timeout_ms = settings.timeout
        self.due_ns: int | None = None
        self._start(started_ns)

    def handle(self, event: Event[Timeout]) -> list[Item]:
        match event:
            case Arrived(item=item):
                if item is END:
                    return [END]
                self._start(event.at_ns)
            case Ticked():
                if self.due_ns is not None and event.at_ns >= self.due_ns:
                    return [END]
            case Interrupted():
                self._start(event.at_ns)
            case Retuned(settings=settings):
                self._timeout_ms = settings.timeout
                self._start(event.at_ns)
            case Released():
                self.due_ns = None
        return []

    def _start(self, now_ns: int) -> None:
        self.due_ns = now_ns + self._timeout_ms * MS if self._timeout_ms > 0 else None


@dataclass(frozen=True, slots=True)
class SlowClose:
    """In milliseconds."""

    delay: int = 0


class SlowClosePipe:
    full = False

    def __init__(self, settings: SlowClose, _random: Random, _started_ns: int) -> None:
        self._delay_ms = settings.delay
        self.due_ns: int | None = None  # set: the end is held

    def handle(self, event: Event[SlowClose]) -> list[Item]:
        match event:
            case Arrived(item=item):
                if item is not END:
                    return [item]
                self._delay_from(event.at_ns)
            case Ticked():
                pass
            case Interrupted():
                self._restart(event.at_ns)
            case Retuned(settings=settings):
                self._delay_ms = settings.delay
                self._restart(event.at_ns)
            case Released():
                return [] if self.due_ns is None else [END]
        return [END] if self.due_ns is not None and event.at_ns >= self.due_ns else []

    def _restart(self, now_ns: int) -> None:
        if self.due_ns is not None:
            self._delay_from(now_ns)

    def _delay_from(self, now_ns: int) -> None:
        self.due_ns = now_ns + max(0, self._delay_ms) * MS


@dataclass(frozen=True, slots=True)
class LimitData:
    bytes: int = 0


class LimitDataPipe:
    full = False
    due_ns = None

    def __init__(self, settings: LimitData, _random: Random, _started_ns: int) -> None:
        self._limit = settings.bytes
        self._passed = 0

    def handle(self, event: Event[LimitData]) -> list[Item]:
        match event:
            case Arrived(item=item):
                return [END] if item is END else self._pass(item)
            case Retuned(settings=settings):
                self._limit = settings.bytes
            case _:
                pass
        return []

    def _pass(self, chunk: Chunk) -> list[Item]:
        octets = chunk.octets[: max(0, self._limit - self._passed)]
        self._passed += len(octets)
        passing: list[Item] = [Chunk(octets, chunk.stamp_ns)] if octets else []
        return [*passing, END] if self._passed >= self._limit else passing
