"""Messages that have to wait (docs/behaviour/rocketmq.md 4.5).

1. A level has a queue of its own under SCHEDULE_TOPIC_XXXX: within one all wait for as long, so
   that the first one is due first. What stands there for the tags is when it is due.
2. One that is due is put into its real queue, and the level goes on behind it. How far each level
   is stands on the disk as of the last flush: what was put since is put again after a crash.
   In a DLedger group it goes on when the message counts as sent; else it is put again.
3. Only a master does so.
"""

from functools import partial

import msgspec

from reference_impl.rocketmq.broker.levels import LEVELS_S
from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.topics import SCHEDULED
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.settings import BrokerTimes
from reference_impl.rocketmq.store.properties import REAL_QUEUE, REAL_TOPIC
from reference_impl.rocketmq.store.records import Draft, Record

_DOCUMENT = "config/delayOffset.json"
AT_ONCE = 100  # of a level in one turn: others have to come to their turn, too


class DelayProgress(msgspec.Struct, rename="camel"):
    """By level, the offset in its queue that comes next."""

    offset_table: dict[str, int] = {}


class Delays:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._times: BrokerTimes = parts.config.times
        self._next: dict[int, int] = {}
        self._put: dict[int, int] = {}  # the same of what was put, which may not count yet
        kept = parts.disk.document(_DOCUMENT)
        if kept is not None:
            self.copy(kept)
        self._at_ms = parts.clock.now_ms() + self._times.delay_first

    def copy(self, document: bytes) -> None:
        """Copy the progress of a slave's master. Raises one of fields.UNREADABLE."""
        progress = msgspec.json.decode(document, type=DelayProgress)
        self._next = {int(level): offset for level, offset in progress.offset_table.items()}
        self._put.clear()

    def begin(self) -> None:
        """Go on as a new leader: what was put and did not count is put again."""
        self._put.clear()

    def flush(self) -> None:
        self._parts.disk.keep(_DOCUMENT, self.progress())

    def progress(self) -> bytes:
        offsets = {str(level): offset for level, offset in sorted(self._next.items())}
        return msgspec.json.encode(DelayProgress(offsets))

    def tick(self) -> None:
        now_ms = self._parts.clock.now_ms()
        if now_ms < self._at_ms or self._parts.role.is_slave:
            return
        self._at_ms = now_ms + self._times.delay_idle
        for level in range(1, len(LEVELS_S) + 1):
            self._put_what_is_due(level)

    def _put_what_is_due(self, level: int) -> None:
        queue = self._parts.store.queues.get(SCHEDULED, level - 1)
        if queue is None:
            return
        wall_ms, done = self._parts.clock.wall_ms(), self._next.get(level, 0)
        offset = max(done, self._put.get(level, 0))
        last_ms = wall_ms + LEVELS_S[level - 1] * self._times.delay_units
        for entry in queue.entries(max(offset, queue.start)):
            # After a clock was set back, a message waits no longer than its level's time.
            if wall_ms < entry.tags_code <= last_ms or offset - done >= AT_ONCE:
                break
            offset += 1
            self._put[level] = offset
            record = self._parts.store.record(entry.position)
            counted = partial(self._counted, level, offset)
            if record is not None:
                self._parts.committing.put(_real(record), counted, waits=False)
            else:
                counted(Code.SUCCESS)
            if self._put[level] != offset:
                break

    def _counted(self, level: int, offset: int, code: Code, *_: object) -> None:
        """What was put counts as sent, or has to be put again."""
        if code is Code.SUCCESS:
            self._next[level] = max(offset, self._next.get(level, 0))
        else:
            self._put[level] = self._next.get(level, 0)


def _real(record: Record) -> Draft:
    """As it was sent, with the traces of its wait."""
    props = record.properties
    return Draft(
        topic=props.get(REAL_TOPIC, record.topic),
        queue=int(props.get(REAL_QUEUE, "0")),
        flag=record.flag,
        sys_flag=record.sys_flag,
        born_ms=record.born_ms,
        born_host=record.born_host,
        store_host=record.store_host,
        body=record.body,
        props_text=record.props_text,
        reconsumed=record.reconsumed,
        prepared=record.prepared,
    )
