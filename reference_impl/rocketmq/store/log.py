"""The commit log: every message of a broker, in the order in which it came.

1. One stretch of octets in files of equal size. No record lies in two: where one does not fit, the
   rest of the file is a blank.
2. What was written is there after the end of the process; what was flushed, also after the loss of
   power. `flushed` says how far that is.
3. Recovery reads from the file before the last two (or from the one that a checkpoint names), and
   cuts the log at the first thing that is no record. What came after it is lost, whatever it was.
4. What a process had written before it crashed may not have been flushed: it is when its log is
   recovered. Else the loss of power would leave a hole there, under what was flushed since.
"""

from collections.abc import Iterator
from typing import Protocol

from reference_impl.rocketmq.store.disk import Series
from reference_impl.rocketmq.store.records import (
    BLANK_OCTETS,
    Bad,
    Blank,
    Draft,
    Record,
    blank,
    read,
    size_at,
    write,
)

FOLDER = "commitlog"
_FILES_LOOKED_AT = 3
_HEAD_OCTETS = 8


class MessageLog(Protocol):
    """What a store needs of a log. `end`: readers see what stands before it. `shows_at_once`:
    that is everything appended, and not what a majority has."""

    shows_at_once: bool

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...

    @property
    def flushed(self) -> int: ...

    def append(self, draft: Draft, offset: int, stored_ms: int) -> tuple[int, int]:
        """Its position and length."""

    def octets(self, position: int, count: int) -> bytes: ...

    def raw(self, position: int) -> bytes: ...

    def record(self, position: int) -> Record | Blank | Bad: ...

    def records(self, position: int) -> Iterator[Record]: ...

    def flush(self) -> None: ...

    def recover(self) -> None: ...

    def truncate(self, position: int) -> None: ...


class CommitLog:
    """MessageLog."""

    shows_at_once = True

    def __init__(self, series: Series) -> None:
        self._series = series
        self.end = series.first
        self.flushed = series.first

    @property
    def start(self) -> int:
        return self._series.first

    def append(self, draft: Draft, offset: int, stored_ms: int) -> tuple[int, int]:
        """Its position and length. It has to fit into a file."""
        octets = write(draft, offset, self.end, stored_ms)
        room = self._room(self.end)
        if len(octets) + BLANK_OCTETS > room:
            self._series.write(self.end, blank(room))
            self.end += room
            octets = write(draft, offset, self.end, stored_ms)
        position = self.end
        self._series.write(position, octets)
        self.end += len(octets)
        return position, len(octets)

    def begin_at(self, position: int) -> None:
        """Set the beginning of an empty log."""
        if self.end == 0:
            self.end = self.flushed = position

    def append_copy(self, octets: bytes) -> None:
        """Append a copy of a master's log."""
        at = 0
        while at < len(octets):
            part = octets[at : at + self._room(self.end)]
            self._series.write(self.end, part)
            self.end += len(part)
            at += len(part)

    def flush(self) -> None:
        if self.flushed < self.end:
            self._series.flush(self.flushed, self.end)
            self.flushed = self.end

    def octets(self, position: int, count: int) -> bytes:
        """Of what was written; fewer at the end of a file, and of the log."""
        return self._series.read(position, max(0, min(count, self.end - position)))

    def raw(self, position: int) -> bytes:
        """The record or the blank that stands there; nothing where there is none."""
        return self.octets(position, size_at(self.octets(position, _HEAD_OCTETS)))

    def record(self, position: int) -> Record | Blank | Bad:
        octets = self.raw(position)
        return read(octets) if octets else Bad("nothing is there")

    def records(self, position: int) -> Iterator[Record]:
        """Yield the records from there on, up to what is no whole record."""
        while position < self.end:
            match self.record(position):
                case Record() as record:
                    yield record
                    position += record.octets
                case Blank():
                    position += self._room(position)
                case Bad():
                    return

    def recover(self, start: int | None = None) -> None:
        """Find the end of the log. `start`: from which file on it has to be read."""
        files = (self._series.allocated - self._series.first) // self._series.file_octets
        last = self._series.first + max(0, files - _FILES_LOOKED_AT) * self._series.file_octets
        position = last if start is None else start
        self.end = self._series.allocated
        while position < self._series.allocated:
            match self.record(position):
                case Record() as record if record.position == position:
                    position += record.octets
                case Blank():
                    position += self._room(position)
                case _:
                    break
        self.truncate(position)
        self._series.flush(self._series.first, position)
        self.flushed = position

    def truncate(self, position: int) -> None:
        """Remove what stands there and after."""
        self._series.truncate(position)
        self.end = position
        self.flushed = min(self.flushed, position)

    def file_of(self, position: int) -> int:
        """Return where the file begins that has it."""
        size = self._series.file_octets
        return position // size * size

    def _room(self, position: int) -> int:
        size = self._series.file_octets
        return size - position % size
