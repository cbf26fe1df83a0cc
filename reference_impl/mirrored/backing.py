"""The messages of one copy of a queue, in their order (the backing queue's first cut).

1. A message's number is its place: numbers only grow, and what is requeued goes back to its place.
2. Held is ready or taken (handed out, to be acknowledged). Taking is from the head.
3. Everything that a mirror holds counts as redelivered once it is promoted (item 37), and
   everything that came back from the disk of a node that had stopped; what comes later does not,
   until it is requeued.
4. What the journal keeps is put when it comes and removed when it leaves for good.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

from reference_impl.mirrored.journal import Journal
from reference_impl.protocol.queues import Message


class Backing:
    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self._held: dict[int, Message] = {}
        self._fresh: deque[int] = deque()  # ready, never requeued
        self._returned: list[int] = []  # ready, requeued: a heap
        self._next = 1
        self._marked_below = 0  # these were held before a promotion or a restart
        self._redelivered: set[int] = set()

    @property
    def ready(self) -> int:
        return len(self._fresh) + len(self._returned)

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
        self._fresh.extend(held)
        self._next = max(held, default=0) + 1
        self.journal.restored(held)
        self.mark_redelivered()

    def mark_redelivered(self) -> None:
        """All that is held now."""
        self._marked_below = self._next
        self._redelivered.clear()

    def publish(self, message: Message) -> int:
        number = self._hold(message)
        self._fresh.append(number)
        return number

    def publish_taken(self, message: Message) -> int:
        """Handed out at once."""
        return self._hold(message)

    def take(self) -> int:
        """The head, to be acknowledged or removed."""
        if self._returned and (not self._fresh or self._returned[0] < self._fresh[0]):
            return heappop(self._returned)
        return self._fresh.popleft()

    def message(self, number: int) -> Message:
        return self._held[number]

    def is_redelivered(self, number: int) -> bool:
        return number < self._marked_below or number in self._redelivered

    def remove(self, numbers: Iterable[int]) -> list[Message]:
        """Taken ones, for good."""
        numbers = tuple(numbers)
        self.journal.remove(numbers)
        self._redelivered.difference_update(numbers)
        return [self._held.pop(number) for number in numbers]

    def requeue(self, numbers: Iterable[int]) -> None:
        """Taken ones, to their places."""
        for number in numbers:
            heappush(self._returned, number)
            self._redelivered.add(number)

    def drop(self) -> list[int]:
        """All that is ready, for good: their numbers."""
        numbers = [*self._returned, *self._fresh]
        self._returned.clear()
        self._fresh.clear()
        self.remove(numbers)
        return numbers

    def clear(self) -> list[int]:
        """Everything, what is taken as well: their numbers."""
        numbers = list(self._held)
        self._returned.clear()
        self._fresh.clear()
        self.remove(numbers)
        return numbers

    def all(self) -> Iterator[tuple[int, Message, bool]]:
        """In order: number, message, whether it is taken."""
        ready = {*self._fresh, *self._returned}
        for number in sorted(self._held):
            yield number, self._held[number], number not in ready

    def _hold(self, message: Message) -> int:
        number = self._next
        self._next += 1
        self._held[number] = message
        if self.journal.keeps(message):
            self.journal.put(number, message)
        return number
