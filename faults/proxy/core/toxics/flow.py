"""Items that flow through a pipe, and its events: the vocabulary of every toxic.

1. A pipe is one toxic on one direction of one connection. `handle(event)` returns what leaves it,
   in order. It reads no clock: each event carries its instant; what is random comes from a stream
   that it was given.
2. What leaves is a prefix of what came in, unless the toxic's own rule drops it.
3. After END nothing comes in and nothing leaves.
4. `due_ns` is when the pipe next wants a `Ticked`; None: it waits for another event.
5. A pipe that is `full` wants nothing more until it is not; what comes all the same is kept.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Generic, Literal, Protocol, TypeVar

MS = 1_000_000
US = 1_000
# The real server keeps one piece in the toxic and two on the way to it; the kernel holds the rest.
WAITING_MAX = 2


class _Mark(Enum):
    END = "end"


END: Final = _Mark.END
End = Literal[_Mark.END]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes as one read gave them; `stamp_ns` is when, or when the last latency let them go."""

    octets: bytes
    stamp_ns: int


Item = Chunk | End
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Arrived:
    """The source, or the pipe before, handed this over."""

    at_ns: int
    item: Item


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time has passed."""

    at_ns: int


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A neighbour in the chain comes or goes: what is in hand leaves at once."""

    at_ns: int


@dataclass(frozen=True, slots=True)
class Retuned(Generic[S]):
    """The toxic has these settings now: what is in hand leaves at once."""

    at_ns: int
    settings: S


@dataclass(frozen=True, slots=True)
class Released:
    """The toxic is out of force: everything that is held leaves at once."""

    at_ns: int


Event = Arrived | Ticked | Interrupted | Retuned[S] | Released


class Pipe(Protocol[S]):
    """One toxic on one direction of one connection."""

    @property
    def due_ns(self) -> int | None: ...

    @property
    def full(self) -> bool: ...

    def handle(self, event: Event[S]) -> list[Item]: ...
