"""Logs that end early: what a publisher's or a consumer's missing records may hide. Each history
stands beside one with closed logs, or with nothing hidden. What must be said follows from
docs/verdicts.md, by the argument of each story."""

import pytest

from spark_analysis.schema.words import Outcome, Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    CONSUMED,
    COPY,
    DELIVERED,
    EARLY,
    HELD,
    MISROUTED,
    ONE_COPY,
    OVERDUE,
    REFUSED,
    REQUEUED,
    ROLLED_BACK,
    UNACKED,
    UNEXPECTED,
)
from tests.rigs.histories.sketches import Sketch, SketchCase, SketchCases, calm, failover

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_with_an_open_log_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def unrecorded(sketch: Sketch, sequence: int) -> Sketch:
    """The publisher died, and this attempt is not on record."""
    sketch.history.log_open(PUBLISHER)
    del sketch.sent[PUBLISHER, sequence, 1]
    return sketch


# --- a publisher's log ---------------------------------------------------------------------------


@case(passes=f"{ACKED} {ONE_COPY} {HELD}", unknown=f"{UNEXPECTED} {REFUSED}")
def the_publisher_died_and_everything_is_on_record() -> Sketch:
    sketch = calm()
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(not_applicable=f"{REFUSED} {EARLY} {ROLLED_BACK}")
def nothing_was_refused_or_delayed_or_in_a_transaction() -> Sketch:
    return calm()


@case(unknown=f"{REFUSED} {EARLY} {ROLLED_BACK}")
def the_publisher_died_and_may_have_sent_more_than_is_on_record() -> Sketch:
    """One of those may have been refused, delayed, or rolled back."""
    sketch = calm()
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(unknown=REFUSED, not_applicable=f"{EARLY} {ROLLED_BACK}")
def the_publisher_died_and_none_was_to_be_delayed_or_in_a_transaction() -> Sketch:
    sketch = calm()
    sketch.history.log_open(PUBLISHER)
    none = ("delayed_messages", "messages_in_transactions", "messages_to_commit")
    sketch.declared |= dict.fromkeys((*none, "messages_to_check"), 0)
    return sketch


def acknowledged_and_again() -> Sketch:
    sketch = calm()
    sketch.deliver(250, 28_000, again=True)
    return sketch


@case(ACKED)
def acknowledged_and_again_and_its_sending_is_on_record() -> Sketch:
    sketch = acknowledged_and_again()
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(unknown=f"{ACKED} {ONE_COPY} {HELD}", unrecorded=2)
def acknowledged_and_again_and_its_sending_is_not_on_record() -> Sketch:
    """No attempt is on record, so nothing shows whether the publisher sent it again."""
    return unrecorded(acknowledged_and_again(), 250)


def in_two_queues() -> Sketch:
    sketch = calm()
    sketch.history.queue("payments")
    return sketch


@case(MISROUTED, misrouted=1)
def in_a_wrong_queue() -> Sketch:
    sketch = in_two_queues()
    sketch.first(250).named["queue"] = "payments"
    return sketch


@case(unknown=MISROUTED, misrouted=0)
def in_a_queue_and_its_sending_is_not_on_record() -> Sketch:
    return unrecorded(in_a_wrong_queue(), 250)


@case(passes=MISROUTED)
def in_the_right_queues_and_the_publisher_died() -> Sketch:
    sketch = in_two_queues()
    sketch.history.log_open(PUBLISHER)
    return sketch


def refused() -> Sketch:
    """Message 100 was refused, and did not come."""
    sketch = calm()
    sketch.answer(100, Outcome.REFUSED)
    sketch.lose(100)
    return sketch


@case(passes=REFUSED)
def refused_and_gone_and_the_publisher_died() -> Sketch:
    sketch = refused()
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(unknown=REFUSED, revived=1)
def another_came_whose_answer_is_not_on_record() -> Sketch:
    """The broker may have refused it, too."""
    sketch = refused_and_gone_and_the_publisher_died()
    sketch.sent[PUBLISHER, 299, 1].settled_ms = None
    return sketch


