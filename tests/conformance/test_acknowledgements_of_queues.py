"""Acknowledgements that a queue cannot have had, or has by itself: each broken history beside a
healthy one that nearly looks like it. What must be said follows from docs/verdicts.md 4.3 and 5.2,
by the argument of each story."""

import pytest

from spark_analysis.schema.words import Outcome, Via
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER
from tests.rigs.histories.claim_names import (
    ACKED,
    DELIVERED,
    HELD,
    ONE_COPY,
    REQUEUED,
    UNACKED,
)
from tests.rigs.histories.sketches import (
    OTHER,
    Sketch,
    SketchCase,
    SketchCases,
    calm,
    failover,
    handed_over,
    relinked,
)

CASES = SketchCases()
case = CASES.case


@pytest.mark.parametrize("one", CASES, ids=str)
def test_a_history_of_acknowledgements_is_judged_as_argued(one: SketchCase) -> None:
    assert [*one.differences()] == []


# --- consumers that do not acknowledge: the broker deletes what it sends -------------------------


def unanswered(sketch: Sketch) -> Sketch:
    """Its consumers do not acknowledge."""
    sketch.declared |= {"acknowledges": False, "no_ack": True}
    for one in sketch.came:
        one.acked_ms = None
    return sketch


@case(ONE_COPY, duplicated__stored_twice=300)
def without_acknowledgements_all_come_twice_flagged() -> Sketch:
    """The flag does not help: what was sent had to be deleted."""
    sketch = unanswered(calm())
    for one in [*sketch.came]:
        sketch.deliver(one.sequence, one.at_ms + 1, again=True, acked=False)
    return sketch


def deleted_and_again_at_the_handover(sequence: int) -> Sketch:
    sketch = unanswered(handed_over(calm()))
    sketch.deliver(sequence, 15_402, again=True, acked=False, consumer=OTHER)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def sent_five_seconds_before_the_end_of_the_connection_and_again() -> Sketch:
    return deleted_and_again_at_the_handover(100)


@case(passes=ONE_COPY, duplicated__redelivery=1)
def sent_at_the_end_of_the_connection_and_again() -> Sketch:
    return deleted_and_again_at_the_handover(149)


def deleted_and_again_after_the_kill(sequence: int) -> Sketch:
    sketch = unanswered(failover())
    sketch.deliver(sequence, 16_000, again=True, acked=False, connection=2)
    return sketch


@case(ONE_COPY, duplicated__stored_twice=1)
def sent_five_seconds_before_the_kill_and_again() -> Sketch:
    return deleted_and_again_after_the_kill(100)


@case(passes=ONE_COPY, duplicated__redelivery=1)
def sent_500_ms_before_the_kill_and_again() -> Sketch:
    """A mirror may not have heard of it."""
    return deleted_and_again_after_the_kill(145)


# --- acknowledged before it came: a wrong record -------------------------------------------------


def acknowledged_before_it_came() -> Sketch:
    sketch = calm()
    sketch.first(150).acked_ms = sketch.first(150).at_ms - 1
    return sketch


@case(unknown=f"{DELIVERED} {ACKED} {ONE_COPY} {HELD}")
def one_was_acknowledged_before_it_came() -> Sketch:
    """Nothing of such a run passes."""
    return acknowledged_before_it_came()


@case(unknown=ACKED, duplicated__ambiguous=1, acknowledged_late=0)
def acknowledged_before_it_came_and_delivered_again() -> Sketch:
    """It is unknown when it was acknowledged."""
    sketch = acknowledged_before_it_came()
    sketch.deliver(150, 22_000, again=True)
    return sketch


@case(unknown=ACKED)
def acknowledged_before_it_came_by_a_clock_of_its_own() -> Sketch:
    """Both times are of one clock."""
    sketch = acknowledged_before_it_came()
    sketch.history.clock(CONSUMER, 3_000)
    return sketch


@case(unknown=ACKED, not_redelivered=0)
def acknowledged_before_it_came_and_the_connection_ended() -> Sketch:
    return relinked(acknowledged_before_it_came(), 15_100, 15_300)


