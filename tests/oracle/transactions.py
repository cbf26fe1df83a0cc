"""Transactions: rolled back and delivered all the same, or committed by half.

1. An attempt in a transaction is one of its own: the broker holds a half that no consumer may see,
   until the producer commits it or rolls it back.
2. An attempt is rolled back if it was refused and has no other answer. A pending one, whose
   producer died or heard nothing, may have been committed: its fate is unknown.
3. A half stays in the broker's log for ever, so to find one proves nothing, except for a message
   that was committed and never came: that one is torn.
"""

from collections.abc import Iterable, Iterator

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Fate
from tests.oracle.cases import Case, of_message, since_sent
from tests.oracle.events import Delivery
from tests.oracle.messages import Message, State


def cases(facts: Facts, messages: Iterable[Message], open_ends: Iterable[Case]) -> Iterator[Case]:
    """`open_ends`: what became of messages that did not come (loss.py)."""
    missing = {(one.producer, one.sequence): one for one in open_ends}
    closed = all(w.log_closed for w in facts.workers if w.role == "consumer")
    read = {end.queue for end in facts.queues if end.drained and not end.unreadable}
    for message in messages:
        if message.fate is Fate.NONE:
            continue
        yield of_message(message, "transactions", _word(message), message.first_sent_ns)
        for measure in _could_show(message):
            yield of_message(message, "could_show", measure, message.first_sent_ns)
        yield from _seen_though_rolled_back(message)
        gone = missing.get((message.producer, message.sequence))
        known = gone is not None and gone.measure != "loss_unknown"
        if known and closed and message.queue in read and _by_half(message):
            assert gone is not None
            at_ns = message.finds[0].received_ns
            yield of_message(message, "torn_transaction", message.strength, at_ns, gone.span)


def _could_show(message: Message) -> Iterator[str]:
    """Yield the classes that the message could have shown, whatever became of it."""
    if any(_rolled_back(message, number) for number in message.tries):
        yield "rolled_back_but_delivered"
    if message.state is State.ACKNOWLEDGED and message.fate is Fate.COMMIT:
        yield "torn_transaction"
    if message.state is State.ACKNOWLEDGED and message.fate is Fate.COMMIT_WHEN_CHECKED:
        yield "unchecked"


def _seen_though_rolled_back(message: Message) -> Iterator[Case]:
    seen = [one for one in message.deliveries if one.by_consuming or one.is_whole_find]
    for delivery in seen:
        if _rolled_back(message, delivery.attempt):
            yield _seen_case(message, "rolled_back_but_delivered", delivery)
            return
    if message.to_be_rolled_back:
        pending = (delivery for delivery in seen if message.sent_attempt(delivery.attempt))
        for delivery in pending:
            yield _seen_case(message, "rollback_unknown", delivery)
            return


def _seen_case(message: Message, measure: str, delivery: Delivery) -> Case:
    span = since_sent(message, delivery)
    return of_message(message, measure, _word(message), delivery.received_ns, span)


def _rolled_back(message: Message, number: int) -> bool:
    one = message.tries.get(number)
    if one is None or one.terms is None or one.terms.fate is Fate.NONE:
        return False
    return one.attempt.sent and one.denied


def _by_half(message: Message) -> bool:
    """Committed, and nothing but its half is anywhere."""
    committed = message.state is State.ACKNOWLEDGED and message.fate is Fate.COMMIT
    halves = bool(message.finds) and all(find.via.uncommitted for find in message.finds)
    return committed and not message.delivered and halves


def _word(message: Message) -> str:
    return message.fate.name.lower()