@case(passes=REFUSED, revived=1)
def another_came_that_had_no_answer() -> Sketch:
    sketch = refused()
    sketch.sent[PUBLISHER, 299, 1].settled_ms = None
    return sketch


def sent_again() -> Sketch:
    """Message 250 is sent again, and only its second attempt comes. The first has no answer."""
    sketch = calm()
    sketch.sent[PUBLISHER, 250, 1].settled_ms = None
    sketch.lose(250)
    sketch.send(250, 26_000, attempt=2)
    sketch.deliver(250, 26_010, attempt=2)
    return sketch


@case(passes=COPY)
def the_first_attempt_had_no_answer() -> Sketch:
    return sent_again()


@case(unknown=COPY)
def the_answer_to_the_first_attempt_is_not_on_record() -> Sketch:
    sketch = sent_again()
    sketch.history.log_open(PUBLISHER)
    return sketch


def delayed(came_ms: float) -> Sketch:
    """All but the last messages are delayed by a second; message 250 comes then."""
    sketch = calm()
    sketch.history.queue(quiet_ms=60_000)
    sketch.declared["delayed_messages"] = 280
    for sequence in range(280):
        sketch.first(sequence).move(sequence * 100 + 1_060)
    sketch.first(250).move(came_ms)
    return sketch


def with_terms(sketch: Sketch) -> Sketch:
    """Say of each message when it is due."""
    for sequence in range(280):
        sketch.history.terms(sequence, due_ms=sequence * 100 + 1_050)
    return sketch


@case(OVERDUE, overdue=1)
def confirmed_and_overdue() -> Sketch:
    return with_terms(delayed(29_000))


@case(unknown=OVERDUE, overdue=0)
def overdue_if_it_was_confirmed() -> Sketch:
    sketch = with_terms(delayed(29_000))
    sketch.sent[PUBLISHER, 250, 1].settled_ms = None
    sketch.history.log_open(PUBLISHER)
    return sketch


def held_at_the_failover() -> Sketch:
    """Message 148 was held and came again; message 149 was held and did not."""
    sketch = failover()
    sketch.forget_to_acknowledge(148, 149)
    sketch.deliver(148, 16_000, again=True, connection=2)
    return sketch


@case(f"{UNACKED} {REQUEUED}", not_redelivered=1)
def held_and_not_again() -> Sketch:
    return held_at_the_failover()


@case(unknown=f"{UNACKED} {REQUEUED}", not_redelivered=0)
def held_and_not_again_and_its_sending_is_not_on_record() -> Sketch:
    return unrecorded(held_at_the_failover(), 149)


@case(unknown=REQUEUED)
def came_again_and_its_sending_is_not_on_record() -> Sketch:
    """The only redelivery is of a message that no log shows."""
    sketch = held_at_the_failover()
    sketch.deliver(149, 16_001, again=True, connection=2)
    for sequence in (148, 149):
        unrecorded(sketch, sequence)
    return sketch


# --- a consumer's log ----------------------------------------------------------------------------


def until_twenty_seconds() -> Sketch:
    """Nothing that came later is on record."""
    sketch = calm()
    sketch.lose(*range(200, 300))
    sketch.history.log_open(CONSUMER)
    return sketch


@case(unknown=f"{CONSUMED} {DELIVERED}", loss_unknown=100)
def nothing_is_on_record_after_twenty_seconds() -> Sketch:
    """The missing messages may have waited for any time."""
    return until_twenty_seconds()


@case(unknown=CONSUMED, stranded=100, loss_unknown=0)
def the_audit_finds_all_that_is_not_on_record() -> Sketch:
    """As it does in a log, which keeps what was consumed, whenever that was."""
    sketch = until_twenty_seconds()
    for sequence in range(200, 300):
        sketch.deliver(sequence, 40_000 + sequence, via=Via.AUDIT)
    return sketch


@case(passes=f"{CONSUMED} {DELIVERED}", loss_unknown=0)
def the_consumer_died_and_everything_came_on_record() -> Sketch:
    sketch = calm()
    sketch.history.log_open(CONSUMER)
    return sketch
