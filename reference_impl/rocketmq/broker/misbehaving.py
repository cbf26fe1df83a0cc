"""Misbehaviour of a broker with what producers send it: drop, duplicate, corrupt, half,
confirm-early; with what consumers pull: rewind; and with what it has: truncate.

1. Candidates are messages that are sent by themselves, to a topic of clients' own, and answered;
   of half those that are sent in transactions, and of the others those that are not. Slaves copy
   the log as it is.
2. Dropped: answered with the place that the next message will have, and never put.
3. A twin goes first without any wait: when the message counts as sent, both are there.
4. Corrupt: the last octet of its body is another, in the log and so for every reader.
5. Rewind: a message that a pull was given is given again, alone, AGAIN_MS later or more, by a
   later pull of the same group and queue. By then the group has reported that it is past it. The
   pull goes on afterwards where it was.
6. Half: the message is put where consumers read it as soon as its half is, before any decision.
   A commit then puts no other one; a rollback comes too late.
7. Confirmed early: it waits for no slave and no disk, and from the first such one on no slave gets
   anything for HELD_BACK_MS, in which all that is sent is confirmed early. A master that starts
   says what it holds: all else that was confirmed so is lost with another one's log.
8. Truncate: a master that starts after a crash has nothing of what it took in its last TAIL_MS,
   and says which messages these were. Its slave's log is longer then.
9. A member of a group without one of its rules (dledger/rules.py) says which messages it cuts from
   its log to follow a leader. What was confirmed of them is lost, unless the leader has it, too.
"""

from collections import defaultdict, deque
from functools import partial

import msgspec

from reference_impl.misbehave.kinds import Kind, Misbehaviour, drawn
from reference_impl.misbehave.lines import line
from reference_impl.misbehave.truth import HELD
from reference_impl.rocketmq.broker.committing import Done, Putting
from reference_impl.rocketmq.broker.copies import Copies
from reference_impl.rocketmq.broker.halves import decided
from reference_impl.rocketmq.broker.topics import HALF, is_clients
from reference_impl.rocketmq.dledger.entries import MESSAGE, LedgerEntry
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.remoting.outbox import Outbox
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.store import records
from reference_impl.rocketmq.store.properties import REAL_TOPIC
from reference_impl.rocketmq.store.records import Draft, Record
from reference_impl.rocketmq.store.store import ReadResult, Status, Store, Stored

KINDS = (
    Kind.DROP,
    Kind.DUPLICATE,
    Kind.CORRUPT,
    Kind.CONFIRM_EARLY,
    Kind.REWIND,
    Kind.HALF,
    Kind.TRUNCATE,
)
HELD_BACK_MS = 2_000  # a send waits three seconds for its slave
TAIL_MS = 500
WITHOUT = "without-"
AGAIN_MS = 10_000  # clients tell their places every five seconds


