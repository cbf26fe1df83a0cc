"""Publishes missed and the longest silence, a window and queue."""

from dataclasses import replace

import pytest

from spark_analysis.schema.availability import Availability
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, ns

NANOSECOND_MS = 0.000001


def rows(history: History, queue: str = "") -> list[Availability]:
    found = judge(*history.build()).availability
    return sorted(row for row in found if row.queue == queue)


def silence(history: History, window: int, queue: str = "") -> tuple[int, int, bool]:
    (row,) = (row for row in rows(history, queue) if row.window == window)
    return row.silence_from_ns, row.silence_from_ns + row.silence_ns, row.silence_censored


def confirmed_at(*times_ms: float, load_ms: tuple[float, float] = (0, 60_000)) -> History:
    """At full rate, where something is due at every time."""
    history = History(load_ms=load_ms, paced=False)
    for sequence, at_ms in enumerate(times_ms):
        history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=at_ms)
    return history


def test_a_run_has_a_row_per_window_and_queue() -> None:
    """Add a row a window for all queues together."""
    history = History(load_ms=(0, 100)).queue("bills").queue("unused").window(50)
    history.publish(1, at_ms=10).confirm(1, at_ms=20)
    history.publish(2, at_ms=60, queue="bills").confirm(2, at_ms=70)
    assert sorted(judge(*history.build()).availability) == [
        Availability("run", 0, "", 2, 0, ns(10), ns(10), False),
        Availability("run", 0, "bills", 1, 0, ns(10), ns(60), False),
        Availability("run", 0, "orders", 1, 0, ns(10), ns(10), False),
        Availability("run", 1, "", 1, 0, ns(10), ns(60), False),
        Availability("run", 1, "bills", 1, 0, ns(10), ns(60), False),
        Availability("run", 1, "orders", 0, 0, 0, ns(50), False),
    ]


def test_a_paced_run_without_messages_was_not_silent() -> None:
    """Count a run at full rate without messages as silent throughout."""
    assert judge(*History().build()).availability == (
        Availability("run", 0, "", 0, 0, 0, 0, False),
    )
    at_full_rate = History(paced=False)
    assert rows(at_full_rate) == [Availability("run", 0, "", 0, 0, ns(60_000), 0, True)]


# --- silence while something is due --------------------------------------------------------------


def due_at(*times_ms: float) -> History:
    """A load of 100 ms in which a publish was confirmed at 20 ms; due are those, too."""
    history = History(load_ms=(0, 100)).publish(1, at_ms=10).confirm(1, at_ms=20)
    for sequence, at_ms in enumerate(times_ms, start=2):
        history.publish(sequence, at_ms=at_ms)
    return history


def test_silence_begins_with_the_first_publish_due_after_a_confirm() -> None:
    assert silence(due_at(50, 70), 0) == (ns(50), ns(100), True)
    assert silence(due_at(50, 70).confirm(2, at_ms=90), 0) == (ns(50), ns(90), False)


def test_a_publish_due_before_the_last_confirm_starts_no_silence() -> None:
    assert silence(due_at(20 - NANOSECOND_MS), 0) == (ns(10), ns(20), False)
    assert silence(due_at(20), 0) == (ns(20), ns(100), True)


def test_without_due_publishes_there_is_no_silence() -> None:
    assert silence(due_at(), 0) == (ns(10), ns(20), False)
    assert silence(due_at(100), 0) == (ns(10), ns(20), False)
    assert silence(due_at(100 - NANOSECOND_MS), 0) == (ns(10), ns(20), False)
    assert silence(due_at(80), 0) == (ns(80), ns(100), True)


def test_publishes_of_another_queue_cause_no_silence_here() -> None:
    history = due_at(50).queue("bills").publish(9, at_ms=30, queue="bills")
    assert silence(history, 0, "orders") == (ns(50), ns(100), True)
    assert silence(history, 0, "bills") == (ns(30), ns(100), True)
    assert silence(history, 0) == (ns(30), ns(100), True)


def test_publishes_of_an_absent_publisher_are_not_due() -> None:
    history = due_at(50).away(1, 60, 70)
    assert silence(history, 0)[2] is False


