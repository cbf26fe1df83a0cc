"""Duplicates that are none, redeliveries, phantoms and answers that come true or not, in queues:
each broken history beside a healthy one that nearly looks like it. What must be said follows from
docs/verdicts.md 4.3 to 4.5, 4.8, 4.10 and 5.2, by the argument of each story."""

from typing import Any

import pytest

from spark_analysis.schema.words import Outcome, Redelivered, Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    COPY,
    CORRUPT,
    DELIVERED,
    FIFO,
    HELD,
    MISROUTED,
    ONE_COPY,
    REFUSED,
    UNACKED,
    UNEXPECTED,
)
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    failover,
    relinked,
    short,
)

UNKNOWN, CONFIRMED, RETURNED = Outcome.UNKNOWN, Outcome.CONFIRMED, Outcome.RETURNED
CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_duplicates_and_strays_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


def held(sketch: Sketch, *sequences: int) -> Sketch:
    sketch.forget_to_acknowledge(*(sequences or (60,)))
    return sketch


# --- sends of unknown outcome that turn up -------------------------------------------------------


def unanswered(*came_ms: float, settled_ms: float | None = 6_500) -> Sketch:
    """Message 60 has no good answer, and comes at these times."""
    sketch = short()
    sketch.lose(60)
    sketch.answer(60, UNKNOWN, settled_ms=settled_ms)
    for at_ms in came_ms:
        sketch.deliver(60, at_ms)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY} {UNEXPECTED}", revived=1, lost=0)
def unanswered_and_delivered() -> Sketch:
    return unanswered(6_060)


@case(passes=f"{DELIVERED} {ONE_COPY}", lost_indeterminate=1, lost=0)
def unanswered_and_nowhere() -> Sketch:
    return unanswered()


@case(ONE_COPY, revived=1, duplicated__stored_twice=1)
def unanswered_and_delivered_twice() -> Sketch:
    """It was sent once, whatever became of its confirm."""
    return unanswered(6_060, 6_062)


@case(ONE_COPY, duplicated__stored_twice=1)
def confirmed_and_delivered_twice_in_one_instant() -> Sketch:
    sketch = short()
    sketch.deliver(60, 6_060)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY}", revived=1)
def without_any_answer_and_delivered() -> Sketch:
    sketch = unanswered(6_060)
    sketch.sent[PUBLISHER, 60, 1].settled_ms = None
    return sketch


@case(DELIVERED, lost=1)
def unanswered_and_then_confirmed_and_nowhere() -> Sketch:
    """A late confirm is a confirm."""
    sketch = unanswered()
    sketch.answer(60, UNKNOWN, CONFIRMED)
    return sketch


def retried(
    first: Outcome = UNKNOWN, second: Outcome = CONFIRMED, *, came: tuple[int, ...]
) -> Sketch:
    """Message 60 has this answer at 6.25 s, and is sent again; `came`: its attempts, as they come
    from 6.26 s on."""
    sketch = short()
    sketch.send(60, 6_050, first, settled_ms=6_250)
    sketch.send(60, 6_251, second, attempt=2)
    sketch.lose(60)
    for place, attempt in enumerate(came):
        sketch.deliver(60, 6_261 + place, attempt=attempt)
    return sketch


@case(passes=f"{DELIVERED} {ONE_COPY} {ACKED}", duplicated__publisher_retry=1, revived=1)
def two_unanswered_attempts_both_come() -> Sketch:
    return retried(second=UNKNOWN, came=(1, 2))


@case(ONE_COPY, duplicated__publisher_retry=1, duplicated__stored_twice=1)
def of_two_unanswered_attempts_three_copies_come() -> Sketch:
    return retried(second=UNKNOWN, came=(1, 2, 1))


@case(DELIVERED, lost=1, attempt_lost=0)
def of_two_attempts_the_confirmed_one_is_gone_and_the_other_too() -> Sketch:
    return retried(came=())


@case(COPY, passes=f"{DELIVERED} {ONE_COPY}", attempt_lost=1)
def of_two_attempts_only_the_unanswered_one_came() -> Sketch:
    return retried(came=(1,))


@case(passes=f"{DELIVERED} {COPY} {ONE_COPY}", attempt_lost=0)
def of_two_attempts_only_the_confirmed_one_came() -> Sketch:
    return retried(came=(2,))