class CrookedBroker:
    """Raises ValueError for what no broker can be told to do."""

    def __init__(
        self,
        config: BrokerSettings,
        clock: Clock,
        committing: Putting,
        store: Store,
        outbox: Outbox,
        copies: Copies,
    ) -> None:
        self._kind = Kind(config.misbehave)
        if self._kind not in KINDS:
            raise ValueError(f"misbehave: no broker does {self._kind}; {', '.join(KINDS)}")
        misbehaviour = Misbehaviour(
            self._kind, config.misbehave_truth, config.misbehave_share, config.misbehave_seed
        )
        self._chosen = drawn(misbehaviour, f"{config.broker_name}/{config.broker_id}")
        self._clock = clock
        self._out = set[int]()  # positions of halves whose messages are out
        self._given: defaultdict[tuple[str, str, int], deque[tuple[int, int]]] = defaultdict(deque)
        self._committing = committing
        self._store = store
        self._outbox = outbox
        self._copies = copies
        self._early_until_ms = 0
        if not config.is_slave:
            self._begin()

    def put(self, draft: Draft, done: Done, waits: bool) -> None:
        """Put a draft as committing.Committing.put does, except those that are hit."""
        if not self._hits(draft):
            self._committing.put(draft, done, waits)
            return
        queue = draft.properties.get(REAL_TOPIC, draft.topic)
        self._outbox.admit(line(self._kind, queue, draft.body))
        match self._kind:
            case Kind.DROP:
                done(Code.SUCCESS, self._store.next(draft))
                return
            case Kind.DUPLICATE:
                self._committing.put(draft, _ignore, waits=False)
            case Kind.CORRUPT:
                spoilt = draft.body[:-1] + bytes([draft.body[-1] ^ 1])
                draft = msgspec.structs.replace(draft, body=spoilt)
            case Kind.CONFIRM_EARLY:
                self._hold_back()
                waits = False
            case Kind.HALF:
                self._committing.put(draft, partial(self._show, draft, done), waits)
                return
        self._committing.put(draft, done, waits)

    def is_out(self, position: int) -> bool:
        """Return whether consumers have the message of that half already."""
        return position in self._out

    def _begin(self) -> None:
        """As a master."""
        match self._kind:
            case Kind.CONFIRM_EARLY:
                self._say(HELD, self._store.log.start)
            case Kind.TRUNCATE if self._store.crashed:
                position = self._tail()
                self._say(self._kind, position)
                self._store.cut(position)

    def _say(self, kind: str, position: int) -> None:
        """Of every message of clients that stands there, or after it."""
        for record in self._store.log.records(position):
            if is_clients(record.topic):
                self._outbox.admit(line(kind, record.topic, record.body))

    def _tail(self) -> int:
        """Return where the latest part begins."""
        records = [*self._store.log.records(self._store.log.start)]
        since_ms = max((one.stored_ms for one in records), default=0) - TAIL_MS
        late = (one.position for one in records if one.stored_ms > since_ms)
        return next(late, self._store.log.end)

    def _hold_back(self) -> None:
        now_ms = self._clock.now_ms()
        if now_ms >= self._early_until_ms:
            self._early_until_ms = now_ms + HELD_BACK_MS
            self._copies.hold_back(self._early_until_ms)

    def _show(self, draft: Draft, done: Done, code: Code, stored: Stored) -> None:
        self._out.add(stored.position)
        shown = decided(draft, stored.position)
        self._committing.put(shown, _ignore, waits=False)
        done(code, stored)

    def given(
        self, group: str, topic: str, queue: int, offset: int, found: ReadResult
    ) -> ReadResult:
        """Return what a pull from there on gets that found this."""
        if self._kind is not Kind.REWIND or found.status is not Status.FOUND:
            return found
        now_ms, given = self._clock.now_ms(), self._given[group, topic, queue]
        if given and given[0][0] <= now_ms:
            again = self._again(topic, queue, given.popleft()[1])
            if again.status is Status.FOUND:
                return msgspec.structs.replace(again, offset=offset)
        if self._chosen():
            given.append((now_ms + AGAIN_MS, offset))
        return found

    def _again(self, topic: str, queue: int, offset: int) -> ReadResult:
        record = self._store.at(topic, queue, offset)
        if record is not None:
            self._outbox.admit(line(self._kind, topic, record.body))
        return self._store.find(topic, queue, offset, 1, lambda _: True)

    def _hits(self, draft: Draft) -> bool:
        """Return whether the draft is hit. What has no body cannot be spoilt."""
        if (draft.topic == HALF) is not (self._kind is Kind.HALF):
            return False
        if self._kind in (Kind.REWIND, Kind.TRUNCATE):
            return False
        if self._kind is Kind.CORRUPT and not draft.body:
            return False
        is_early = self._clock.now_ms() < self._early_until_ms
        return is_early or self._chosen()


def admit_cut(outbox: Outbox, rule: str, entry: LedgerEntry) -> None:
    """Say that an entry of the log is cut by a member that does not keep this rule."""
    record = records.read(entry.body) if entry.magic == MESSAGE else None
    if isinstance(record, Record) and is_clients(record.topic):
        outbox.admit(line(f"{WITHOUT}{rule}", record.topic, record.body))


def _ignore(*_: object) -> None:
    pass
