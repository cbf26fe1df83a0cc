"""The messages of one copy of a queue, in their order (the backing queue's first cut).

1. A message's number is its place: numbers only grow, and what is requeued goes back to its place.
   Where a queue has priorities each of them is a line of its own, and the highest goes first.
2. Held is ready or taken (handed out, to be acknowledged). Taking is from the head.
3. Everything that a mirror holds counts as redelivered once it is promoted (item 37), and
   everything that came back from the disk of a node that had stopped; what comes later does not,
   until it is requeued.
4. What the journal keeps is put when it comes and removed when it leaves for good.
5. Octets are those of bodies.
6. When a message is over is known from when it comes (terms.py). It goes by whoever asks.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush

from reference_impl.mirrored.journal import Journal
from reference_impl.mirrored.terms import Terms
from reference_impl.protocol.queues import Message


@dataclass(slots=True)
class _Line:
    """What is ready of one priority."""

    fresh: deque[int] = field(default_factory=deque)  # never requeued
    returned: list[int] = field(default_factory=list)  # requeued: a heap

    def __len__(self) -> int:
        return len(self.fresh) + len(self.returned)

    @property
    def head(self) -> int:
        if self.returned and (not self.fresh or self.returned[0] < self.fresh[0]):
            return self.returned[0]
        return self.fresh[0]

    def take(self) -> int:
        if self.returned and (not self.fresh or self.returned[0] < self.fresh[0]):
            return heappop(self.returned)
        return self.fresh.popleft()


class Backing:
    def __init__(self, journal: Journal, terms: Terms) -> None:
        self.journal = journal
        self.terms = terms
        self.ready = 0
        self.ready_octets = 0
        self._held: dict[int, Message] = {}
        self._lowest = _Line()
        self._higher: dict[int, _Line] = {}  # by priority, the highest first
        self._raised: dict[int, int] = {}  # priorities above the lowest, by number
        self._over_ms: dict[int, int] = {}  # of those that do not live for ever
        self._next = 1
        self._marked_below = 0  # these were held before a promotion or a restart
        self._redelivered: set[int] = set()

    @property
    def depth(self) -> int:
        return len(self._held)

    @property
    def taken(self) -> int:
        return self.depth - self.ready

    def restore(self, held: dict[int, Message]) -> None:
        """What the disk held, by number, in order."""
        assert self._next == 1, "only a new copy is restored"
        self._held = dict(held)
        for number, message in held.items():
            self._come(number, message)
            self._line(number).fresh.append(number)
            self._count(number)
        self._next = max(held, default=0) + 1
        self.journal.restored(held)
        self.mark_redelivered()

    def mark_redelivered(self) -> None:
        """All that is held now."""
        self._marked_below = self._next
        self._redelivered.clear()

    def publish(self, message: Message) -> int:
        number = self._hold(message)
        self._line(number).fresh.append(number)
        self._count(number)
        return number

    def publish_taken(self, message: Message) -> int:
        """Handed out at once."""
        return self._hold(message)

    def head_over_ms(self) -> int | None:
        """When the head is over; None: there is none, or never."""
        if not self._over_ms or not self.ready:
            return None
        return self._over_ms.get(self._first().head)

    def take(self) -> int:
        """The head, to be acknowledged or removed."""
        number = self._first().take()
        self.ready -= 1
        self.ready_octets -= len(self._held[number].body)
        return number

    def message(self, number: int) -> Message:
        return self._held[number]

    def is_redelivered(self, number: int) -> bool:
        return number < self._marked_below or number in self._redelivered

    def remove(self, numbers: Iterable[int]) -> list[Message]:
        """Taken ones, for good."""
        numbers = tuple(numbers)
        self.journal.remove(numbers)
        self._redelivered.difference_update(numbers)
        for known in (self._over_ms, self._raised):
            if known:
                for number in numbers:
                    known.pop(number, None)
        return [self._held.pop(number) for number in numbers]

    def requeue(self, numbers: Iterable[int]) -> None:
        """Taken ones, to their places."""
        for number in numbers:
            heappush(self._line(number).returned, number)
            self._redelivered.add(number)
            self._count(number)

    def drop(self) -> list[int]:
        """All that is ready, for good: their numbers."""
        numbers = [number for line in self._lines() for number in (*line.returned, *line.fresh)]
        self._empty()
        self.remove(numbers)
        return numbers

    def clear(self) -> list[int]:
        """Everything, what is taken as well: their numbers."""
        numbers = list(self._held)
        self._empty()
        self.remove(numbers)
        return numbers

    def all(self) -> Iterator[tuple[int, Message, bool]]:
        """By number: number, message, whether it is taken."""
        ready = {number for line in self._lines() for number in (*line.fresh, *line.returned)}
        for number in sorted(self._held):
            yield number, self._held[number], number not in ready

    def _lines(self) -> Iterator[_Line]:
        yield from self._higher.values()
        yield self._lowest

    def _first(self) -> _Line:
        """The line that has the head; something is ready."""
        if self._higher:
            return next(line for line in self._lines() if line)
        return self._lowest

    def _line(self, number: int) -> _Line:
        priority = self._raised.get(number) if self._raised else None
        if priority is None:
            return self._lowest
        if priority not in self._higher:
            self._higher[priority] = _Line()
            self._higher = dict(sorted(self._higher.items(), reverse=True))
        return self._higher[priority]

    def _count(self, number: int) -> None:
        """It is ready from now on."""
        self.ready += 1
        self.ready_octets += len(self._held[number].body)

    def _empty(self) -> None:
        self._lowest = _Line()
        self._higher.clear()
        self.ready = self.ready_octets = 0

    def _hold(self, message: Message) -> int:
        number = self._next
        self._next += 1
        self._held[number] = message
        self._come(number, message)
        if self.journal.keeps(message):
            self.journal.put(number, message)
        return number

    def _come(self, number: int, message: Message) -> None:
        """What its terms are from now on."""
        over_ms, priority = self.terms.over_ms(message), self.terms.priority(message)
        if over_ms is not None:
            self._over_ms[number] = over_ms
        if priority:
            self._raised[number] = priority
