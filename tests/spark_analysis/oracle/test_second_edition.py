"""Both sides of the edges at which a broken broker passed, or a healthy one failed."""

import pytest

from spark_analysis.schema.words import Outcome, Redelivered, Strength, Via
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, History, counts, ns

YES, NO = Redelivered.YES, Redelivered.NO
OTHER, DRAIN = 71, 90  # consumers


def surplus(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), "duplicated", "acknowledged_late"))


# --- acknowledgements that were late, and that were forgotten ------------------------------------


def given_and_acknowledged(at_ms: float, **window: float | None) -> History:
    """A message under a fault that began at 20 s, within 10 ms, and has no recorded end;
    it is delivered 1 ms before its acknowledgement."""
    history = History().window(20_000, returned_ms=20_010, ended_ms=35_000, gone_ms=35_050)
    history.publish(1, at_ms=at_ms - 3).confirm(1).deliver(1, at_ms=at_ms - 1, tag=1)
    return history.acknowledge(1, at_ms=at_ms)


@pytest.mark.parametrize("at_ms", [19_000.001, 20_500, 21_010])
def test_an_acknowledgement_beside_the_strike_of_a_fault_is_late(at_ms: float) -> None:
    history = given_and_acknowledged(at_ms).deliver(1, at_ms=30_000, redelivered=YES)
    assert surplus(history) == {"duplicated ambiguous": 1, "acknowledged_late": 1}


@pytest.mark.parametrize("at_ms", [21_010.001, 25_000, 40_000])
def test_an_older_acknowledgement_explains_no_redelivery(at_ms: float) -> None:
    history = given_and_acknowledged(at_ms).deliver(1, at_ms=55_000, redelivered=YES)
    assert surplus(history) == {"duplicated ambiguous": 1}


def test_an_acknowledgement_just_before_its_connections_end_is_late() -> None:
    def lost(at_ms: float) -> History:
        history = given_and_acknowledged(25_000).client_event("lost", at_ms=at_ms)
        return history.deliver(1, at_ms=40_000, redelivered=YES, connection=2)

    assert surplus(lost(25_999)) == {"duplicated ambiguous": 1, "acknowledged_late": 1}
    assert surplus(lost(26_000)) == {"duplicated ambiguous": 1}


# --- redeliveries without a flag, and without a cause --------------------------------------------


def held(*, answering: bool = True) -> History:
    """Message 1 is given out at 10 s and stays unacknowledged; others are acknowledged."""
    history = History().publish(1, at_ms=9_000).confirm(1).deliver(1, at_ms=10_000, tag=1)
    history.publish(2).confirm(2).deliver(2, at_ms=10_500, tag=2)
    history.client_event("consuming", at_ms=1)
    return history.acknowledge(2, at_ms=10_501) if answering else history


def test_an_unflagged_redelivery_after_a_connections_end_is_valid_once() -> None:
    ended = held().client_event("lost", at_ms=11_000)
    once = ended.deliver(1, at_ms=12_000, connection=2, tag=1)
    assert surplus(once) == {"duplicated redelivery": 1}
    again = once.deliver(1, at_ms=12_001, connection=2, tag=2)
    assert surplus(again) == {"duplicated redelivery": 1, "duplicated stored_twice": 1}


def test_an_unflagged_copy_on_the_living_connection_was_stored_twice() -> None:
    late_end = held().deliver(1, at_ms=12_000, tag=3).client_event("lost", at_ms=12_000)
    assert surplus(late_end) == {"duplicated stored_twice": 1}


def test_a_redelivery_to_the_holding_connection_has_no_cause() -> None:
    again = held().deliver(1, at_ms=12_000, tag=3, redelivered=YES)
    assert surplus(again) == {"duplicated redelivered_without_cause": 1}


def test_a_requeue_is_of_its_delivery_or_of_any_if_it_has_no_tag() -> None:
    for detail, cause in ((None, True), ("1", True), ("2", False), ("x", True), ("9" * 30, True)):
        requeued = held().client_event("requeued", at_ms=11_000, detail=detail)
        again = requeued.deliver(1, at_ms=12_000, tag=3, redelivered=YES)
        word = "redelivery" if cause else "redelivered_without_cause"
        assert surplus(again) == {f"duplicated {word}": 1}, detail