# --- refused and returned ------------------------------------------------------------------------


@case(REFUSED, passes=ONE_COPY, refused_but_delivered=1, duplicated__publisher_retry=1)
def the_refused_first_attempt_comes_after_its_retry() -> Sketch:
    return retried(Outcome.REFUSED, came=(2, 1))


@case(passes=f"{REFUSED} {DELIVERED}", refused_but_delivered=0)
def the_refused_first_attempt_stays_away() -> Sketch:
    return retried(Outcome.REFUSED, came=(2,))


@case(REFUSED, refused_but_delivered=1)
def a_refused_message_comes_in_the_drain_alone() -> Sketch:
    sketch = unanswered()
    sketch.answer(60, Outcome.REFUSED)
    sketch.deliver(60, 14_000, via=Via.DRAIN)
    return sketch


@case(passes=f"{REFUSED} {DELIVERED}", refused_but_delivered=0)
def a_refused_message_is_found_by_the_audit_alone() -> Sketch:
    sketch = unanswered()
    sketch.answer(60, Outcome.REFUSED)
    sketch.deliver(60, 14_000, via=Via.AUDIT)
    return sketch


@case(passes=DELIVERED, refused_but_delivered=0, denied=0)
def refused_and_unanswered_at_once_and_delivered() -> Sketch:
    """Two answers that differ prove nothing."""
    sketch = unanswered(6_060)
    sketch.answer(60, Outcome.REFUSED, UNKNOWN)
    return sketch


@case(REFUSED, refused_but_delivered=1, lost=0)
def returned_and_delivered() -> Sketch:
    sketch = unanswered(6_060)
    sketch.answer(60, RETURNED)
    return sketch


# --- phantoms ------------------------------------------------------------------------------------


def phantom(**named: Any) -> Sketch:
    sketch = short()
    sketch.deliver(777, 6_100, **named)
    return sketch


@case(UNEXPECTED, passes=f"{DELIVERED} {ONE_COPY} {FIFO}", unexpected__never_sent=1)
def a_message_comes_that_nobody_sent() -> Sketch:
    return phantom()


@case(unknown=UNEXPECTED, unexpected=0, unrecorded=1)
def a_message_comes_that_a_dead_publisher_may_have_sent() -> Sketch:
    sketch = phantom()
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(UNEXPECTED, unexpected__other_run=1)
def a_message_of_another_run_comes_though_a_publisher_died() -> Sketch:
    sketch = phantom(run_ok=False)
    sketch.history.log_open(PUBLISHER)
    return sketch


@case(UNEXPECTED, unexpected__not_sent=1)
def a_message_comes_that_was_too_late_to_be_sent() -> Sketch:
    sketch = phantom()
    sketch.history.not_sent(777, intended_ms=6_070)
    return sketch


@case(f"{UNEXPECTED} {COPY}", unexpected__unknown_attempt=1, attempt_lost=1)
def a_confirmed_message_comes_only_as_an_attempt_that_nobody_sent() -> Sketch:
    sketch = short()
    sketch.first(60).named["attempt"] = 2
    return sketch


@case(UNEXPECTED, unexpected=2)
def a_phantom_comes_twice() -> Sketch:
    """Each delivery counts."""
    sketch = phantom()
    sketch.deliver(777, 6_101, again=True)
    return sketch


# --- bodies --------------------------------------------------------------------------------------


@case(CORRUPT, passes=f"{DELIVERED} {UNEXPECTED} {ONE_COPY}", corrupt__payload=1)
def a_body_is_corrupt_and_its_header_whole() -> Sketch:
    sketch = short()
    sketch.first(60).named["payload_ok"] = False
    return sketch


@case(CORRUPT, passes=f"{DELIVERED} {ONE_COPY} {UNACKED}", corrupt__payload=1)
def a_corrupt_body_comes_again_whole() -> Sketch:
    sketch = relinked(held(short()), 6_100, 6_101)
    sketch.first(60).named["payload_ok"] = False
    sketch.deliver(60, 6_105, again=True, connection=2)
    return sketch


