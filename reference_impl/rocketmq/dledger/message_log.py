"""A ledger as the log of a broker's messages: store.log.MessageLog.

1. Readers see what is committed, and nothing behind it.
2. A record is the body of an entry. Its position is that of the body.
"""

from collections.abc import Iterator

from reference_impl.rocketmq.dledger.entries import MESSAGE
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.store import records
from reference_impl.rocketmq.store.records import Bad, Blank, Draft, Record

_HEAD_OCTETS = 8


class LedgerLog:
    """`end`: of what is committed."""

    shows_at_once = False

    def __init__(self, member: DledgerMember) -> None:
        self._member = member
        self._ledger = member.ledger
        self.start = 0

    @property
    def end(self) -> int:
        return self._ledger.committed

    @property
    def flushed(self) -> int:
        return self._ledger.flushed

    def append(self, draft: Draft, offset: int, stored_ms: int) -> tuple[int, int]:
        """Append a message as the leader; return its position and its length."""

        def body_at(position: int) -> bytes:
            return records.write(draft, offset, position, stored_ms)

        entry = self._member.append(body_at)
        octets = len(entry.body)
        return entry.end - octets, octets

    def flush(self) -> None:
        self._ledger.flush()

    def octets(self, position: int, count: int) -> bytes:
        return self._ledger.octets(position, max(0, min(count, self.end - position)))

    def raw(self, position: int) -> bytes:
        return self.octets(position, records.size_at(self.octets(position, _HEAD_OCTETS)))

    def record(self, position: int) -> Record | Blank | Bad:
        octets = self.raw(position)
        return records.read(octets) if octets else Bad("nothing is there")

    def records(self, position: int) -> Iterator[Record]:
        """Yield committed messages from there on, where an entry begins or ended."""
        for entry in self._ledger.committed_from(position):
            if entry.magic == MESSAGE:
                record = records.read(entry.body)
                if isinstance(record, Record):
                    yield record

    def recover(self) -> None:
        """Do nothing: the ledger was recovered when it was opened."""

    def truncate(self, position: int) -> None:
        """Note that the ledger was cut there (store.Store.cut)."""
        assert self.end <= position, "the ledger is cut first"