def test_without_confirms_availability_is_not_judged() -> None:
    assert judge(*History(confirms=False).publish(1).build()).availability == ()


def test_at_full_rate_only_silence_is_judged() -> None:
    history = History(paced=False, load_ms=(0, 100)).publish(1).confirm(1, at_ms=60)
    assert rows(history) == [Availability("run", 0, "", 0, 0, ns(60), 0, False)]


def test_a_publish_belongs_to_the_window_it_was_intended_in() -> None:
    history = History().window(1_000).window(2_000)
    for sequence, intended_ms in enumerate([999, 1_000, 1_999, 2_000, 59_999]):
        history.publish(sequence, at_ms=intended_ms + 500, intended_ms=intended_ms)
    counted = [(row.window, row.operations, row.missed) for row in rows(history)]
    assert counted == [(0, 5, 5), (1, 2, 2), (2, 2, 2)]


def test_only_missed_publishes_are_missed() -> None:
    history = History().publish(1).confirm(1).publish(2)
    assert [(row.operations, row.missed) for row in rows(history)] == [(2, 1)]


def test_publishes_intended_after_load_count_only_for_the_whole_run() -> None:
    history = History(load_ms=(0, 1_000)).window(500).publish(1, at_ms=1_000)
    assert [(row.window, row.operations) for row in rows(history)] == [(0, 1), (1, 0)]


def test_silence_is_the_longest_gap_between_confirms() -> None:
    assert silence(confirmed_at(10, 30, 90, 95, load_ms=(0, 100)), 0) == (ns(30), ns(90), False)


def test_the_earliest_of_equal_gaps_is_the_silence() -> None:
    assert silence(confirmed_at(30, 60, 90, load_ms=(0, 100)), 0) == (0, ns(30), False)


def test_the_start_of_load_begins_the_first_gap() -> None:
    assert silence(confirmed_at(90, load_ms=(20, 100)), 0) == (ns(20), ns(90), False)


def test_a_gap_closed_only_by_the_load_end_is_censored() -> None:
    assert silence(confirmed_at(30, load_ms=(0, 100)), 0) == (ns(30), ns(100), True)


def test_a_confirm_at_the_end_of_load_closes_its_gap() -> None:
    assert silence(confirmed_at(30, 100, load_ms=(0, 100)), 0) == (ns(30), ns(100), False)


def test_confirms_outside_of_load_are_left_out() -> None:
    history = confirmed_at(10, 40, 110, load_ms=(20, 100))
    assert silence(history, 0) == (ns(40), ns(100), True)


def test_a_confirm_before_load_begins_no_gap() -> None:
    history = confirmed_at(1, 60, 100, load_ms=(20, 100))
    assert silence(history, 0) == (ns(20), ns(60), False)


def test_a_confirm_at_the_start_of_load_is_within() -> None:
    assert silence(confirmed_at(20, 50, load_ms=(20, 75)), 0) == (ns(20), ns(50), False)


def test_silence_is_that_of_messages_not_of_attempts() -> None:
    history = confirmed_at(40, load_ms=(0, 100)).publish(0, attempt=2)
    assert silence(history.confirm(0, at_ms=90, attempt=2), 0) == (ns(40), ns(100), True)


def test_one_queue_may_be_silent_while_another_is_not() -> None:
    history = confirmed_at(10, 20, 30, 90, load_ms=(0, 100)).queue("bills")
    history.publish(9, queue="bills").confirm(9, at_ms=60)
    assert silence(history, 0) == (ns(30), ns(60), False)
    assert silence(history, 0, "bills") == (0, ns(60), False)
    assert silence(history, 0, "orders") == (ns(30), ns(90), False)


def outage(**window: float | bool) -> History:
    """A fault at 10 s, silence until 12 s; a publish each 900 ms before and each 5 ms after.

    Success is sustained from 12 s on.
    """
    history = History(load_ms=(0, 30_000), deadline_ms=1_000).window(10_000, **window)  # type: ignore[arg-type]
    history.flow(range(10), from_ms=0, every_ms=900)
    history.flow(range(10, 410), from_ms=10_000, every_ms=5, confirm_after_ms=None)
    return history.flow(range(410, 4_010), from_ms=12_000, every_ms=5)


