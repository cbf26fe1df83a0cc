"""One ring member's state of each sender's broadcasts (docs/behaviour/rabbitmq.md 3.1).

1. Pending is what came by and has not been all the way round, as far as this member knows; it is
   in the order of numbers, which only grow.
2. A sender drops what returns to it, and says so (acks); all others drop what it says.
3. The heir of a dead sender does for it what it would have done.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from reference_impl.mirrored.messages import Pub, SenderState, StreamState
from reference_impl.pid import Pid


@dataclass(slots=True)
class Stream:
    """Of one sender."""

    pending: deque[Pub] = field(default_factory=deque)
    last_pub: int = -1
    last_ack: int = -1

    @property
    def is_settled(self) -> bool:
        """Everything that it broadcast is known everywhere."""
        return self.last_pub == self.last_ack

    def came_by(self, entry: SenderState) -> None:
        """On its way round: hold it, drop what the sender says."""
        if entry.pubs:
            assert entry.pubs[0][0] > self.last_pub, (entry.pubs[0][0], self.last_pub)
            self.pending.extend(entry.pubs)
            self.last_pub = entry.pubs[-1][0]
        if entry.acks:
            self._drop(entry.acks[-1])

    def returned(self, entry: SenderState) -> tuple[int, ...]:
        """Handle the return of an entry to its sender, or its heir: return the numbers that all
        have seen."""
        pending, seen = self.pending, []
        for number, _ in entry.pubs:
            if pending and pending[0][0] == number:
                pending.popleft()
                seen.append(number)
        if entry.acks:
            self.last_ack = max(self.last_ack, entry.acks[-1])
        return tuple(seen)

    def missed(self, left: StreamState) -> SenderState:
        """Return what a new left neighbour knows of this sender, and this member does not yet."""
        first = _first_pending(left)
        acks = tuple(number for number, _ in self.pending if number < first)
        pubs = tuple(pub for pub in left.pending if pub[0] > self.last_pub)
        return SenderState(left.sender, pubs, acks)

    def _drop(self, last: int) -> None:
        while self.pending and self.pending[0][0] <= last:
            self.pending.popleft()
        self.last_ack = max(self.last_ack, last)


def states(streams: dict[Pid, Stream]) -> tuple[StreamState, ...]:
    """For a Catchup."""
    return tuple(
        StreamState(sender, tuple(stream.pending), stream.last_pub, stream.last_ack)
        for sender, stream in streams.items()
    )


def streams_of(states: Iterable[StreamState]) -> dict[Pid, Stream]:
    """Return a newcomer's streams: it takes over those of its left neighbour. What that one holds
    no more is known everywhere; an ack that is still on its way may be lost with its carrier."""
    return {
        state.sender: Stream(deque(state.pending), state.last_pub, _first_pending(state) - 1)
        for state in states
    }


def _first_pending(state: StreamState) -> int:
    return state.pending[0][0] if state.pending else state.last_pub + 1