def test_a_connection_number_that_was_used_twice_proves_no_missing_cause() -> None:
    again = held().deliver(1, at_ms=12_000, tag=1, redelivered=YES)
    assert surplus(again) == {"duplicated redelivery": 1}


def test_without_client_events_a_cause_may_be_off_the_record() -> None:
    history = held().deliver(1, at_ms=12_000, tag=3, redelivered=YES)
    del history.rows["client_events"]
    assert surplus(history) == {"duplicated redelivery": 1}


def test_redeliveries_are_caused_by_faults_closed_connections_or_missing_acknowledgements() -> (
    None
):
    def redelivered(history: History, connection: int = 1) -> dict[str, int]:
        return surplus(
            history.deliver(1, at_ms=12_000, tag=3, redelivered=YES, connection=connection)
        )

    right = {"duplicated redelivery": 1}
    assert redelivered(held().window(11_000)) == right
    assert redelivered(held().client_event("lost", at_ms=11_000)) == right
    assert redelivered(held(), connection=2) == right
    assert redelivered(held(answering=False)) == right


@pytest.mark.parametrize(
    ("recorded", "acknowledged", "connection", "found"),
    [
        (False, False, 2, "ambiguous"),  # the first connection may have ended unseen
        (True, False, 2, "stored_twice"),
        (False, True, 2, "stored_twice"),  # an end explains no copy of what was acknowledged
        (False, False, 1, "stored_twice"),  # the connection lives
    ],
)
def test_without_client_events_an_unflagged_copy_proves_nothing(
    recorded: bool, acknowledged: bool, connection: int, found: str
) -> None:
    history = held()
    if not recorded:
        del history.rows["client_events"]
    if acknowledged:
        history.acknowledge(1, at_ms=10_002)
    history.deliver(1, at_ms=12_000, tag=9, connection=connection)
    assert surplus(history) == {f"duplicated {found}": 1}


@pytest.mark.parametrize(
    ("last_ms", "acked_ms", "found"),
    [
        (11_000, None, "ambiguous"),  # it may have died since
        (15_000, None, "stored_twice"),  # it lived on when the second copy came
        (11_000, 10_000.001, "ambiguous"),  # and this may never have been sent
        (11_000, 10_000, "redelivery_after_ack"),
    ],
)
def test_a_consumer_without_a_closed_log_may_die_after_its_last_record(
    last_ms: float, acked_ms: float | None, found: str
) -> None:
    history = History().client_event("consuming", at_ms=1).log_open(CONSUMER)
    history.publish(1, at_ms=9_000).confirm(1).deliver(1, at_ms=9_500, tag=1)
    history.publish(2).confirm(2).deliver(2, at_ms=last_ms, tag=2)
    if acked_ms is not None:
        history.acknowledge(1, at_ms=acked_ms)
    history.deliver(1, at_ms=15_000, consumer=OTHER, tag=1)
    assert surplus(history) == {f"duplicated {found}": 1}


def test_an_acknowledgement_is_a_last_record_too() -> None:
    history = held().log_open(CONSUMER).deliver(1, at_ms=15_000, consumer=OTHER, tag=1)
    history.client_event("consuming", at_ms=1)
    assert surplus(history) == {"duplicated ambiguous": 1}
    assert surplus(history.acknowledge(9, at_ms=15_000)) == {"duplicated stored_twice": 1}


# --- settlements that contradict each other ------------------------------------------------------


@pytest.mark.parametrize("outcomes", [("RETURNED", "CONFIRMED"), ("CONFIRMED", "RETURNED")])
def test_a_returned_attempt_stays_returned_though_it_is_acknowledged(
    outcomes: tuple[str, str],
) -> None:
    history = History().publish(1)
    for outcome in outcomes:
        history.settle(1, Outcome[outcome], strength=Strength.REPLICATED)
    found = counts(judge(*history.build()), "state", "denied", "lost")
    assert found == {"state returned": 1, "denied returned": 1}
    retried = history.publish(1, attempt=2).confirm(1, attempt=2)
    assert counts(judge(*retried.build()), "lost") == {"lost replicated": 1}