@case(CORRUPT, passes=DELIVERED, corrupt__payload=1)
def a_body_is_corrupt_in_the_drain_alone() -> Sketch:
    sketch = short()
    sketch.lose(119)
    sketch.deliver(119, 14_000, via=Via.DRAIN, payload_ok=False)
    return sketch


@case(f"{CORRUPT} {DELIVERED}", passes=UNEXPECTED, corrupt__header=1, lost=1)
def a_header_is_corrupt() -> Sketch:
    """It names nothing: message 60 is missing, and nothing is unexpected."""
    sketch = short()
    sketch.lose(60)
    sketch.history.deliver_broken(at_ms=6_060, tag=9_999)
    sketch.history.rows["deliveries"][-1]["acked_ns"] = None
    return sketch


# --- redelivered: causes and counts --------------------------------------------------------------


def reconnects(*lost_ms: float) -> Sketch:
    """The consumer holds message 60. It loses its connection at these times, and gets the message
    again 20 ms later, each time flagged."""
    sketch = held(short())
    connection = 1
    for at_ms in lost_ms:
        connection += 1
        events = sketch.history.client_event("lost", at_ms=at_ms, connection=connection - 1)
        events.client_event("consuming", at_ms=at_ms + 10, connection=connection)
        for one in sketch.since(at_ms):
            one.named["connection"] = connection
        sketch.deliver(60, at_ms + 20, again=True, acked=False, connection=connection)
    return sketch


@case(passes=f"{HELD} {ONE_COPY} {ACKED}", duplicated__redelivery=3)
def three_ends_and_three_redeliveries() -> Sketch:
    sketch = reconnects(6_515, 7_015, 7_515)
    sketch.came[-1].acked_ms = 7_540
    return sketch


@case(HELD, duplicated__redelivery=3, duplicated__redelivered_without_cause=1)
def three_ends_and_four_redeliveries() -> Sketch:
    sketch = reconnects(6_515, 7_015, 7_515)
    sketch.deliver(60, 7_540, again=True, connection=4)
    return sketch


@case(UNACKED, not_redelivered=1)
def three_ends_and_two_redeliveries() -> Sketch:
    sketch = reconnects(6_515, 7_015, 7_515)
    del sketch.came[-1]
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def held_on_a_living_connection_and_again_unflagged() -> Sketch:
    sketch = held(short())
    sketch.deliver(60, 7_000)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def acknowledged_a_second_before_it_comes_again_flagged() -> Sketch:
    sketch = short()
    sketch.deliver(60, 7_062, again=True)
    return sketch


@case(passes=f"{ACKED} {HELD}", acknowledged_late=1)
def acknowledged_999_ms_before_it_comes_again_flagged() -> Sketch:
    sketch = short()
    sketch.deliver(60, 7_061, again=True)
    return sketch


@case(passes=f"{ACKED} {ONE_COPY} {HELD}", duplicated=0)
def its_first_delivery_on_record_is_flagged() -> Sketch:
    """What came before lay unread in some connection."""
    sketch = short()
    sketch.first(60).named["redelivered"] = Redelivered.YES
    return sketch


@case(unknown=ONE_COPY, duplicated__ambiguous=1, duplicated__stored_twice=0)
def requeued_and_again_unflagged() -> Sketch:
    """The flag is a hint."""
    sketch = held(short())
    sketch.history.client_event("requeued", at_ms=6_500)
    sketch.deliver(60, 6_505)
    return sketch


@case(UNACKED, not_redelivered=1)
def requeued_and_never_again_though_its_connection_closed() -> Sketch:
    sketch = held(short())
    sketch.history.client_event("requeued", at_ms=6_500)
    sketch.history.client_event("closed", at_ms=12_500)
    return sketch


@case(unknown=UNACKED, passes=f"{DELIVERED} {ONE_COPY}")
def requeued_and_never_again_and_no_end_on_record() -> Sketch:
    """The queue was empty in the end, and no consumer had it."""
    sketch = held(short())
    sketch.history.client_event("requeued", at_ms=6_500)
    return sketch


@case(passes=f"{UNACKED} {ONE_COPY} {ACKED}", duplicated__redelivery=1)
def requeued_and_again_in_the_drain_alone() -> Sketch:
    sketch = held(short())
    sketch.history.client_event("requeued", at_ms=6_500)
    sketch.history.client_event("closed", at_ms=12_500)
    sketch.deliver(60, 14_000, again=True, via=Via.DRAIN)
    return sketch


