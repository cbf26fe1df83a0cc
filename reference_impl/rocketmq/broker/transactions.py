"""Transactions (docs/behaviour/rocketmq.md 4.5): hidden halves, and their outcomes.

1. A half waits in a topic of its own. Its producer commits it, which puts the message into its
   real queue, or rolls it back; either way a note of it goes into another topic.
2. An undecided half is checked at any connected producer of its group, and is put
   again behind all others; after transaction_check_max times it is given up, into a third topic.
3. Halves are looked at in the order in which they lie there, and the first that is too young ends
   the round. So what lies before `progress` was looked at, and a broker that starts reads on from
   there, without those that have a note.
4. A slave decides nothing: halves of a dead master wait for it.
"""

from collections.abc import Iterator, Mapping

import msgspec

from reference_impl.rocketmq.broker.halves import decided, draft_of
from reference_impl.rocketmq.broker.parts import Parts
from reference_impl.rocketmq.broker.topics import DECIDED, GIVEN_UP, HALF
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command, request
from reference_impl.rocketmq.remoting.serving import IncomingRequest
from reference_impl.rocketmq.store import properties
from reference_impl.rocketmq.store.properties import (
    CHECK_TIMES,
    PRODUCER_GROUP,
    REAL_QUEUE,
    REAL_TOPIC,
    TAGS,
    UNIQUE_KEY,
)
from reference_impl.rocketmq.store.records import (
    COMMITTED,
    ROLLED_BACK,
    Draft,
    Record,
    message_id,
    write,
)
from reference_impl.rocketmq.store.store import Stored

GROUP = "CID_RMQ_SYS_TRANS"  # whose offsets tell the progress
_REMOVED = "d"  # the tag of a note


class Transactions:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        parts.when_stored.append(self._stored)
        self._config = parts.config
        self._check_ms = parts.clock.now_ms() + self._config.times.transaction_check_interval
        self._pending: dict[int, int] = {}  # by offset of the half: when it was stored
        if not self._parts.role.is_slave:
            self.begin()

    def begin(self) -> None:
        """Go on as a master with what its log has."""
        self._pending = dict(self._found())

    def handle(self, incoming: IncomingRequest) -> Command | None:
        if self._parts.role.is_slave:
            remark = "It is a slave, and decides nothing"
            return incoming.answer(Code.SLAVE_NOT_AVAILABLE, remark)
        decision = incoming.fields.integer("commitOrRollback")
        if decision not in (COMMITTED, ROLLED_BACK):
            return None  # its producer does not know: it is asked again
        offset, position = (
            incoming.fields.long("tranStateTableOffset"),
            incoming.fields.long("commitLogOffset"),
        )
        record = self._parts.store.record(position)
        why = _refusal(record, incoming.fields.text("producerGroup"), offset)
        if why or record is None:
            return incoming.answer(Code.SYSTEM_ERROR, why)
        crooked = self._parts.crooked
        if decision == COMMITTED and not (crooked and crooked.is_out(record.position)):
            shown = decided(draft_of(record), record.position)
            self._parts.committing.put(shown, _ignore, waits=False)
        self._note(record)
        return incoming.answer()

    def tick(self) -> None:
        now_ms, times = self._parts.clock.now_ms(), self._config.times
        if self._parts.role.is_slave or now_ms < self._check_ms:
            return
        self._check_ms = now_ms + times.transaction_check_interval
        self._parts.topics.own(HALF)  # which no consumer can read before the first time
        oldest_ms = self._parts.clock.wall_ms() - times.transaction_time_out
        for offset, stored_ms in [*self._pending.items()]:
            if stored_ms > oldest_ms:
                break
            del self._pending[offset]
            record = self._parts.store.at(HALF, 0, offset)
            if record is not None:
                self._ask_about(record)
        progress = next(iter(self._pending), self._parts.store.ends(HALF, 0)[1])
        self._parts.offsets.commit(GROUP, HALF, 0, progress)

    def _stored(self, draft: Draft, offset: int, stored_ms: int) -> None:
        if draft.topic == HALF:
            self._pending[offset] = stored_ms

    def _ask_about(self, record: Record) -> None:
        props = record.properties
        checks = _checks(props)
        if checks >= self._config.transaction_check_max:
            self._parts.topics.own(GIVEN_UP)
            self._put(msgspec.structs.replace(draft_of(record), topic=GIVEN_UP, queue=0))
            return
        props[CHECK_TIMES] = str(checks + 1)
        draft = msgspec.structs.replace(draft_of(record), props_text=properties.write(props))
        self._parts.committing.put(draft, self._put_again, waits=False)

    def _put_again(self, code: Code, stored: Stored) -> None:
        """Ask its producer about a half that was put behind all others."""
        again = self._parts.store.record(stored.position) if code is Code.SUCCESS else None
        if again is None:
            return
        group = again.properties.get(PRODUCER_GROUP, "")
        producers = self._parts.clients.producers.get(group, {})
        if producers:
            self._ask(next(iter(producers)), again)

    def _ask(self, producer: int, record: Record) -> None:
        props = record.properties
        fields = {
            "tranStateTableOffset": str(record.offset),
            "commitLogOffset": str(record.position),
            "msgId": props.get(UNIQUE_KEY, ""),
            "transactionId": props.get(UNIQUE_KEY, ""),
            "offsetMsgId": message_id(record.store_host, record.position),
        }
        real = msgspec.structs.replace(
            draft_of(record),
            topic=props.get(REAL_TOPIC, record.topic),
            queue=int(props.get(REAL_QUEUE, "0")),
        )
        body = write(real, record.offset, record.position, record.stored_ms)
        number, code = self._parts.calls.number(), RequestCode.CHECK_TRANSACTION_STATE
        self._parts.outbox.send(producer, request(code, number, fields, body, oneway=True))

    def _note(self, record: Record) -> None:
        self._pending.pop(record.offset, None)
        self._parts.topics.own(DECIDED)
        self._put(
            Draft(
                topic=DECIDED,
                queue=0,
                flag=0,
                sys_flag=0,
                born_ms=self._parts.clock.wall_ms(),
                born_host=self._parts.store_host,
                store_host=self._parts.store_host,
                body=str(record.offset).encode(),
                props_text=properties.write({TAGS: _REMOVED}),
            )
        )

    def _put(self, draft: Draft) -> None:
        self._parts.committing.put(draft, _ignore, waits=False)

    def _found(self) -> Iterator[tuple[int, int]]:
        """Halves about which nothing was decided, as the log has them."""
        store, decided = self._parts.store, set[int]()
        for offset in range(*store.ends(DECIDED, 0)):
            note = store.at(DECIDED, 0, offset)
            if note is not None and note.body.isdigit():
                decided.add(int(note.body))
        least, end = store.ends(HALF, 0)
        for offset in range(max(least, self._parts.offsets.get(GROUP, HALF, 0) or 0), end):
            half = store.at(HALF, 0, offset)
            if half is not None and offset not in decided:
                yield offset, half.stored_ms


def _refusal(record: Record | None, group: str, offset: int) -> str:
    if record is None or record.topic != HALF:
        return "Find prepared transaction message failed"
    if record.properties.get(PRODUCER_GROUP) != group:
        return "The producer group wrong"
    if record.offset != offset:
        return "The transaction state table offset wrong"
    return ""


def _checks(props: Mapping[str, str]) -> int:
    """Return how often it was checked; 0 if its producer wrote no number there."""
    try:
        return int(props.get(CHECK_TIMES, "0"))
    except ValueError:
        return 0


def _ignore(*_: object) -> None:
    pass