def test_a_confirm_of_an_unsent_attempt_makes_the_run_inconclusive() -> None:
    findings = judge(*History().not_sent(1, intended_ms=10).confirm(1).build())
    assert counts(findings, "state", "lost") == {"state not_sent": 1}
    assert [(doubt.scope, doubt.reason) for doubt in findings.doubts] == [("run", "causality")]
    sound = judge(*History().publish(1).confirm(1).build())
    assert counts(sound, "lost") == {"lost replicated": 1}
    assert not sound.doubts


# --- order across consumers ----------------------------------------------------------------------


def overtaken(*, second_before_ms: float, flag: Redelivered = NO) -> dict[str, int]:
    """Message 2 is sent after message 1 was confirmed, and first comes to another consumer."""
    history = History().worker(OTHER, "consumer").publish(1, at_ms=1).confirm(1, at_ms=2)
    history.publish(2, at_ms=3).confirm(2, at_ms=4).publish(3, at_ms=5).confirm(3, at_ms=6)
    history.deliver(2, at_ms=100, consumer=OTHER)
    history.deliver(3, at_ms=second_before_ms).deliver(1, at_ms=200, redelivered=flag)
    return dict(counts(judge(*history.build()), "reordered", "reorder_unknown"))


def test_order_breaks_if_the_next_consumer_starts_with_overtaken_messages() -> None:
    assert overtaken(second_before_ms=201) == {"reordered": 1}


def test_the_order_of_parallel_readers_is_unknown() -> None:
    own = History().worker(OTHER, "consumer").publish(1, at_ms=1).confirm(1, at_ms=2)
    own.publish(2, at_ms=3).confirm(2, at_ms=4).publish(0, at_ms=0.1).confirm(0, at_ms=0.2)
    own.deliver(0, at_ms=99).deliver(2, at_ms=100, consumer=OTHER).deliver(1, at_ms=200)
    assert counts(judge(*own.build()), "reordered", "reorder_unknown") == {"reorder_unknown": 1}


def test_a_flag_and_a_clock_leave_order_across_consumers_open() -> None:
    assert overtaken(second_before_ms=201, flag=YES) == {"reorder_unknown": 1}


def test_the_drain_stands_in_the_order_too() -> None:
    history = History().publish(1, at_ms=1).confirm(1, at_ms=2).publish(2, at_ms=3).confirm(2)
    history.deliver(2, at_ms=100).deliver(1, at_ms=70_000, via=Via.DRAIN, consumer=DRAIN)
    assert counts(judge(*history.build()), "reordered") == {"reordered": 1}


# --- messages that are withheld ------------------------------------------------------------------


def starved_ns(history: History, window: int = 0) -> int:
    rows = judge(*history.build()).starvation
    return max(row.longest_ns for row in rows if row.window == window)


def every_100_ms(first: int, last: int, lag_ms: float = 10, **taken: bool) -> History:
    """Messages number first..last, each sent and confirmed at its number of 100 ms, delivered and
    acknowledged after a lag."""
    history = History()
    for number in range(first, last):
        pass_on(history, number, number * 100, number * 100 + lag_ms)
    return history


def pass_on(history: History, number: int, at_ms: float, came_ms: float | None) -> None:
    history.publish(number, at_ms=at_ms).confirm(number, at_ms=at_ms + 1)
    if came_ms is not None:
        history.deliver(number, at_ms=came_ms, tag=number)
        history.acknowledge(number, at_ms=came_ms + 1)


def test_a_message_that_later_ones_pass_over_is_withheld() -> None:
    history = every_100_ms(100, 300)
    pass_on(history, 1_000, 10_050, 26_000)
    assert starved_ns(history) == ns(26_000 - 10_110)  # since message 101 came


def test_a_backlog_that_is_given_in_order_is_not() -> None:
    """200 messages wait for 8 s, and are given as fast as others come."""
    history = History()
    for number in range(100, 300):
        pass_on(history, number, number * 100, number * 100 + 4_900)
    assert starved_ns(history) <= ns(5_000)


def test_a_queue_that_delivers_only_a_tenth_withholds_the_rest() -> None:
    history = History()
    for number in range(100, 500):
        pass_on(history, number, number * 100, 10_500 + (number - 100) * 1_000)
    assert starved_ns(history) > ns(30_000)


