"""Entries of a queue's copy for its node's disk, collected until the next flush.

1. Persistent messages of durable queues are written when they come; others only where the queue
   has to do without memory for them (backing.py), and no confirm waits for those.
2. A message is on disk when the flush that followed its Put has ended. One that left the queue
   before is settled as well: no confirm waits for it any longer (item 73).
3. The caller that removes knows what the disk holds.
"""

from collections import deque

from reference_impl.mirrored.store import Emptied, Entry, Put, Removed
from reference_impl.process import Effect, Flush, Write
from reference_impl.protocol.queues import Message


class Journal:
    def __init__(self, queue: str, durable: bool) -> None:
        self._queue = queue
        self._durable = durable
        self._entries: list[Entry] = []
        self._new: list[int] = []  # put since the last flush
        self._marks: deque[tuple[int, list[int]]] = deque()
        self._mark = 0

    @property
    def has_entries(self) -> bool:
        return bool(self._entries)

    def keeps(self, message: Message) -> bool:
        return self._durable and message.persistent

    def put(self, put: Put) -> None:
        """Only what it keeps."""
        self._entries.append(put)
        self._new.append(put.number)

    def page_out(self, put: Put) -> None:
        """Write what memory does without."""
        self._entries.append(put)

    def remove(self, numbers: tuple[int, ...]) -> None:
        self._entries.append(Removed(numbers))

    def empty(self, kept: tuple[int, ...]) -> None:
        """All that the disk holds but these."""
        self._entries.append(Emptied(kept))

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
