"""A broker's messages: put, found, and found again after a crash.

1. A message gets its place in the log, its offset in its queue and its time at once, in the order
   in which messages come. Readers see it from then on: none waits for a disk or a slave
   before it may read what others wait for. In a ledger they see it when it is committed
   (`MessageLog.shows_at_once`).
2. What is half of a transaction, or was rolled back, is in the log and in no queue.
3. After a crash the log is read again from the third file from its end, cut where it is damaged,
   and queues get what they lack, or lose what is no longer there.
"""

from collections.abc import Callable, Iterator
from enum import Enum

import msgspec

from reference_impl.rocketmq.store.disk import Disk
from reference_impl.rocketmq.store.log import FOLDER as LOG
from reference_impl.rocketmq.store.log import CommitLog, MessageLog
from reference_impl.rocketmq.store.properties import TAGS, tags_code
from reference_impl.rocketmq.store.queues import FILE_OCTETS as QUEUE_FILE_OCTETS
from reference_impl.rocketmq.store.queues import IndexEntry, Queue, Queues
from reference_impl.rocketmq.store.records import (
    PREPARED,
    ROLLED_BACK,
    TRANSACTION_BITS,
    Draft,
    Record,
)

FILE_OCTETS = 1 << 30  # mappedFileSizeCommitLog
AT_ONCE_OCTETS, AT_ONCE_MESSAGES = 256 * 1024, 32  # of what is in memory
_ABORT = "abort"
_LOOKED_AT_MIN, _LOOKED_AT_EACH = 800, 20  # entries that one search passes over


class Status(Enum):
    FOUND = "found"
    NO_MATCH = "none of them is wanted"
    NO_QUEUE = "there is no queue"
    EMPTY = "nothing was ever there"
    TOO_SMALL = "it was removed"
    AT_END = "the next one"
    PAST_END = "past the next one"


class ReadResult(msgspec.Struct, frozen=True):
    """`offset`: where to go on. `octets`: the records as they stand in the log."""

    status: Status
    offset: int
    least: int
    end: int
    octets: bytes = b""
    messages: int = 0


class Stored(msgspec.Struct, frozen=True):
    """The place of a message. `end`: where it ends in the log."""

    position: int
    offset: int
    end: int
    stored_ms: int


Wanted = Callable[[int], bool]  # by the number of its tags
TagsCode = Callable[[Draft, int], int]  # of a message, and when it was stored


def by_tags(draft: Draft, stored_ms: int) -> int:  # noqa: ARG001  (a delayed one needs it)
    return tags_code(draft.properties.get(TAGS))