def test_the_silence_of_a_window_overlaps_its_outage() -> None:
    assert silence(outage(), 1) == (ns(10_000), ns(12_001), False)


def test_a_longer_silence_before_the_fault_is_not_the_windows() -> None:
    history = outage().publish(9_000, at_ms=9_990).confirm(9_000, at_ms=10_000)
    history.publish(9_001, at_ms=10_001).confirm(9_001, at_ms=10_001)
    assert silence(history, 0) == (ns(10_001), ns(12_001), False)
    assert silence(history, 1) == (ns(10_001), ns(12_001), False)


def test_a_gap_that_ends_at_the_origin_precedes_the_window() -> None:
    history = confirmed_at(10, 500, 600, load_ms=(0, 650)).window(500)
    assert silence(history, 0) == (ns(10), ns(500), False)
    assert silence(history, 1) == (ns(500), ns(600), False)


def test_a_gap_that_ends_after_the_origin_is_the_windows() -> None:
    history = confirmed_at(10, 500, 600, load_ms=(0, 650)).window(500 - NANOSECOND_MS)
    assert silence(history, 1) == (ns(10), ns(500), False)


def late_gap(from_ms: float, **window: float | bool) -> History:
    """A fault at 10 s without effect; confirms pause for 2 s from `from_ms` on."""
    history = History(load_ms=(0, 30_000), deadline_ms=9_000).window(10_000, **window)  # type: ignore[arg-type]
    history.flow(range(200), from_ms=10_000, every_ms=50, confirm_after_ms=0)
    index = 200
    for at_ms in range(0, 29_990, 10):
        if not from_ms < at_ms < from_ms + 2_000 and not 10_000 <= at_ms < 20_000:
            history.publish(index, at_ms=at_ms).confirm(index, at_ms=at_ms)
            index += 1
    return history


def test_a_silence_after_recovery_and_undo_is_not_the_windows() -> None:
    assert silence(late_gap(22_000, ended_ms=15_000), 0) == (ns(22_000), ns(24_000), False)
    assert silence(late_gap(22_000, ended_ms=15_000), 1) == (ns(10_000), ns(10_050), False)


def test_a_silence_before_the_fault_was_undone_is_the_windows() -> None:
    inside = (ns(22_000), ns(24_000), False)
    assert silence(late_gap(22_000, ended_ms=22_000 + NANOSECOND_MS), 1) == inside
    assert silence(late_gap(22_000, ended_ms=22_000), 1) != inside


def test_a_fault_without_undo_owns_silences_until_load_end() -> None:
    assert silence(late_gap(22_000, never_ended=True), 1) == (ns(22_000), ns(24_000), False)


def test_an_outage_without_sustained_success_owns_silences_until_load_end() -> None:
    history = confirmed_at(100, 200, 5_000, load_ms=(0, 6_000)).window(150)
    assert silence(history, 1) == (ns(200), ns(5_000), False)


def test_at_full_rate_a_window_owns_silences_until_load_end() -> None:
    history = History(paced=False, load_ms=(0, 100)).window(50)
    for sequence, at_ms in enumerate([40, 55, 60, 90]):
        history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=at_ms)
    assert silence(history, 1) == (ns(60), ns(90), False)


def test_silence_does_not_reach_beyond_the_end_of_load() -> None:
    facts, rows_of = confirmed_at(40, load_ms=(0, 100)).window(50, ended_ms=900).build()
    longer = replace(facts, windows=(replace(facts.windows[0], origin_ns=ns(100)),))
    found = {row.window: row for row in judge(longer, rows_of).availability if row.queue == ""}
    assert found[1] == Availability("run", 1, "", 0, 0, 0, ns(100), False)


def test_a_window_that_no_gap_overlaps_has_no_silence() -> None:
    history = confirmed_at(40, load_ms=(0, 100)).window(200)
    assert rows(history)[1] == Availability("run", 1, "", 0, 0, 0, ns(200), False)


@pytest.mark.parametrize("start_ms", [0, 40])
def test_a_load_of_no_time_has_no_silence(start_ms: float) -> None:
    history = History(load_ms=(start_ms, start_ms))
    assert rows(history) == [Availability("run", 0, "", 0, 0, 0, ns(start_ms), False)]