# --- acknowledged after the end: no frame reached the broker -------------------------------------


def after_the_end(late_ms: float) -> Sketch:
    """Message 150 is acknowledged so long after the loss of its connection at 15.2 s."""
    sketch = relinked(calm())
    sketch.first(150).acked_ms = 15_200 + late_ms
    return sketch


@case(UNACKED, passes=DELIVERED, not_redelivered=1)
def acknowledged_three_seconds_after_the_end_and_gone() -> Sketch:
    return after_the_end(3_000)


@case(unknown=UNACKED, not_redelivered_unknown__acknowledged_at_the_end=1)
def acknowledged_100_ms_after_the_end_and_gone() -> Sketch:
    """It may be older than its record."""
    return after_the_end(100)


@case(not_applicable=UNACKED, not_redelivered=0, not_redelivered_unknown=0)
def acknowledged_at_the_very_end_and_gone() -> Sketch:
    return after_the_end(0)


@case(passes=f"{UNACKED} {ACKED} {ONE_COPY}", duplicated__redelivery=1)
def acknowledged_after_the_end_and_again_unflagged() -> Sketch:
    sketch = after_the_end(100)
    sketch.deliver(150, 15_402, connection=2)
    return sketch


@case(ONE_COPY, duplicated__redelivery=1, duplicated__stored_twice=1)
def acknowledged_after_the_end_and_again_unflagged_twice() -> Sketch:
    sketch = acknowledged_after_the_end_and_again_unflagged()
    sketch.deliver(150, 15_404, connection=2)
    return sketch


@case(f"{UNACKED} {REQUEUED}", not_redelivered=1)
def acknowledged_after_the_masters_death_and_gone() -> Sketch:
    sketch = failover()
    sketch.forget_to_acknowledge(148)
    sketch.first(149).acked_ms = 16_500
    sketch.deliver(148, 16_000, again=True, connection=2)
    return sketch


# --- one number for two connections --------------------------------------------------------------


def renumbered() -> Sketch:
    """Its connection was lost at 15.2 s, and the next one has the same number."""
    sketch = relinked(calm())
    for one in sketch.came:
        one.named["connection"] = 1
    for row in sketch.history.rows["client_events"]:
        row["connection"] = 1
    return sketch


@case(UNACKED, not_redelivered=1)
def held_by_the_first_of_two_and_gone() -> Sketch:
    sketch = renumbered()
    sketch.forget_to_acknowledge(150)
    return sketch


@case(passes=UNACKED, duplicated__redelivery=1)
def held_by_the_first_of_two_and_again() -> Sketch:
    sketch = held_by_the_first_of_two_and_gone()
    sketch.deliver(150, 15_402, again=True)
    return sketch


@case(unknown=ACKED, duplicated__ambiguous=1, acknowledged_late=0)
def acknowledged_on_the_second_of_two_and_again() -> Sketch:
    """When the second ended is unknown: its end may have no record."""
    sketch = renumbered()
    sketch.deliver(200, 27_000, again=True)
    return sketch


@case(unknown=ONE_COPY, duplicated__ambiguous=1)
def held_by_the_second_of_two_and_again_unflagged() -> Sketch:
    sketch = renumbered()
    sketch.forget_to_acknowledge(200)
    sketch.deliver(200, 27_000)
    return sketch


# --- faults of clients ---------------------------------------------------------------------------


def frozen_publisher() -> Sketch:
    """The only publisher stands still from 15 to 25 s."""
    sketch = calm(60_000)
    sketch.fault(15_000, 25_000, kind="client_freeze", role="none")
    sketch.history.away(PUBLISHER, 15_000, 25_030)
    for key, one in [*sketch.sent.items()]:
        if 15_000 <= one.at_ms < 25_030:
            del sketch.sent[key]
            sketch.lose(key[1])
            sketch.history.not_sent(key[1], intended_ms=one.at_ms)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1, acknowledged_late=0)