def test_a_slow_queue_of_a_full_consumer_withholds_nothing() -> None:
    """The consumer holds each message until just before the next one comes."""
    history = History()
    for number in range(100, 500):
        history.publish(number, at_ms=number * 100).confirm(number, at_ms=number * 100 + 1)
        came_ms = 10_500 + (number - 100) * 1_000
        history.deliver(number, at_ms=came_ms, tag=number)
        history.acknowledge(number, at_ms=came_ms + 990)
    assert starved_ns(history) <= ns(5_000)


@pytest.mark.parametrize(
    ("queue", "held"),
    [
        ("refunds", 5),  # each queue has a prefetch count: 1 of orders is all it takes
        ("orders", 3),  # one count of 3 for both queues, and refunds take 2
    ],
)
def test_a_consumer_of_two_queues_is_full_of_either(queue: str, held: int) -> None:
    """It holds each order until just before the next one comes."""
    history = History().queue("refunds")
    for number in range(1, held + 1):
        history.publish(number, at_ms=5_000, queue=queue).confirm(number, at_ms=5_001)
        history.deliver(number, at_ms=5_002, tag=number, connection=2)
        history.acknowledge(number, at_ms=5_200, connection=2)
    for number in range(11, 13) if queue == "orders" else ():
        history.publish(number, at_ms=6_000, queue="refunds").confirm(number, at_ms=6_001)
        history.deliver(number, at_ms=6_002, tag=number, connection=2)
    for number in range(100, 500):
        history.publish(number, at_ms=number * 100).confirm(number, at_ms=number * 100 + 1)
        came_ms = 10_500 + (number - 100) * 1_000
        history.deliver(number, at_ms=came_ms, tag=number)
        history.acknowledge(number, at_ms=came_ms + 990)
    assert starved_ns(history) <= ns(5_000)


@pytest.mark.parametrize(("polls", "withheld"), [(False, True), (True, False)])
def test_from_a_polling_consumer_nothing_is_withheld(polls: bool, withheld: bool) -> None:
    """One message a second is its own pace; it acknowledges each at once."""
    history = History(polls=polls)
    for number in range(100, 500):
        pass_on(history, number, number * 100, 10_500 + (number - 100) * 1_000)
    assert (starved_ns(history) > ns(5_000)) is withheld


def test_one_repeated_message_is_no_service() -> None:
    history = every_100_ms(100, 150)
    for number in range(200, 300):
        pass_on(history, number, 15_000 + (number - 200) * 100, 45_000 + number)
    for again in range(30):
        history.deliver(149, at_ms=15_500 + again * 900, tag=1_000 + again, redelivered=YES)
    assert starved_ns(history) > ns(25_000)


# --- consumption that goes on --------------------------------------------------------------------


def resumed(came: int, *, until_ms: float = 60_000, ended_ms: float | None = None) -> bool:
    """Of 100 messages that were sent under the fault `came` are delivered."""
    gone = {"never_ended": True} if ended_ms is None else {"ended_ms": ended_ms}
    history = History().window(5_000, returned_ms=5_000, **gone)  # type: ignore[arg-type]
    for number in range(100, 200):
        history.publish(number, at_ms=number * 100).confirm(number, at_ms=number * 100 + 1)
        if number < 100 + came:
            history.deliver(number, at_ms=number * 100 + 2, tag=number)
    (row,) = [row for row in judge(*history.build()).consumption if row.scope == "queue"]
    return row.resumed


def test_consumption_resumes_with_half_of_what_was_due() -> None:
    assert resumed(50)
    assert not resumed(49)


def test_deliveries_after_the_undo_are_no_consumption_during_the_fault() -> None:
    assert resumed(100, ended_ms=30_000)
    late = History().window(5_000, returned_ms=5_000, ended_ms=30_000)
    for number in range(100, 200):
        late.publish(number, at_ms=number * 100).confirm(number, at_ms=number * 100 + 1)
        late.deliver(number, at_ms=30_000 + number, tag=number)
    (row,) = [row for row in judge(*late.build()).consumption if row.scope == "queue"]
    assert (row.resumed, row.at_ns) == (False, ns(30_000))
