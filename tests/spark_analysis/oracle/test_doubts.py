"""What of a run could not be judged, and why."""

import pytest

from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.words import Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, ns
from tests.rigs.histories.ways import Via

NANOSECOND_MS = 0.000001


def doubts(history: History) -> list[Doubt]:
    return sorted(judge(*history.build()).doubts)


def doubt(scope: str, reason: str, *, window: int = 0, queue: str = "", worker: int = 0) -> Doubt:
    return Doubt("run", scope, window, reason, queue, worker, 0, 0)


def test_a_calm_run_leaves_no_doubt() -> None:
    assert doubts(History().window(10_000).publish(1).confirm(1).deliver(1)) == []


@pytest.mark.parametrize(("verified", "gone"), [(False, True), (True, False), (False, False)])
def test_an_unverified_fault_makes_the_run_inconclusive_once(verified: bool, gone: bool) -> None:
    """Either its beginning or its end was not verified."""
    history = History().window(10_000).window(20_000, verified=verified, gone=gone)
    assert doubts(history) == [doubt("run", "fault", window=2)]


def test_a_clock_that_failed_makes_the_run_inconclusive() -> None:
    assert doubts(History(clock_problem="suspended")) == [doubt("run", "clock")]


def stalled_windows(history: History) -> list[int]:
    return [row.window for row in doubts(history) if row.reason == "stalled"]


@pytest.mark.parametrize(
    ("worker", "reason"), [(PUBLISHER, "stalled"), (CONSUMER, "consumer_stalled")]
)
def test_a_stall_of_the_load_puts_availability_in_doubt(worker: int, reason: str) -> None:
    history = History().window(10_000).stall(worker, at_ms=12_000, late_ms=140)
    expected = Doubt("run", "availability", 1, reason, "", worker, ns(12_000), ns(140))
    assert doubts(history) == [expected]


def test_a_stall_of_up_to_100_ms_is_none() -> None:
    assert stalled_windows(History().stall(PUBLISHER, at_ms=500, late_ms=100)) == []
    late_ms = 100 + NANOSECOND_MS
    assert stalled_windows(History().stall(PUBLISHER, at_ms=500, late_ms=late_ms)) == [0]


@pytest.mark.parametrize("role", ["prober", ""])
def test_a_stall_of_another_worker_says_nothing_of_the_load(role: str) -> None:
    history = History().worker(9, role).stall(9, at_ms=500, late_ms=500)
    assert stalled_windows(history.stall(77, at_ms=500, late_ms=500)) == []


def test_every_stall_is_a_doubt_of_its_own() -> None:
    history = History().stall(PUBLISHER, at_ms=500, late_ms=200)
    assert stalled_windows(history.stall(PUBLISHER, at_ms=900, late_ms=200)) == [0, 0]


@pytest.mark.parametrize(
    ("from_ms", "until_ms", "windows"),
    [
        (1_000, 2_000, [0]),
        (9_000, 10_000, [0]),
        (9_000, 10_000 + NANOSECOND_MS, [0, 1]),
        (10_000 - NANOSECOND_MS, 11_000, [0, 1]),
        (10_000, 20_000, [1]),
        (9_000, 21_000, [0, 1, 2]),
        (60_000 - NANOSECOND_MS, 61_000, [2]),
        (60_000, 61_000, []),
        (-1_000, 0, []),
        (-1_000, NANOSECOND_MS, [0]),
    ],
)
def test_a_stall_touches_the_windows_whose_judged_time_it_overlaps(
    from_ms: float, until_ms: float, windows: list[int]
) -> None:
    history = History().window(10_000).window(20_000)
    history.stall(PUBLISHER, at_ms=until_ms, late_ms=until_ms - from_ms)
    assert stalled_windows(history) == windows


def test_a_stall_before_load_touches_no_window() -> None:
    history = History(load_ms=(1_000, 2_000)).stall(PUBLISHER, at_ms=1_000, late_ms=500)
    assert stalled_windows(history) == []


def summed(history: History) -> list[tuple[int, int, float]]:
    """(window, worker, sum in ms) of the stalls that count by their sum."""
    found = [row for row in doubts(history) if row.reason in ("stalls", "consumer_stalls")]
    assert all(row.at_ns == 0 for row in found)
    return [(row.window, row.worker, row.late_ns / 1e6) for row in found]


