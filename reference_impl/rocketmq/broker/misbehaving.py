"""How a broker misbehaves with what producers send it: drop, duplicate, corrupt; and with what
consumers pull: rewind.

1. Candidates are messages that are sent by themselves, to a topic of clients' own, and answered.
   Slaves copy the log as it is.
2. Dropped: answered with the place that the next message will have, and never put.
3. A twin goes first and nobody waits for it: when the message counts as sent, both are there.
4. Corrupt: the last octet of its body is another, in the log and so for everybody who reads it.
5. Rewind: a message that a pull was given is given once more, alone, AGAIN_MS later or more, by a
   later pull of the same group and queue. By then the group has told that it is past it. Where
   that pull goes on afterwards is where it was.
"""

from collections import defaultdict, deque

import msgspec

from reference_impl.misbehave.kinds import Kind, Misbehaviour, drawn
from reference_impl.misbehave.lines import line
from reference_impl.rocketmq.broker.committing import Committing, Done
from reference_impl.rocketmq.effects import Clock
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.remoting.outbox import Outbox
from reference_impl.rocketmq.settings import Broker
from reference_impl.rocketmq.store.records import Draft
from reference_impl.rocketmq.store.store import Found, Status, Store

KINDS = (Kind.DROP, Kind.DUPLICATE, Kind.CORRUPT, Kind.REWIND)
AGAIN_MS = 10_000  # clients tell their places every five seconds


class CrookedBroker:
    """Raises ValueError for what no broker can be told to do."""

    def __init__(
        self, config: Broker, clock: Clock, committing: Committing, store: Store, outbox: Outbox
    ) -> None:
        self._kind = Kind(config.misbehave)
        if self._kind not in KINDS:
            raise ValueError(f"misbehave: no broker does {self._kind}; {', '.join(KINDS)}")
        told = Misbehaviour(
            self._kind, config.misbehave_truth, config.misbehave_share, config.misbehave_seed
        )
        self._chosen = drawn(told, f"{config.broker_name}/{config.broker_id}")
        self._clock = clock
        self._given: defaultdict[tuple[str, str, int], deque[tuple[int, int]]] = defaultdict(deque)
        self._committing = committing
        self._store = store
        self._outbox = outbox

    def put(self, draft: Draft, done: Done, waits: bool) -> None:
        """As committing.Committing.put, but for those that are hit."""
        if not self._hits(draft):
            self._committing.put(draft, done, waits)
            return
        self._outbox.admit(line(self._kind, draft.topic, draft.body))
        match self._kind:
            case Kind.DROP:
                done(Code.SUCCESS, self._store.next(draft))
                return
            case Kind.DUPLICATE:
                self._committing.put(draft, _nobody_waits, waits=False)
            case Kind.CORRUPT:
                spoilt = draft.body[:-1] + bytes([draft.body[-1] ^ 1])
                draft = msgspec.structs.replace(draft, body=spoilt)
        self._committing.put(draft, done, waits)

    def given(self, group: str, topic: str, queue: int, offset: int, found: Found) -> Found:
        """What a pull from there on gets, which found that."""
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

    def _again(self, topic: str, queue: int, offset: int) -> Found:
        record = self._store.at(topic, queue, offset)
        if record is not None:
            self._outbox.admit(line(self._kind, topic, record.body))
        return self._store.find(topic, queue, offset, 1, lambda _: True)

    def _hits(self, draft: Draft) -> bool:
        """What has no body cannot be spoilt."""
        if self._kind is Kind.REWIND or (self._kind is Kind.CORRUPT and not draft.body):
            return False
        return self._chosen()


def _nobody_waits(*_: object) -> None:
    pass
