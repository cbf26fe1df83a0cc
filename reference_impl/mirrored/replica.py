"""The common parts of master and mirror: one copy of a queue, its ring, and its flushes.

1. Broadcasts, entries for the disk and confirms are collected while events are at hand; the timer
   FLUSH, of 0 ms, sends them as one. What memory has to do without goes to disk with them.
2. A mirror that becomes the master hands all of this on as it is.
"""

from reference_impl.metadata.tables import Queue
from reference_impl.mirrored.backing import Backing
from reference_impl.mirrored.confirms import Confirms, Crediting
from reference_impl.mirrored.gm import Ring
from reference_impl.mirrored.journal import Journal
from reference_impl.mirrored.terms import QueueTerms
from reference_impl.misbehave.kinds import Misbehaviour
from reference_impl.pid import Pid
from reference_impl.process import NORMAL, SHUTDOWN, Arm, Effect, Pressed, World

FLUSH = "flush"


class BrokerReplica:
    """The copy of a queue that one process holds."""

    def __init__(
        self,
        pid: Pid,
        world: World,
        queue: str,
        *,
        durable: bool,
        founder: bool,
        misbehaviour: Misbehaviour | None = None,
    ) -> None:
        self.pid = pid
        self.world = world
        self.queue = queue
        self.journal = Journal(queue, durable)
        self.backing = Backing(queue, self.journal, QueueTerms(world, queue), world)
        self.confirms = Confirms(queue, pid)
        self.ring = Ring(pid, queue, world, founder=founder)
        self.crediting = Crediting(pid)
        self.misbehaviour = misbehaviour
        self._armed = False
        self._held = False

    @property
    def record(self) -> Queue | None:
        return self.world.tables.queues.get(self.queue)

    def arm(self, out: list[Effect]) -> None:
        """Asks for FLUSH if there is anything to send."""
        if self._armed:
            return
        unsent = self.ring.unsent() is not None or self.journal.has_entries or self.confirms
        if unsent or self.backing.is_too_long:
            self._armed = True
            out.append(Arm(FLUSH, 0))

    def pressed(self, _: Pressed) -> None:
        self.backing.may_keep(self.world.memory_lasts_s())

    def hold(self) -> bool:
        """Sends nothing before the next FLUSH, which the caller arms; False where that is so."""
        if self._held:
            return False
        self._held = self._armed = True
        return True

    def flush(self) -> list[Effect]:
        self._armed = self._held = False
        self.backing.page_out()
        return [*self.ring.flush(), *self.journal.flush(), *self.confirms.take()]

    def reason_to_end(self) -> str:
        """For one that the records do not list any more."""
        return NORMAL if self.record is None else SHUTDOWN
