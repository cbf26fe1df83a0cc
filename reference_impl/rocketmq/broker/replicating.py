"""The moment when a message counts as sent in a DLedger group
(docs/behaviour/rocketmq-elections.md 1), and where a control node decides who is master
(docs/behaviour/rocketmq-ctgmq.md 1).

1. It does when a majority has it, and readers see it no sooner. WAIT=false changes nothing.
2. If no majority has it in time, or too many wait, the answer is SYSTEM_ERROR, which clients send
   again: the first may be committed all the same. The real one never answers what its leader left
   behind; this one does, when the time is over.
3. With a control node it does when every member of the SyncStateSet has it; else the answer is
   SERVICE_NOT_AVAILABLE.
"""

from reference_impl.rocketmq.broker.committing import Done
from reference_impl.rocketmq.ctgmq.replica import BrokerReplica
from reference_impl.rocketmq.dledger.member import DledgerMember
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.store.records import Draft
from reference_impl.rocketmq.store.store import Store, Stored

BUSY = "[PC_SYNCHRONIZED]broker busy, start flow control for a while"
_NOWHERE = Stored(0, 0, 0, 0)


class Replicating:
    """committing.Putting."""

    wants_flush = False

    def __init__(self, store: Store, member: DledgerMember, clock: Clock) -> None:
        self._store = store
        self._member = member
        self._clock = clock

    def put(self, draft: Draft, done: Done, waits: bool = True) -> None:  # noqa: ARG002
        if not self._member.takes_more:
            done(Code.SYSTEM_ERROR, _NOWHERE)
            return
        stored = self._store.put(draft, self._clock.wall_ms())

        def settled(is_committed: bool) -> None:
            done(Code.SUCCESS if is_committed else Code.SYSTEM_ERROR, stored)

        self._member.wait(settled)

    def progress(self) -> None:
        """Do nothing: the member does."""


class Acknowledging:
    """committing.Putting."""

    wants_flush = False

    def __init__(self, store: Store, replica: BrokerReplica, clock: Clock) -> None:
        self._store = store
        self._replica = replica
        self._clock = clock

    def put(self, draft: Draft, done: Done, waits: bool = True) -> None:  # noqa: ARG002
        replica = self._replica
        if not replica.takes_puts:
            done(Code.SERVICE_NOT_AVAILABLE, _NOWHERE)
            return
        stored = self._store.put(draft, self._clock.wall_ms())
        replica.wait(stored.end, lambda is_confirmed: done(replica.code(is_confirmed), stored))

    def progress(self) -> None:
        """Do nothing: the replica does."""