def stalling(worker: int, ticks: int, late_ms: float, from_ms: float = 10_000) -> History:
    """A fault at 10 s, judged for 50 s; ticks every 200 ms that are late by so much."""
    history = History().window(10_000)
    for tick in range(ticks):
        history.stall(worker, at_ms=from_ms + tick * 200 + late_ms, late_ms=late_ms)
    return history


@pytest.mark.parametrize("worker", [PUBLISHER, CONSUMER])
def test_short_stalls_count_once_they_sum_to_5_percent(worker: int) -> None:
    assert summed(stalling(worker, ticks=50, late_ms=50)) == []
    assert summed(stalling(worker, ticks=50, late_ms=50 + NANOSECOND_MS)) == [
        (1, worker, 2_500 + 50 * NANOSECOND_MS)
    ]
    assert summed(stalling(worker, ticks=51, late_ms=50)) == [(1, worker, 2_550)]


def test_overlapping_stalls_count_once() -> None:
    history = History().stall(PUBLISHER, at_ms=2_000, late_ms=2_000)
    history.stall(PUBLISHER, at_ms=3_000, late_ms=1_500)
    assert summed(history) == []
    assert summed(history.stall(PUBLISHER, at_ms=3_001, late_ms=3_000)) == [(0, 1, 3_001)]


def test_only_the_part_within_a_window_counts_for_it() -> None:
    history = History().window(10_000).stall(PUBLISHER, at_ms=10_600, late_ms=1_100)
    assert summed(history) == []
    history.stall(PUBLISHER, at_ms=9_500, late_ms=1)
    assert summed(history) == [(0, 1, 501)]


def test_stalls_of_two_workers_are_not_added_up() -> None:
    history = History().stall(PUBLISHER, at_ms=2_000, late_ms=2_000)
    assert summed(history.stall(CONSUMER, at_ms=5_000, late_ms=2_000)) == []


def test_a_worker_does_not_stall_during_its_absences() -> None:
    history = History().worker(9, "publisher").away(PUBLISHER, 0, 1_000)
    history.away(PUBLISHER, 1_500, 2_000).stall(PUBLISHER, at_ms=4_500, late_ms=4_500)
    assert summed(history) == []
    history.stall(PUBLISHER, at_ms=4_501, late_ms=10)
    assert summed(history) == [(0, 1, 3_001)]
    assert summed(history.away(PUBLISHER, 4_000)) == []


def test_stalls_of_another_worker_say_nothing_of_the_load() -> None:
    assert summed(History().worker(9, "prober").stall(9, at_ms=50_000, late_ms=50_000)) == []


def causal(history: History) -> bool:
    return doubt("run", "causality") not in doubts(history)


def test_a_delivery_before_its_sending_is_the_instruments_fault() -> None:
    assert causal(History().publish(1, at_ms=10).deliver(1, at_ms=10))
    history = History().publish(1, at_ms=10).deliver(1, at_ms=10 - NANOSECOND_MS)
    assert doubts(history) == [doubt("run", "causality")]


@pytest.mark.parametrize("via", [Via.LOAD, Via.DRAIN, Via.AUDIT, Via.RETRY_TOPIC, Via.HALF])
def test_a_delivery_before_its_send_breaks_causality(via: Via) -> None:
    assert not causal(History().publish(1, at_ms=10).deliver(1, at_ms=5, via=via))


def test_clock_errors_excuse_causality_only_within_their_bound() -> None:
    history = History().clock(PUBLISHER, 3).clock(CONSUMER, 2).publish(1, at_ms=10)
    assert causal(history.deliver(1, at_ms=5))
    assert not causal(history.deliver(1, at_ms=5 - NANOSECOND_MS))
    assert not causal(History().clock(9, 60_000).publish(1, at_ms=10).deliver(1, at_ms=5))


@pytest.mark.parametrize("outcome", Outcome)
def test_a_settlement_before_its_sending_is_always_an_instrument_error(outcome: Outcome) -> None:
    history = History().clock(PUBLISHER, 60_000).publish(1, at_ms=10)
    assert causal(history.settle(1, outcome, at_ms=10))
    assert not causal(history.settle(1, outcome, at_ms=10 - NANOSECOND_MS))


def test_a_settlement_of_what_was_never_sent_has_nothing_to_come_after() -> None:
    assert causal(History().not_sent(1).settle(1, Outcome.REFUSED, at_ms=5))
    assert not causal(History().not_sent(1).settle(1, Outcome.CONFIRMED, at_ms=5))


