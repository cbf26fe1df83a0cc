"""Occasions for a master to synchronise mirrors (docs/behaviour/rabbitmq.md 3.5, items 27, 28);
sync.py does it.

1. On an operator's request, all that are behind; by itself, where policy says so, as soon as one
   is behind that it has not tried yet.
2. One synchronisation at a time. A mirror that answers after it was given up gets a notice.
"""

from reference_impl.metadata import governing
from reference_impl.metadata.tables import Queue
from reference_impl.mirrored.messages import SyncDone, SyncReady, SyncStart, SyncTaken
from reference_impl.mirrored.replica import BrokerReplica
from reference_impl.mirrored.sync import Syncer, batches
from reference_impl.pid import Pid
from reference_impl.process import Effect, Send


class Synchronising:
    def __init__(self, replica: BrokerReplica) -> None:
        self._replica = replica
        self._syncer: Syncer | None = None
        self._references = 0
        self._tried: set[Pid] = set()  # by itself

    @property
    def is_on(self) -> bool:
        return self._syncer is not None

    @property
    def sent(self) -> int | None:
        """Messages, while it is on."""
        return None if self._syncer is None else self._syncer.sent

    def offer(self) -> list[Effect]:
        """Begins if policy wants it and a mirror is behind."""
        record = self._replica.record
        tables = self._replica.world.tables
        if record is None or not governing.synchronises_by_itself(tables, record):
            self._tried.clear()
            return []
        if self._tried.issuperset(self._behind(record)):
            return []
        return self.start()

    def start(self) -> list[Effect]:
        replica, record = self._replica, self._replica.record
        mirrors = () if record is None else self._behind(record)
        if record is None or not mirrors or self._syncer is not None:
            return []
        self._tried.update(mirrors)
        self._references += 1
        size = governing.sync_batch(replica.world.tables, record)
        self._syncer = Syncer(self._references, mirrors, batches(replica.backing.all(), size))
        replica.ring.broadcast(SyncStart(self._references, mirrors))
        return [*replica.ring.flush(), *self._syncer.watches()]

    def ready(self, event: SyncReady) -> list[Effect]:
        if self._syncer is None or self._syncer.reference != event.reference:
            return [Send(event.mirror, SyncDone(event.reference, False))]
        return self._until_over(self._syncer.ready(event))

    def taken(self, event: SyncTaken) -> list[Effect]:
        return [] if self._syncer is None else self._until_over(self._syncer.taken(event))

    def gone(self, mirror: Pid) -> list[Effect]:
        return [] if self._syncer is None else self._until_over(self._syncer.gone(mirror))

    def cancel(self) -> list[Effect]:
        return [] if self._syncer is None else self._until_over(self._syncer.cancel())

    def _until_over(self, effects: list[Effect]) -> list[Effect]:
        if self._syncer is not None and self._syncer.over:
            self._syncer = None
        return effects

    def _behind(self, record: Queue) -> tuple[Pid, ...]:
        members = self._replica.ring.members
        return tuple(
            pid for pid in record.mirrors if pid not in record.synchronised and pid in members
        )