# --- the drain takes what consumers held ---------------------------------------------------------


def in_the_drain(*, again: bool, how: str | None = None, acked: bool = False) -> Sketch:
    """Message 118 is held to the end, and comes in the drain. `how`: the end of the connection."""
    sketch = short() if acked else held(short(), 118)
    if how is not None:
        sketch.history.client_event(how, at_ms=12_500)
    sketch.deliver(118, 14_000, again=again, via=Via.DRAIN)
    return sketch


@case(passes=f"{ONE_COPY} {UNACKED}", duplicated__redelivery=1)
def held_to_the_end_and_in_the_drain_flagged() -> Sketch:
    return in_the_drain(again=True, how="closed")


@case(passes=f"{ONE_COPY} {UNACKED}", duplicated__redelivery=1)
def held_to_the_end_and_in_the_drain_unflagged() -> Sketch:
    return in_the_drain(again=False, how="closed")


@case(passes=ONE_COPY, duplicated__redelivery=1)
def held_to_the_end_and_in_the_drain_flagged_and_no_end_on_record() -> Sketch:
    return in_the_drain(again=True)


@case(unknown=ONE_COPY, duplicated__ambiguous=1, duplicated__stored_twice=0)
def held_to_the_end_and_in_the_drain_unflagged_and_no_end_on_record() -> Sketch:
    """A drain begins when every connection has ended, whether that is on record or not."""
    return in_the_drain(again=False)


@case(ACKED, passes=ONE_COPY, duplicated__redelivery_after_ack=1)
def acknowledged_and_in_the_drain_flagged() -> Sketch:
    """Acknowledged 2 s before, and half a second before the end."""
    sketch = in_the_drain(again=True, how="closed", acked=True)
    sketch.first(118).acked_ms = 11_490
    sketch.first(118).at_ms = 11_480
    sketch.sent[PUBLISHER, 118, 1].at_ms = 11_470
    sketch.sent[PUBLISHER, 118, 1].settled_ms = 11_475
    return sketch


@case(passes=f"{ACKED} {ONE_COPY}", acknowledged_late=1)
def acknowledged_just_before_the_end_and_in_the_drain_flagged() -> Sketch:
    return in_the_drain(again=True, how="closed", acked=True)


@case(unknown=ACKED, duplicated__ambiguous=1, duplicated__redelivery_after_ack=0)
def acknowledged_just_before_the_last_record_and_in_the_drain_flagged() -> Sketch:
    """Its connection may have ended 100 ms later."""
    return in_the_drain(again=True, acked=True)


@case(ACKED, passes=ONE_COPY, duplicated__redelivery_after_ack=1)
def acknowledged_long_before_the_last_record_and_in_the_drain_flagged() -> Sketch:
    sketch = short()
    sketch.deliver(98, 14_000, again=True, via=Via.DRAIN)
    return sketch


def beside_one_held_before(sequence: int) -> Sketch:
    """Message 60 is redelivered at the loss of connection 1. The next one holds this message."""
    sketch = relinked(held(short()), 6_100, 6_110)
    sketch.deliver(60, 6_112, again=True, connection=2)
    return held(sketch, sequence)


@case(unknown=UNACKED, not_redelivered_unknown__end_not_recorded=1)
def held_to_the_end_and_not_in_the_drain_and_no_end_on_record() -> Sketch:
    """It had ended when the drain began."""
    return beside_one_held_before(100)


@case(UNACKED, not_redelivered=1)
def held_to_the_end_and_not_in_the_drain() -> Sketch:
    sketch = beside_one_held_before(100)
    sketch.history.client_event("closed", at_ms=12_500, connection=2)
    return sketch


@case(passes=UNACKED, not_redelivered=0, not_redelivered_unknown=0)
def held_and_later_again_and_acknowledged() -> Sketch:
    sketch = beside_one_held_before(100)
    sketch.deliver(100, 14_000, again=True, via=Via.DRAIN)
    return sketch


