"""`reset_peer`: the first thing that comes is dropped, and after a while the connection is reset.

1. Nothing happens until something comes: bytes or an end. After that nothing stops it.
2. That the sockets reset when they close is set when they connect (see `listener`), as in the
   real server: a connection that is older ends with a FIN.
3. A release brings a reset that has begun forward; the real server makes its caller wait for it.
"""

from dataclasses import dataclass
from random import Random

from faults.proxy.toxics.flow import (
    END,
    MS,
    Arrived,
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