def acknowledged_just_before_a_publisher_froze_and_again() -> Sketch:
    """A frozen publisher keeps no consumer's acknowledgement from the broker."""
    sketch = frozen_publisher()
    sketch.first(145).acked_ms = 14_600
    sketch.deliver(145, 28_000, again=True)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1, acknowledged_late=0)
def acknowledged_just_before_a_publisher_froze_and_then_its_consumer() -> Sketch:
    """The fault that froze the consumer began five seconds after the publisher's."""
    sketch = frozen_publisher()
    sketch.fault(20_000, 22_000, kind="client_freeze", role="none")
    sketch.history.away(CONSUMER, 20_000, 22_030)
    sketch.first(145).acked_ms = 14_600
    sketch.deliver(145, 28_000, again=True)
    return sketch


@case(passes=ACKED, acknowledged_late=1)
def acknowledged_just_before_its_consumer_froze_in_anothers_freeze() -> Sketch:
    sketch = frozen_publisher()
    sketch.deliver(145, 28_000, again=True)
    sketch.first(145).acked_ms = 19_600
    sketch.fault(20_000, 22_000, kind="client_freeze", role="none")
    sketch.history.away(CONSUMER, 20_000, 22_030)
    return sketch


@case(DELIVERED, lost=1)
def confirmed_before_its_publisher_froze_and_lost() -> Sketch:
    """A frozen publisher takes nothing from a broker."""
    sketch = frozen_publisher()
    sketch.lose(149)
    return sketch


@case(DELIVERED, lost=1)
def confirmed_while_its_publisher_was_frozen_and_lost() -> Sketch:
    """It reads the confirm when it goes on."""
    sketch = frozen_publisher()
    sketch.answer(149, Outcome.CONFIRMED, settled_ms=25_040)
    sketch.lose(149)
    return sketch


@case(passes=DELIVERED, lost=0, lost_indeterminate=1)
def unconfirmed_when_its_publisher_froze_and_lost() -> Sketch:
    sketch = frozen_publisher()
    sketch.answer(149, Outcome.UNKNOWN, settled_ms=25_040)
    sketch.lose(149)
    return sketch


@case(passes=ACKED, acknowledged_late=1)
def acknowledged_just_before_its_consumer_froze_and_again() -> Sketch:
    sketch = calm(60_000)
    sketch.fault(15_000, 25_000, kind="client_freeze", role="none")
    sketch.history.away(CONSUMER, 15_000, 25_030)
    sketch.hold(15_000, 25_030)
    sketch.first(145).acked_ms = 14_600
    sketch.deliver(145, 28_000, again=True)
    return sketch


def killed_consumer(*held: int) -> Sketch:
    """A fault kills the first consumer at 15 s for good, and another goes on. All that it did is
    on record, but no end of its connection."""
    sketch = handed_over(calm(60_000), how=None)
    sketch.fault(15_000, 55_000, kind="client_crash", role="none")
    sketch.history.away(CONSUMER, 15_000)
    sketch.forget_to_acknowledge(*held)
    return sketch


@case(passes=f"{DELIVERED} {ACKED} {ONE_COPY} {UNACKED}")
def what_a_killed_consumer_held_comes_again() -> Sketch:
    sketch = killed_consumer(149)
    sketch.deliver(149, 15_402, again=True, consumer=OTHER)
    return sketch


@case(DELIVERED, lost=1, not_redelivered=0)
def a_killed_consumer_explains_no_loss_of_what_came_later() -> Sketch:
    sketch = killed_consumer(149)
    sketch.lose(200)
    return sketch


@case(ACKED, duplicated__redelivery_after_ack=1)
def a_killed_consumer_had_acknowledged_it_five_seconds_before() -> Sketch:
    sketch = killed_consumer()
    sketch.deliver(100, 15_402, again=True, consumer=OTHER)
    return sketch


@case(passes=UNACKED, not_redelivered=0)
def audited_where_it_was_held() -> Sketch:
    """The audit found it, so it is not forgotten."""
    sketch = relinked(calm())
    sketch.forget_to_acknowledge(151)
    sketch.deliver(151, 50_000, via=Via.AUDIT)
    return sketch