class Store:
    """`code_of`: what stands in a queue for a message's tags. `log`: None: one of its own."""

    def __init__(
        self,
        disk: Disk,
        code_of: TagsCode = by_tags,
        file_octets: int = FILE_OCTETS,
        queue_file_octets: int = QUEUE_FILE_OCTETS,
        log: MessageLog | None = None,
    ) -> None:
        self._disk = disk
        self._code_of = code_of
        self.log: MessageLog = log or CommitLog(disk.series(LOG, file_octets))
        self._given: dict[tuple[str, int], int] = {}  # next offsets, where a log shows later
        self.queues = Queues(disk, queue_file_octets)
        self._recover()

    @property
    def crashed(self) -> bool:
        """Return whether the store was not closed before it was opened."""
        return self._crashed

    def put(self, draft: Draft, now_ms: int) -> Stored:
        if not self.log.shows_at_once:
            return self._put_ahead(draft, now_ms)
        queue = self.queues.of(draft.topic, draft.queue) if _is_listed(draft) else None
        offset = 0 if queue is None else queue.end
        position, octets = self.log.append(draft, offset, now_ms)
        if queue is not None:
            queue.put(offset, IndexEntry(position, octets, self._code_of(draft, now_ms)))
        self._listed_to = position + octets
        return Stored(position, offset, self._listed_to, now_ms)

    def forget_given(self) -> None:
        """Give offsets from where the queues end: all that was put before is in them, or never
        will be."""
        self._given.clear()

    def next(self, draft: Draft) -> Stored:
        """Return where the next message of its queue will be."""
        return Stored(self.log.end, self.ends(draft.topic, draft.queue)[1], self.log.end, 0)

    def copied(self) -> Iterator[Record]:
        """Yield what the log brought since the last call: queues know it then."""
        for record in self.log.records(max(self._listed_to, self.log.start)):
            self._list(record)
            self._listed_to = record.position + record.octets
            yield record

    def find(self, topic: str, number: int, offset: int, most: int, wanted: Wanted) -> ReadResult:
        """Messages from an offset on, as one answer may have them (5: 32 of them, 256 KiB)."""
        queue = self.queues.get(topic, number)
        if queue is None:
            return ReadResult(Status.NO_QUEUE, 0, 0, 0)
        least, end = queue.start, queue.end
        if end == 0:
            return ReadResult(Status.EMPTY, 0, 0, 0)
        if offset < least:
            return ReadResult(Status.TOO_SMALL, least, least, end)
        if offset >= end:
            status = Status.AT_END if offset == end else Status.PAST_END
            return ReadResult(status, end, least, end)
        return self._collect(queue, offset, most, wanted)

    def record(self, position: int) -> Record | None:
        found = self.log.record(position)
        return found if isinstance(found, Record) else None

    def at(self, topic: str, number: int, offset: int) -> Record | None:
        """The message of an offset."""
        queue = self.queues.get(topic, number)
        if queue is None or not queue.start <= offset < queue.end:
            return None
        return self.record(queue.entry(offset).position)

    def ends(self, topic: str, number: int) -> tuple[int, int]:
        """Its least offset, and the next one."""
        queue = self.queues.get(topic, number)
        return (0, 0) if queue is None else (queue.start, queue.end)

    def offset_at(self, topic: str, number: int, time_ms: int) -> int:
        """Of the first message that was stored at that time or later; the next one where there is
        none."""
        queue = self.queues.get(topic, number)
        if queue is None:
            return 0
        low, high = queue.start, queue.end
        while low < high:
            middle = (low + high) // 2
            record = self.record(queue.entry(middle).position)
            if record is not None and record.stored_ms < time_ms:
                low = middle + 1
            else:
                high = middle
        return low

    def drop(self, topic: str) -> None:
        self.queues.drop(topic)
        for key in [key for key in self._given if key[0] == topic]:
            del self._given[key]

    def cut(self, position: int) -> None:
        """Remove what stands there in the log, and after it."""
        self.log.truncate(position)
        for queue in self.queues.all():
            queue.cut(position)
        self._listed_to = min(self._listed_to, position)

    def flush(self) -> None:
        self.log.flush()

    def close(self) -> None:
        self.flush()
        for queue in self.queues.all():
            queue.flush()
        self._disk.forget(_ABORT)

    def _collect(self, queue: Queue, offset: int, most: int, wanted: Wanted) -> ReadResult:
        parts, octets, passed = list[bytes](), 0, 0
        looked_at_max = max(_LOOKED_AT_MIN, most * _LOOKED_AT_EACH)
        for entry in queue.entries(offset):
            if passed >= looked_at_max or _is_full(parts, octets, entry.octets, most):
                break
            passed += 1
            if wanted(entry.tags_code):
                part = self.log.octets(entry.position, entry.octets)
                if len(part) == entry.octets:
                    parts.append(part)
                    octets += len(part)
        status = Status.FOUND if parts else Status.NO_MATCH
        content = b"".join(parts)
        return ReadResult(status, offset + passed, queue.start, queue.end, content, len(parts))

    def _put_ahead(self, draft: Draft, now_ms: int) -> Stored:
        """Put a message that readers see later."""
        key = draft.topic, draft.queue
        offset = 0
        if _is_listed(draft):
            offset = self._given.get(key, self.ends(*key)[1])
            self._given[key] = offset + 1
        position, octets = self.log.append(draft, offset, now_ms)
        return Stored(position, offset, position + octets, now_ms)

    def _list(self, record: Record) -> None:
        if _is_listed(record):
            code = self._code_of(record, record.stored_ms)
            queue = self.queues.of(record.topic, record.queue)
            queue.put(record.offset, IndexEntry(record.position, record.octets, code))

    def _recover(self) -> None:
        self._crashed = self._disk.document(_ABORT) is not None
        self.log.recover()
        for queue in self.queues.all():
            queue.cut(self.log.end)
        self._listed_to = min(self.queues.reaches(), self.log.end)
        for _ in self.copied():
            pass
        self._disk.keep(_ABORT, b"")


def _is_listed(draft: Draft) -> bool:
    return draft.sys_flag & TRANSACTION_BITS not in (PREPARED, ROLLED_BACK)


def _is_full(parts: list[bytes], octets: int, more: int, most: int) -> bool:
    if not parts:
        return False
    return len(parts) >= min(most, AT_ONCE_MESSAGES) or octets + more > AT_ONCE_OCTETS
