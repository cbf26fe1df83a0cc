"""The messages of one copy of a queue, in their order: the backing queue (seeds/003).

1. A message's number is its place: numbers only grow, and what is requeued goes back to its place.
   Where a queue has priorities each of them is a line of its own (line.py), and the highest goes
   first.
2. Held is ready or taken (handed out, to be acknowledged). Taking is from the head.
3. Everything that a mirror holds counts as redelivered once it is promoted (item 37), and
   everything that came back from the disk of a node that had stopped; what comes later does not,
   until it is requeued.
4. What the journal keeps is put when it comes and removed when it leaves for good.
5. Octets are those of bodies.
6. A message's expiry is known when it comes (terms.py). The next request removes it.
7. Where memory is short (paging.py) messages go to disk: of ready ones, as line.py says, then of
   those out of line (taken, or requeued), oldest first. A message that is wanted comes back, and
   with it some that stand behind it.
8. Of what is in memory only in part, or not at all, everything is on disk. What is paged out is
   written in the same event in which it leaves memory; nothing is read in that event any more.
"""

from collections.abc import Container, Iterable, Iterator
from heapq import merge
from operator import itemgetter

from reference_impl.mirrored import paging
from reference_impl.mirrored.journal import Journal
from reference_impl.mirrored.line import Line
from reference_impl.mirrored.paging import Away, Pace, Sizes, octets_of
from reference_impl.mirrored.store import Put, Segment, Shelf
from reference_impl.mirrored.terms import QueueTerms
from reference_impl.protocol.queues import Message

_SOME = 64  # messages that are looked at between two looks at octets
Copy = tuple[int, Message, bool]  # number, message, whether it is taken


