"""What a copy of a queue has to write to its node's disk, collected until the next flush.

1. Only persistent messages of durable queues are written (store.py).
2. A message is on disk when the flush that followed its Put has ended. One that left the queue
   before is settled as well: nobody waits for it any longer (item 73).
"""

from collections import deque
from collections.abc import Iterable

from reference_impl.mirrored.store import Entry, Put, Removed
from reference_impl.process import Effect, Flush, Write
from reference_impl.protocol.queues import Message


class Journal:
    def __init__(self, queue: str, durable: bool) -> None:
        self._queue = queue
        self._durable = durable
        self._entries: list[Entry] = []
        self._written: set[int] = set()  # what the disk holds, or will when it has caught up
        self._new: list[int] = []  # put since the last flush
        self._marks: deque[tuple[int, list[int]]] = deque()
        self._mark = 0

    @property
    def has_entries(self) -> bool:
        return bool(self._entries)

    def keeps(self, message: Message) -> bool:
        return self._durable and message.persistent

    def restored(self, numbers: Iterable[int]) -> None:
        """The disk holds these already."""
        self._written.update(numbers)

    def put(self, number: int, message: Message) -> None:
        """Only what it keeps."""
        self._entries.append(Put(number, message))
        self._written.add(number)
        self._new.append(number)

    def remove(self, numbers: Iterable[int]) -> None:
        """Numbers that it does not keep are passed over."""
        removed = tuple(number for number in numbers if number in self._written)
        if removed:
            self._written.difference_update(removed)
            self._entries.append(Removed(removed))

    def flush(self) -> list[Effect]:
        if not self._entries:
            return []
        effects: list[Effect] = [Write(self._queue, tuple(self._entries))]
        self._entries.clear()
        if self._new:
            self._mark += 1
            self._marks.append((self._mark, self._new))
            self._new = []
            effects.append(Flush(self._queue, self._mark))
        return effects

    def flushed(self, mark: int) -> list[int]:
        """Numbers that are on disk now, or were removed in between."""
        numbers: list[int] = []
        while self._marks and self._marks[0][0] <= mark:
            numbers += self._marks.popleft()[1]
        return numbers