@case(HELD, duplicated__redelivery=1, duplicated__redelivered_without_cause=1)
def requeued_once_and_again_twice() -> Sketch:
    """One requeue explains one redelivery."""
    sketch = held(short())
    sketch.history.client_event("requeued", at_ms=6_500)
    sketch.deliver(60, 6_505, again=True, acked=False)
    sketch.deliver(60, 6_605, again=True)
    return sketch


@case(HELD, duplicated__redelivered_without_cause=1)
def requeued_by_another_consumer_and_again() -> Sketch:
    sketch = held(short())
    sketch.history.worker(OTHER, "consumer")
    sketch.history.client_event("requeued", at_ms=6_500, worker=OTHER)
    sketch.deliver(60, 6_505, again=True)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def the_drain_gives_one_twice_unflagged() -> Sketch:
    sketch = short()
    sketch.lose(119)
    sketch.deliver(119, 14_000, via=Via.DRAIN)
    sketch.deliver(119, 14_001, via=Via.DRAIN)
    return sketch


# --- across a failover: the master is killed at 15 s ---------------------------------------------


def after_the_kill(
    sequence: int, *, acked: bool = True, again: bool = False, at_ms: float = 16_000
) -> Sketch:
    sketch = failover()
    if not acked:
        sketch.forget_to_acknowledge(sequence)
    sketch.deliver(sequence, at_ms, again=again, connection=2)
    return sketch


@case(passes=f"{ONE_COPY} {UNACKED} {ACKED}", duplicated__redelivery=1)
def held_at_the_kill_and_again_unflagged() -> Sketch:
    """The new master never delivered it."""
    return after_the_kill(148, acked=False)


@case(unknown=f"{ONE_COPY} {ACKED}", duplicated__ambiguous=1)
def acknowledged_500_ms_before_the_kill_and_again_unflagged() -> Sketch:
    return after_the_kill(145)


@case(ACKED, duplicated__redelivery_after_ack=1, duplicated__stored_twice=0)
def acknowledged_five_seconds_before_the_kill_and_again_unflagged() -> Sketch:
    return after_the_kill(100)


@case(ONE_COPY, duplicated__stored_twice=1)
def delivered_after_the_fault_was_over_and_again_unflagged() -> Sketch:
    return after_the_kill(400, at_ms=48_000)


def unanswered_at_the_kill(*came_ms: float) -> Sketch:
    """Message 150 was sent into the dying master, and comes from the new one."""
    sketch = failover()
    for at_ms in came_ms:
        sketch.deliver(150, at_ms, connection=2)
    return sketch


@case(passes=f"{ONE_COPY} {DELIVERED} {UNEXPECTED}", revived=1)
def unanswered_at_the_kill_and_delivered() -> Sketch:
    return unanswered_at_the_kill(16_000)


@case(unknown=ONE_COPY, duplicated__ambiguous=1, duplicated__stored_twice=0)
def unanswered_at_the_kill_and_delivered_twice() -> Sketch:
    return unanswered_at_the_kill(16_000, 16_500)


@case(passes=f"{ONE_COPY} {ACKED} {DELIVERED}", duplicated__publisher_retry=1)
def unanswered_at_the_kill_and_sent_again_and_both_come() -> Sketch:
    sketch = unanswered_at_the_kill(16_000)
    sketch.send(150, 17_100, attempt=2)
    sketch.deliver(150, 17_110, attempt=2, connection=2)
    return sketch


# --- at most once, and at least once -------------------------------------------------------------


def without_acknowledgements() -> Sketch:
    sketch = calm(12_000, acknowledges=False)
    sketch.declared |= {"acknowledges": False, "no_ack": True}
    for one in sketch.came:
        one.acked_ms = None
    return sketch


@case(not_applicable=f"{DELIVERED} {UNACKED} {ACKED}", passes=ONE_COPY, lost=1)
def at_most_once_and_one_lost() -> Sketch:
    sketch = without_acknowledgements()
    sketch.lose(60)
    return sketch


@case(ONE_COPY, not_applicable=f"{DELIVERED} {UNACKED} {ACKED}", duplicated__stored_twice=1)
def at_most_once_and_one_came_twice_flagged() -> Sketch:
    sketch = without_acknowledgements()
    sketch.deliver(60, 8_000, again=True, acked=False)
    return sketch