class Backing:
    def __init__(
        self,
        queue: str,
        journal: Journal,
        terms: QueueTerms,
        shelf: Shelf,
        sizes: Sizes | None = None,
    ) -> None:
        self.journal = journal
        self.terms = terms
        self.ready = 0
        self.ready_octets = 0
        self.taken = 0
        self._queue = queue
        self._shelf = shelf
        self._sizes = sizes or Sizes()
        self._pace = Pace(terms.now_ms())
        self._target: int | None = None  # messages that may be in memory
        self._held: dict[int, Message | Away] = {}  # but those of deltas
        self._loose: dict[int, None] = {}  # in memory, taken or requeued
        self._on_disk: set[int] = set()  # of those held
        self._lowest = self._new_line()
        self._higher: dict[int, Line] = {}  # by priority, the highest first
        self._raised: dict[int, int] = {}  # priorities above the lowest, by number
        self._over_ms: dict[int, int] = {}  # of those that do not live for ever
        self._next = 1
        self._restored_below = 0
        self._marked_below = 0  # these were held before a promotion or a restart
        self._redelivered: set[int] = set()

    def __contains__(self, number: int) -> bool:
        """Return whether memory knows it: what was put lately and is not gone, it does."""
        return number in self._held

    @property
    def depth(self) -> int:
        return self.ready + self.taken

    @property
    def in_memory(self) -> int:
        return len(self._loose) + sum(line.alphas for line in self._lines())

    @property
    def target(self) -> int | None:
        return self._target

    def lengths(self) -> dict[str, int]:
        """Of Q1 to Q4 and delta, over all priorities; what was requeued counts to Q4."""
        lines = list(self._lines())
        return {
            "q1": sum(len(line.q1) for line in lines),
            "q2": sum(len(line.q2) for line in lines),
            "delta": sum(line.delta.count for line in lines),
            "q3": sum(len(line.q3) for line in lines),
            "q4": sum(len(line.q4) + len(line.requeued) for line in lines),
        }

    def restore(self) -> None:
        """Restore what the disk holds, and is to outlive a boot."""
        assert self._next == 1, "only a new copy is restored"
        for segment in self._shelf.stored(self._queue):
            gone = []
            for number, put in self._shelf.segment(self._queue, segment).items():
                if not self.journal.keeps(put.message):  # as _outlived says
                    gone.append(number)
                    continue
                self._line_of(self.terms.priority(put.message)).delta.put_last(number)
                self.ready += 1
                self.ready_octets += len(put.message.body)
                self._next = number + 1
            if gone:
                self.journal.remove(tuple(gone))
        self._restored_below = self._next
        for line in self._lines():
            line.refill()
        self.mark_redelivered()

    def mark_redelivered(self) -> None:
        """All that is held now."""
        self._marked_below = self._next
        self._redelivered.clear()

    def publish(self, message: Message) -> int:
        number = self._hold(message)
        self._line(number).publish(number)
        self.ready += 1
        self.ready_octets += len(message.body)
        self._pace.moves += 1
        return number

    def publish_taken(self, message: Message) -> int:
        """Handed out at once."""
        number = self._hold(message)
        self._loose[number] = None
        self.taken += 1
        self._pace.moves += 2
        return number

    def head_over_ms(self) -> int | None:
        """Return when the head expires; None: there is none, or never."""
        if not self._over_ms or not self.ready:
            return None
        return self._over_ms.get(self._first().head)

    def take(self) -> int:
        """The head, to be acknowledged or removed."""
        number = self._first().take()
        found = self._held[number]
        self.ready_octets -= octets_of(found)
        if not isinstance(found, Away):
            self._loose[number] = None
        self.ready -= 1
        self.taken += 1
        self._pace.moves += 2
        return number

    def message(self, number: int) -> Message:
        """Held in memory at least in part."""
        found = self._held[number]
        return found if type(found) is Message else self._fetched(number)

    def identity(self, number: int) -> bytes:
        return self._held[number].identity

    def is_redelivered(self, number: int) -> bool:
        return number < self._marked_below or number in self._redelivered

    def remove(self, numbers: Iterable[int]) -> tuple[bytes, ...]:
        """Taken ones, for good: their identities."""
        numbers = tuple(numbers)
        written = self._on_disk.intersection(numbers)
        if written:
            self.journal.remove(tuple(sorted(written)))
        identities = tuple(self._held[number].identity for number in numbers)
        self._forget(numbers)
        self.taken -= len(numbers)
        self._pace.moves += len(numbers)
        return identities

    def requeue(self, numbers: Iterable[int]) -> None:
        """Taken ones, to their places."""
        for number in numbers:
            self._line(number).requeue(number)
            self._redelivered.add(number)
            self.ready_octets += octets_of(self._held[number])
            self.ready += 1
            self.taken -= 1

    def drop(self) -> int:
        """All that is ready, for good: how many."""
        dropped = self.ready
        numbers = [number for line in self._lines() for number in line.numbers()]
        on_disk = any(line.delta.count for line in self._lines())
        on_disk = on_disk or not self._on_disk.isdisjoint(numbers)
        self._forget(numbers)
        self._redelivered.intersection_update(self._held)
        if on_disk:
            self.journal.empty(tuple(sorted(self._on_disk)))
        self._lowest = self._new_line()
        self._higher.clear()
        self.ready = self.ready_octets = 0
        return dropped

    def clear(self) -> None:
        """Everything, what is taken as well."""
        self.drop()
        self.remove(list(self._held))

    def all(self) -> Iterator[Copy]:
        """By number. The queue stands still until the last one was asked for; but it may be paged
        out meanwhile."""
        ready = {number for line in self._lines() for number in line.numbers()}
        known = sorted(self._held)
        here = ((number, self._read(number), number not in ready) for number in known)
        deltas = [
            ((put.number, put.message, False) for put in self._in_delta(line, frozenset(known)))
            for line in self._lines()
        ]
        return merge(here, *deltas, key=itemgetter(0))

    # --- memory

    def may_keep(self, lasts_s: float | None) -> None:
        """Messages for so many seconds of its work; None: all."""
        if lasts_s is None:
            self._target = None
        else:
            self._target = paging.target(lasts_s, self._pace, self.terms.now_ms())

    @property
    def is_too_long(self) -> bool:
        """Return whether `page_out` would do something."""
        if self._target is None:
            return False
        return self.in_memory > self._target or any(map(self._betas_over, self._lines()))

    def page_out(self) -> None:
        """One round, of what is too much. What is written has to go to disk in this event."""
        if self._target is None:
            return
        octets = 0
        while self.in_memory > self._target and octets < self._sizes.round_octets:
            octets += self._send_away(self._first_to_go(self.in_memory - self._target))
        for line in self._lines():
            numbers = line.become_delta(self._betas_over(line))
            assert self._on_disk.issuperset(numbers)
            self._forget(numbers, redelivered_too=False)

    def _betas_over(self, line: Line) -> int:
        """Betas that are too many, where they are a batch."""
        target = self._target or 0
        permitted = paging.betas(len(line) - line.alphas, target, self._sizes.segment)
        over = line.betas - permitted
        return over if over >= self._sizes.batch else 0

    def _first_to_go(self, most: int) -> list[int]:
        """Some, of all that may leave memory; there are some."""
        some = min(most, _SOME)
        for line in reversed(list(self._lines())):
            if line.alphas:
                return line.become_betas(some)
        return [number for number, _ in zip(self._loose, range(some), strict=False)]

    def _send_away(self, numbers: list[int]) -> int:
        """Octets that memory has no more."""
        octets = 0
        for number in numbers:
            message = self._held[number]
            assert type(message) is Message
            if number not in self._on_disk:
                self.journal.page_out(self._put(number, message))
                self._on_disk.add(number)
            self._held[number] = Away(message)
            self._loose.pop(number, None)
            octets += len(message.body)
        return octets

    def _fetched(self, number: int) -> Message:
        """One that is out of line, from disk; and what stands behind it there and is in line."""
        segment = self._segment(number)
        message = self._back(number, segment)
        line = self._line(number)
        octets = len(message.body)
        for behind, _ in zip(line.q3, range(self._sizes.load), strict=False):
            if behind not in segment or octets >= self._sizes.load_octets:
                break
            if type(self._held[behind]) is Away:
                octets += len(self._back(behind, segment).body)
        self._loose[number] = None
        return message

    def _back(self, number: int, segment: Segment) -> Message:
        message = self._held[number] = segment[number].message
        return message

    def _load(self, line: Line) -> tuple[list[int], int]:
        """line.Load: the next part of its delta."""
        size, end = self._sizes.segment, line.delta.end
        numbers: list[int] = []
        octets = 0
        known = frozenset(self._held)
        for put in self._in_delta(line, known):
            full = len(numbers) == self._sizes.load or octets >= self._sizes.load_octets
            if numbers and (full or put.number // size > numbers[0] // size):
                return numbers, put.number
            numbers.append(put.number)
            octets += len(put.message.body)
            self._held[put.number] = put.message
            self._on_disk.add(put.number)
            self._come(put.number, put.message, self._lives_until(put))
        assert len(numbers) == line.delta.count, f"{self._queue}: delta is not what was there"
        return numbers, end

    def _in_delta(self, line: Line, known: Container[int]) -> Iterator[Put]:
        """From its start on, read as it is asked for. `known`: what else disk has, of others."""
        size, start, end = self._sizes.segment, line.delta.start, line.delta.end
        segments = range(start // size, (end - 1) // size + 1) if line.delta.count else ()
        return (
            put
            for segment in segments
            for number, put in self._shelf.segment(self._queue, segment).items()
            if start <= number < end and number not in known and self._outlived(put)
            if self._line_of(self.terms.priority(put.message)) is line
        )

    def _outlived(self, put: Put) -> bool:
        """The boot in which it came: others are being removed from disk."""
        return put.number >= self._restored_below or self.journal.keeps(put.message)

    def _read(self, number: int) -> Message:
        """Return the message, in memory or not; it is no more in memory than before."""
        found = self._held.get(number)
        return found if type(found) is Message else self._segment(number)[number].message

    def _segment(self, number: int) -> Segment:
        return self._shelf.segment(self._queue, number // self._sizes.segment)

    # --- lines

    def _new_line(self) -> Line:
        return Line(self._load, self._sizes.segment)

    def _lines(self) -> Iterator[Line]:
        yield from self._higher.values()
        yield self._lowest

    def _first(self) -> Line:
        """The line that has the head; something is ready."""
        if self._higher:
            return next(line for line in self._lines() if len(line))
        return self._lowest

    def _line(self, number: int) -> Line:
        return self._line_of(self._raised.get(number, 0)) if self._raised else self._lowest

    def _line_of(self, priority: int) -> Line:
        if not priority:
            return self._lowest
        if priority not in self._higher:
            self._higher[priority] = self._new_line()
            self._higher = dict(sorted(self._higher.items(), reverse=True))
        return self._higher[priority]

    # --- coming and going

    def _hold(self, message: Message) -> int:
        number = self._next
        self._next += 1
        self._held[number] = message
        self._come(number, message, self.terms.over_ms(message))
        if self.journal.keeps(message):
            self.journal.put(self._put(number, message))
            self._on_disk.add(number)
        return number

    def _come(self, number: int, message: Message, over_ms: int | None) -> None:
        """Note the terms of a message from now on."""
        priority = self.terms.priority(message)
        if over_ms is not None:
            self._over_ms[number] = over_ms
        if priority:
            self._raised[number] = priority

    def _put(self, number: int, message: Message) -> Put:
        return Put(number, message, self._over_ms.get(number, -1) if self._over_ms else -1)

    def _lives_until(self, put: Put) -> int | None:
        """Return the expiry by this boot's clock: after a restart a message's time starts
        again."""
        if put.number < self._restored_below:
            return self.terms.over_ms(put.message)
        return None if put.over_ms < 0 else put.over_ms

    def _forget(self, numbers: Iterable[int], *, redelivered_too: bool = True) -> None:
        """Memory does; whether disk does is the caller's."""
        numbers = tuple(numbers)
        self._on_disk.difference_update(numbers)
        if redelivered_too and self._redelivered:
            self._redelivered.difference_update(numbers)
        for known in (self._held, self._loose, self._over_ms, self._raised):
            if known:
                for number in numbers:
                    known.pop(number, None)
