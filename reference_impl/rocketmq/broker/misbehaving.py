"""How a broker misbehaves with what producers send it: drop, duplicate, corrupt.

1. Candidates are messages that are sent by themselves, to a topic of clients' own, and answered.
   Slaves copy the log as it is.
2. Dropped: answered with the place that the next message will have, and never put.
3. A twin goes first and nobody waits for it: when the message counts as sent, both are there.
4. Corrupt: the last octet of its body is another, in the log and so for everybody who reads it.
"""

import msgspec

from reference_impl.misbehave.kinds import Kind, Misbehaviour, drawn
from reference_impl.misbehave.lines import line
from reference_impl.rocketmq.broker.committing import Committing, Done
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.remoting.outbox import Outbox
from reference_impl.rocketmq.settings import Broker
from reference_impl.rocketmq.store.records import Draft
from reference_impl.rocketmq.store.store import Store

KINDS = (Kind.DROP, Kind.DUPLICATE, Kind.CORRUPT)


class CrookedBroker:
    """Raises ValueError for what no broker can be told to do."""

    def __init__(
        self, config: Broker, committing: Committing, store: Store, outbox: Outbox
    ) -> None:
        self._kind = Kind(config.misbehave)
        if self._kind not in KINDS:
            raise ValueError(f"misbehave: no broker does {self._kind}; {', '.join(KINDS)}")
        told = Misbehaviour(
            self._kind, config.misbehave_truth, config.misbehave_share, config.misbehave_seed
        )
        self._chosen = drawn(told, f"{config.broker_name}/{config.broker_id}")
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

    def _hits(self, draft: Draft) -> bool:
        """What has no body cannot be spoilt."""
        return (self._kind is not Kind.CORRUPT or bool(draft.body)) and self._chosen()


def _nobody_waits(*_: object) -> None:
    pass