@case(UNACKED, passes=f"{DELIVERED} {ONE_COPY}", not_redelivered=1)
def at_least_once_and_what_was_held_is_gone() -> Sketch:
    return relinked(held(short()), 6_100, 6_110)


@case(not_applicable=UNACKED, passes=f"{DELIVERED} {ONE_COPY}", not_redelivered=0)
def at_least_once_and_nothing_was_held() -> Sketch:
    return relinked(short(), 6_100, 6_110)


# --- consumer groups -----------------------------------------------------------------------------


def two_groups() -> Sketch:
    """Each of two groups gets every message."""
    sketch = short()
    sketch.history.group("billing", CONSUMER).group("mail", OTHER)
    sketch.history.client_event("consuming", at_ms=1, worker=OTHER)
    for one in [*sketch.came]:
        one.named["queue"] = "orders-billing"
        sketch.deliver(one.sequence, one.at_ms, consumer=OTHER, queue="orders-mail")
    return sketch


def of_mail(sketch: Sketch, sequence: int) -> int:
    """Return the place of that message's delivery to the second group."""
    return next(
        place
        for place, one in enumerate(sketch.came)
        if one.sequence == sequence and one.named["queue"] == "orders-mail"
    )


@case(passes=f"{DELIVERED} {ONE_COPY} {FIFO} {ACKED}", duplicated=0, in_order=240)
def two_groups_get_every_message() -> Sketch:
    return two_groups()


@case(FIFO, passes=f"{DELIVERED} {ONE_COPY}", reordered=1)
def one_of_two_groups_gets_one_late() -> Sketch:
    sketch = two_groups()
    sketch.came[of_mail(sketch, 60)].move(6_161)
    return sketch


@case(DELIVERED, passes=f"{ONE_COPY} {FIFO}", lost=1)
def one_of_two_groups_lacks_one() -> Sketch:
    sketch = two_groups()
    del sketch.came[of_mail(sketch, 60)]
    return sketch


@case(ONE_COPY, passes=DELIVERED, duplicated__stored_twice=1)
def one_of_two_groups_gets_one_twice() -> Sketch:
    sketch = two_groups()
    sketch.deliver(60, 6_700, consumer=OTHER, queue="orders-mail")
    return sketch


def held_in_one_group(*, again: bool) -> Sketch:
    """The second group holds message 60, and loses its connection at 9.1 s. The first one had
    acknowledged it long before."""
    sketch = two_groups()
    sketch.came[of_mail(sketch, 60)].acked_ms = None
    events = sketch.history.client_event("lost", at_ms=9_100, worker=OTHER)
    events.client_event("consuming", at_ms=9_110, worker=OTHER, connection=2)
    for one in sketch.since(9_100):
        if one.named["queue"] == "orders-mail":
            one.named["connection"] = 2
    if again:
        sketch.deliver(60, 9_120, again=True, consumer=OTHER, queue="orders-mail", connection=2)
    return sketch


@case(passes=f"{ACKED} {UNACKED} {ONE_COPY}", duplicated__redelivery=1)
def held_in_one_group_and_acknowledged_in_the_other_and_again() -> Sketch:
    return held_in_one_group(again=True)


@case(UNACKED, not_redelivered=1)
def held_in_one_group_and_acknowledged_in_the_other_and_gone() -> Sketch:
    return held_in_one_group(again=False)


# --- one message in two queues -------------------------------------------------------------------


def beside_another_queue() -> Sketch:
    sketch = short()
    sketch.history.queue("payments").worker(OTHER, "consumer")
    sketch.history.client_event("consuming", at_ms=1, worker=OTHER)
    return sketch


@case(f"{MISROUTED} {ONE_COPY}", passes=DELIVERED, misrouted=1, duplicated__stored_twice=1)
def a_copy_comes_in_another_queue() -> Sketch:
    sketch = beside_another_queue()
    sketch.deliver(60, 6_070, consumer=OTHER, queue="payments")
    return sketch


@case(MISROUTED, passes=ONE_COPY, misrouted=1)
def a_message_comes_in_another_queue_alone() -> Sketch:
    sketch = beside_another_queue()
    sketch.first(60).named |= {"consumer": OTHER, "queue": "payments"}
    return sketch