def test_a_confirm_between_two_sendings_fits_only_the_first() -> None:
    history = History().publish(1, at_ms=10).publish(1, at_ms=50, attempt=2)
    assert causal(history.settle(1, Outcome.UNKNOWN, at_ms=20))
    assert not causal(history.settle(1, Outcome.UNKNOWN, at_ms=20, attempt=2))


def test_each_attempt_is_compared_with_its_own_sending() -> None:
    history = History().publish(1, at_ms=10).publish(1, at_ms=50, attempt=2)
    assert causal(history.confirm(1, at_ms=20).deliver(1, at_ms=20))
    assert not causal(history.deliver(1, at_ms=20, attempt=2))


@pytest.mark.parametrize("early_ms", [0.5, 3, 4.5])
def test_a_delivery_early_within_clock_bounds_breaks_no_causality(early_ms: float) -> None:
    history = History().clock(PUBLISHER, 2).clock(CONSUMER, 3)
    assert causal(history.publish(1, at_ms=10).deliver(1, at_ms=10 - early_ms))


def test_unsent_attempts_break_no_causality() -> None:
    assert causal(History().publish(1, at_ms=10).deliver(1, at_ms=5, attempt=3))
    assert causal(History().publish(1, at_ms=10).deliver(1, at_ms=5, run_ok=False))


@pytest.mark.parametrize("bound_ms", [0, 60_000])
def test_an_acknowledgement_before_its_delivery_breaks_causality(bound_ms: float) -> None:
    history = History().clock(CONSUMER, bound_ms).publish(1, at_ms=10).deliver(1, at_ms=50, tag=5)
    assert causal(history.acknowledge(5, at_ms=50))
    assert causal(history.acknowledge(6, 9, at_ms=49).acknowledge(1, 5, at_ms=49, connection=2))
    assert not causal(history.acknowledge(1, 9, at_ms=50 - NANOSECOND_MS))


def test_however_many_there_are_the_run_is_in_doubt_once() -> None:
    history = History().publish(1, at_ms=10).publish(2).deliver(1, at_ms=5).deliver(2, at_ms=5)
    assert doubts(history) == [doubt("run", "causality")]


def test_a_dead_publisher_makes_availability_and_loss_inconclusive() -> None:
    history = History().window(10_000).log_open(PUBLISHER)
    assert doubts(history) == [
        doubt("availability", "publisher_log", window=0, worker=PUBLISHER),
        doubt("availability", "publisher_log", window=1, worker=PUBLISHER),
        doubt("loss", "publisher_log", worker=PUBLISHER),
    ]


def test_a_consumer_that_died_puts_loss_in_doubt() -> None:
    history = History().window(10_000).log_open(CONSUMER)
    assert doubts(history) == [doubt("loss", "consumer_log", worker=CONSUMER)]


def test_each_worker_that_died_is_a_doubt_of_its_own() -> None:
    history = History().log_open(CONSUMER).worker(9, "consumer", log_closed=False)
    assert [row.worker for row in doubts(history)] == [CONSUMER, 9]
    history = History().log_open(PUBLISHER).worker(9, "publisher", log_closed=False)
    assert [row.worker for row in doubts(history)] == [PUBLISHER, 9, PUBLISHER, 9]


def test_another_worker_that_died_puts_nothing_in_doubt() -> None:
    assert doubts(History().worker(9, "prober", log_closed=False)) == []


def test_a_queue_that_was_not_drained_puts_loss_in_doubt() -> None:
    history = History().queue("bills", drained=False)
    assert doubts(history) == [doubt("loss", "drain", queue="bills")]


def test_a_queue_without_any_record_makes_loss_inconclusive() -> None:
    assert doubts(History().publish(1, queue="bills")) == [doubt("loss", "drain", queue="bills")]
    assert doubts(History().no_queue_end()) == []


def test_unreadable_places_make_loss_inconclusive_once_per_queue() -> None:
    history = History().queue(unreadable=("rmq2", "rmq3"))
    assert doubts(history) == [doubt("loss", "unreadable", queue="orders")]


def test_a_queue_can_be_in_doubt_for_both_reasons() -> None:
    history = History().queue(drained=False, unreadable=("rmq2",))
    assert [row.reason for row in doubts(history)] == ["drain", "unreadable"]
