"""The consume queues: of each queue of each topic, where its messages stand in the log.

1. An entry has 20 octets: position, length, number of the tags (4.3). The place of an entry is the
   message's offset; nothing else of it is kept.
2. They are made from the log, and are made again from it where they are behind.
3. In files of 300,000 entries; no entry is kept in memory.
"""

import struct
from collections.abc import Iterator

import msgspec

from reference_impl.rocketmq.store.disk import Disk, Series

FOLDER = "consumequeue"
ENTRY_OCTETS = 20
FILE_OCTETS = 300_000 * ENTRY_OCTETS  # mappedFileSizeConsumeQueue
_ENTRY = struct.Struct(">qiq")
_READ_ENTRIES = 512


class IndexEntry(msgspec.Struct, frozen=True):
    position: int
    octets: int
    tags_code: int


class Queue:
    """`end`: the offset that comes next."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self.end = self._found_end()

    @property
    def start(self) -> int:
        return self._series.first // ENTRY_OCTETS

    @property
    def reaches(self) -> int:
        """Return where in the log its last message ends; 0 if it has none."""
        if self.end == self.start:
            return 0
        last = self.entry(self.end - 1)
        return last.position + last.octets

    def put(self, offset: int, entry: IndexEntry) -> None:
        packed = _ENTRY.pack(entry.position, entry.octets, entry.tags_code)
        self._series.write(offset * ENTRY_OCTETS, packed)
        self.end = max(self.end, offset + 1)

    def entry(self, offset: int) -> IndexEntry:
        return IndexEntry(*_ENTRY.unpack(self._series.read(offset * ENTRY_OCTETS, ENTRY_OCTETS)))

    def entries(self, offset: int) -> Iterator[IndexEntry]:
        """From there to its end."""
        while offset < self.end:
            count = min(_READ_ENTRIES, self.end - offset)
            octets = self._series.read(offset * ENTRY_OCTETS, count * ENTRY_OCTETS)
            for one in _ENTRY.iter_unpack(octets):
                yield IndexEntry(*one)
            offset += len(octets) // ENTRY_OCTETS

    def cut(self, position: int) -> None:
        """Messages that stand there in the log and after are no longer of it."""
        while self.end > self.start and self.reaches > position:
            self.end -= 1
        self._series.truncate(self.end * ENTRY_OCTETS)

    def flush(self) -> None:
        self._series.flush(self._series.first, self.end * ENTRY_OCTETS)

    def _found_end(self) -> int:
        """Return the first entry of no length. Entries are written in order; those that were lost
        with the power come again from the log."""
        low, high = self.start, self._series.allocated // ENTRY_OCTETS
        while low < high:
            middle = (low + high) // 2
            if self.entry(middle).octets > 0:
                low = middle + 1
            else:
                high = middle
        return low


class Queues:
    """Of one broker, by topic and number."""

    def __init__(self, disk: Disk, file_octets: int = FILE_OCTETS) -> None:
        self._disk = disk
        self._file_octets = file_octets
        self._queues: dict[tuple[str, int], Queue] = {}
        for topic in disk.folders(FOLDER):
            for number in disk.folders(f"{FOLDER}/{topic}"):
                if number.isdecimal():
                    self.of(topic, int(number))

    def of(self, topic: str, number: int) -> Queue:
        """Made where there was none."""
        queue = self._queues.get((topic, number))
        if queue is None:
            series = self._disk.series(f"{FOLDER}/{topic}/{number}", self._file_octets)
            queue = self._queues[topic, number] = Queue(series)
        return queue

    def get(self, topic: str, number: int) -> Queue | None:
        return self._queues.get((topic, number))

    def all(self) -> list[Queue]:
        return [*self._queues.values()]

    def reaches(self) -> int:
        """Up to where the log is known to some queue."""
        return max((queue.reaches for queue in self._queues.values()), default=0)

    def drop(self, topic: str) -> None:
        for key in [key for key in self._queues if key[0] == topic]:
            del self._queues[key]
        self._disk.drop(f"{FOLDER}/{topic}")
