"""The log of a member: entries with an index, a term and a position, and how far it is committed.

1. Indexes begin at 0 and have no gap. An entry stands at the same position at every member: files
   have the same size, and blanks the same places.
2. What was written is there after the end of the process; what was flushed, also after the loss of
   power. Recovery cuts the log at the first thing that is no entry, and flushes the rest.
3. How far it is committed is kept at times, and may be behind after a crash.
4. What is committed is cut only if the power of a majority was lost: `cut` says so.
"""

import struct
from collections.abc import Callable, Iterator

import msgspec

from reference_impl.rocketmq.dledger.entries import (
    BLANK_OCTETS,
    HEAD_OCTETS,
    LedgerBlank,
    LedgerEntry,
    blank,
    is_blank,
    made,
    read,
    size_at,
)
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.store.disk import Disk

NONE = -1  # the index and the term of an empty log
_PLACE = struct.Struct(">iqiqq")  # of an entry: magic, position, length, index, term
_FILES_READ = 3
_PLACES_EACH = 32  # octets of a data file for one of a file of places


class _Checkpoint(msgspec.Struct, frozen=True, rename="camel"):
    committed_index: int


class Ledger:
    """`end`, `flushed`, `committed`: positions. `end_index`, `flushed_index`,
    `committed_index`: of the last entry before them."""

    def __init__(self, disk: Disk, settings: MemberSettings) -> None:
        size = settings.file_octets
        self._disk = disk
        self._checkpoint = f"{settings.folder}/checkpoint"
        self._data = disk.series(f"{settings.folder}/data", size)
        places = max(1, size // _PLACES_EACH // _PLACE.size) * _PLACE.size
        self._places = disk.series(f"{settings.folder}/index", places)
        self.end = self.flushed = self.committed = 0
        self.end_index = self.flushed_index = self.committed_index = NONE
        self.end_term = NONE
        self._recover()

    def append(self, magic: int, term: int, body_at: Callable[[int], bytes]) -> LedgerEntry:
        """Append an entry as the leader. `body_at`: its body, by where it will stand."""
        position = self.end
        body = body_at(position + HEAD_OCTETS)
        if HEAD_OCTETS + len(body) + BLANK_OCTETS > self._room(position):
            position += self._room(position)
            body = body_at(position + HEAD_OCTETS)
        entry = made(magic, self.end_index + 1, term, position, body)
        self._write(entry)
        return entry

    def fits(self, body_octets: int) -> bool:
        """Return whether any file has room for such a body."""
        return HEAD_OCTETS + body_octets + BLANK_OCTETS <= self._data.file_octets

    def accept(self, entry: LedgerEntry) -> bool:
        """Append an entry of the leader. False: it does not follow the last one."""
        ends = (self.end, self.end + self._room(self.end))
        if entry.index != self.end_index + 1 or entry.position not in ends:
            return False
        if not self.fits(len(entry.octets) - HEAD_OCTETS) or entry.term < self.end_term:
            return False
        if len(entry.octets) + BLANK_OCTETS > self._room(entry.position):
            return False
        self._write(entry)
        return True

    def entry(self, index: int) -> LedgerEntry | None:
        place = self._place(index)
        if place is None:
            return None
        _, position, octets, _, _ = place
        found = read(self._data.read(position, octets))
        return found if isinstance(found, LedgerEntry) else None

    def entries(self, index: int, octets_max: int) -> list[LedgerEntry]:
        """Return entries from there on: at least one, if there is one."""
        found, octets = list[LedgerEntry](), 0
        while (entry := self.entry(index)) is not None:
            if found and octets + len(entry.octets) > octets_max:
                break
            found.append(entry)
            octets += len(entry.octets)
            index += 1
        return found

    def term_of(self, index: int) -> int:
        place = self._place(index)
        return NONE if place is None else int(place[4])

    def commit(self, index: int) -> bool:
        """Commit up to there, or to its end. False: it was already."""
        index = min(index, self.end_index)
        place = self._place(index)
        if index <= self.committed_index or place is None:
            return False
        self.committed_index, self.committed = index, place[1] + place[2]
        return True

    def cut(self, index: int) -> bool:
        """Remove what comes after that entry. True: some of it was committed."""
        place = self._place(index)
        self.end = 0 if place is None else place[1] + place[2]
        self.end_index = NONE if place is None else index
        self.end_term = NONE if place is None else place[4]
        self._data.truncate(self.end)
        self._places.truncate((self.end_index + 1) * _PLACE.size)
        self.flushed = min(self.flushed, self.end)
        self.flushed_index = min(self.flushed_index, self.end_index)
        was_committed = self.committed_index > self.end_index
        self.committed = min(self.committed, self.end)
        self.committed_index = min(self.committed_index, self.end_index)
        return was_committed

    def flush(self) -> None:
        if self.flushed < self.end:
            self._data.flush(self.flushed, self.end)
            start = (self.flushed_index + 1) * _PLACE.size
            self._places.flush(start, (self.end_index + 1) * _PLACE.size)
            self.flushed, self.flushed_index = self.end, self.end_index

    def keep_committed(self) -> None:
        checkpoint = _Checkpoint(self.committed_index)
        self._disk.keep(self._checkpoint, msgspec.json.encode(checkpoint))

    def octets(self, position: int, count: int) -> bytes:
        """Of what was written, and of one file."""
        return self._data.read(position, max(0, min(count, self.end - position)))

    def committed_from(self, position: int) -> Iterator[LedgerEntry]:
        """Yield committed entries from that place on, where one begins or ended."""
        while position < self.committed:
            found = self._at(position)
            if isinstance(found, LedgerEntry):
                yield found
                position = found.end
            elif isinstance(found, LedgerBlank):
                position += self._room(position)
            else:
                return

    def _write(self, entry: LedgerEntry) -> None:
        if entry.position != self.end:
            self._data.write(self.end, blank(self._room(self.end)))
        self._data.write(entry.position, entry.octets)
        self._write_place(entry)
        self.end, self.end_index, self.end_term = entry.end, entry.index, entry.term

    def _write_place(self, entry: LedgerEntry) -> None:
        size = len(entry.octets)
        place = _PLACE.pack(entry.magic, entry.position, size, entry.index, entry.term)
        self._places.write(entry.index * _PLACE.size, place)

    def _place(self, index: int) -> tuple[int, int, int, int, int] | None:
        if not 0 <= index <= self.end_index:
            return None
        octets = self._places.read(index * _PLACE.size, _PLACE.size)
        return _PLACE.unpack(octets) if len(octets) == _PLACE.size else None

    def _at(self, position: int) -> LedgerEntry | LedgerBlank | None:
        head = self._data.read(position, BLANK_OCTETS)
        return read(head if is_blank(head) else self._data.read(position, size_at(head)))

    def _room(self, position: int) -> int:
        size = self._data.file_octets
        return size - position % size

    def _recover(self) -> None:
        position = self._recovery_start()
        while position < self._data.allocated:
            found = self._at(position)
            if isinstance(found, LedgerBlank):
                position += self._room(position)
            elif isinstance(found, LedgerEntry) and self._follows(found, position):
                self._write_place(found)
                self.end, self.end_index, self.end_term = found.end, found.index, found.term
                position = found.end
            else:
                break
        self._data.truncate(self.end)
        self._places.truncate((self.end_index + 1) * _PLACE.size)
        self._data.flush(self._data.first, self.end)
        self._places.flush(0, (self.end_index + 1) * _PLACE.size)
        self.flushed, self.flushed_index = self.end, self.end_index
        self._recover_committed()

    def _recovery_start(self) -> int:
        """Return where the third file from the end begins; earlier ones are whole."""
        size = self._data.file_octets
        files = (self._data.allocated - self._data.first) // size
        for back in range(_FILES_READ, files):
            start = self._data.first + (files - back) * size
            found = self._at(start)
            if isinstance(found, LedgerEntry) and self._is_indexed(found.index - 1):
                return start
        return self._data.first

    def _is_indexed(self, index: int) -> bool:
        """Return whether the file of places reaches as far; then the log ends there for now."""
        octets = self._places.read(index * _PLACE.size, _PLACE.size)
        if len(octets) != _PLACE.size:
            return False
        magic, position, size, found, term = _PLACE.unpack(octets)
        if magic == 0 or found != index:
            return False
        self.end, self.end_index, self.end_term = position + size, index, term
        return True

    def _follows(self, entry: LedgerEntry, position: int) -> bool:
        return entry.index == self.end_index + 1 and entry.position == position

    def _recover_committed(self) -> None:
        kept = self._disk.document(self._checkpoint)
        try:
            index = NONE if kept is None else msgspec.json.decode(kept, type=_Checkpoint)
        except msgspec.DecodeError:
            return  # it is learnt again from the group
        if isinstance(index, _Checkpoint):
            self.commit(index.committed_index)
