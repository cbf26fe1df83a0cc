"""A replica's log as the log of a broker's messages: store.log.MessageLog.

Readers see what every member of the SyncStateSet has, and nothing behind it.
"""

from collections.abc import Iterator

from reference_impl.rocketmq.ctgmq.replica import BrokerReplica
from reference_impl.rocketmq.store import records
from reference_impl.rocketmq.store.log import CommitLog
from reference_impl.rocketmq.store.records import Bad, Blank, Draft, Record

_HEAD_OCTETS = 8


class ReplicaLog:
    """`end`: of what readers see."""

    shows_at_once = False

    def __init__(self, log: CommitLog, replica: BrokerReplica) -> None:
        self._log = log
        self._replica = replica

    @property
    def start(self) -> int:
        return self._log.start

    @property
    def end(self) -> int:
        return self._replica.visible

    @property
    def flushed(self) -> int:
        return self._log.flushed

    def append(self, draft: Draft, offset: int, stored_ms: int) -> tuple[int, int]:
        return self._log.append(draft, offset, stored_ms)

    def octets(self, position: int, count: int) -> bytes:
        return self._log.octets(position, max(0, min(count, self.end - position)))

    def raw(self, position: int) -> bytes:
        return self.octets(position, records.size_at(self.octets(position, _HEAD_OCTETS)))

    def record(self, position: int) -> Record | Blank | Bad:
        octets = self.raw(position)
        return records.read(octets) if octets else Bad("nothing is there")

    def records(self, position: int) -> Iterator[Record]:
        for record in self._log.records(position):
            if record.position + record.octets > self.end:
                return
            yield record

    def flush(self) -> None:
        self._log.flush()

    def recover(self) -> None:
        """Do nothing: the log was recovered before its replica began."""

    def truncate(self, position: int) -> None:
        self._log.truncate(position)
