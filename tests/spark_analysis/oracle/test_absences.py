"""Workers that a fault kept away: what that excuses, and what it leaves unknown."""

from collections.abc import Mapping

import pytest

from spark_analysis.schema.doubts import Doubt
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.words import Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, counts

NANOSECOND_MS = 0.000001
OTHER = 3


def judged(history: History) -> Findings:
    return judge(*history.build())


def publishes(history: History) -> Mapping[str, int]:
    return counts(judged(history), "operations", "missed", "excused")


def doubts(history: History) -> list[tuple[int, str]]:
    found: list[Doubt] = sorted(judged(history).doubts)
    return [(row.window, row.reason) for row in found]


EXCUSED, MISSED = {"excused": 1}, {"operations": 1, "missed": 1}


@pytest.mark.parametrize(
    ("from_ms", "until_ms", "found"),
    [
        (5_000, 12_000, EXCUSED),  # No publisher was there to send it.
        (10_500, 12_000, EXCUSED),  # No publisher was there to read its confirm.
        (11_000, 12_000, EXCUSED),  # gone at the last instant of the deadline
        (11_000 + NANOSECOND_MS, 12_000, MISSED),
        (5_000, 10_000, MISSED),  # back when it was intended
        (5_000, 10_000 + NANOSECOND_MS, EXCUSED),
        (10_500, 10_500, MISSED),  # no time at all
        (10_900, 10_100, MISSED),  # over before it began
        (20_000, None, MISSED),
        (9_000, None, EXCUSED),
    ],
)
def test_a_publish_is_excused_if_its_publisher_was_away_meanwhile(
    from_ms: float, until_ms: float | None, found: dict[str, int]
) -> None:
    history = History(deadline_ms=1_000).publish(1, at_ms=10_000).settle(1, Outcome.UNKNOWN)
    assert publishes(history.away(PUBLISHER, from_ms, until_ms)) == found


def test_the_absence_of_another_worker_excuses_nothing() -> None:
    history = History(deadline_ms=1_000).publish(1, at_ms=10_000).settle(1, Outcome.UNKNOWN)
    assert publishes(history.away(CONSUMER, 9_000, 12_000)) == MISSED


def test_an_excused_publish_is_in_no_second_and_no_window() -> None:
    history = History().window(5_000).publish(1, at_ms=6_000).away(PUBLISHER, 5_000, 9_000)
    found = judged(history)
    assert found.seconds == ()
    assert {row.operations for row in found.availability} == {0}


def test_an_absence_does_not_excuse_an_earlier_confirmed_loss() -> None:
    history = History().publish(1, at_ms=4_000).confirm(1).away(PUBLISHER, 5_000, 9_000)
    assert counts(judged(history), "lost") == {"lost replicated": 1}


@pytest.mark.parametrize(
    ("at_ms", "late_ms", "stalled"),
    [
        (9_000, 4_000, False),  # away all the time that the tick was late
        (9_100, 4_100, False),  # and 100 ms more
        (9_100 + NANOSECOND_MS, 4_100 + NANOSECOND_MS, True),
        (9_000, 4_100 + NANOSECOND_MS, True),  # it was late before it was kept away
        (12_000, 200, True),
        (4_000, 200, True),
    ],
)
def test_a_workers_absence_by_fault_is_no_stall(
    at_ms: float, late_ms: float, stalled: bool
) -> None:
    history = History().stall(CONSUMER, at_ms=at_ms, late_ms=late_ms)
    history.worker(OTHER, "consumer").away(CONSUMER, 5_000, 9_000)
    assert doubts(history) == ([(0, "consumer_stalled")] if stalled else [])


def test_a_stall_by_a_fault_does_not_hide_later_ones() -> None:
    history = History().worker(OTHER, "consumer").away(CONSUMER, 5_000, 9_000)
    history.stall(CONSUMER, at_ms=9_000, late_ms=4_000).stall(CONSUMER, at_ms=12_000, late_ms=200)
    assert doubts(history) == [(0, "consumer_stalled")]


def test_all_absences_within_a_stall_are_subtracted() -> None:
    history = History().worker(OTHER, "consumer").stall(CONSUMER, at_ms=9_000, late_ms=4_100)
    assert doubts(history.away(CONSUMER, 4_900, 5_000)) == [
        (0, "consumer_stalled"),
        (0, "consumer_stalls"),
    ]
    assert doubts(history.away(CONSUMER, 5_000, 9_000)) == []


@pytest.mark.parametrize(
    ("second", "found"),
    [
        ((7_000, 10_000), []),
        ((8_000, 10_000), []),
        ((8_100, 10_000), []),
        ((8_100 + NANOSECOND_MS, 10_000), [(0, "consumer_stalled")]),
        ((6_000, 7_000), [(0, "consumer_stalled")]),
    ],
)
def test_absences_that_overlap_are_subtracted_from_a_stall_once(
    second: tuple[float, float], found: list[tuple[int, str]]
) -> None:
    history = History().worker(OTHER, "consumer").stall(CONSUMER, at_ms=10_000, late_ms=5_000)
    assert doubts(history.away(CONSUMER, 5_000, 8_000).away(CONSUMER, *second)) == found


def test_a_stall_of_one_that_was_not_away_is_one() -> None:
    history = History().worker(OTHER, "publisher").stall(OTHER, at_ms=9_000, late_ms=4_000)
    assert doubts(history.away(PUBLISHER, 5_000, 9_000)) == [(0, "stalled"), (0, "stalls")]


def test_with_all_publishers_away_availability_is_unknown() -> None:
    history = History().window(5_000).window(20_000).away(PUBLISHER, 5_000, 9_000)
    assert doubts(history) == [(1, "publishers_absent")]


def test_with_all_consumers_away_service_of_consumers_is_unknown() -> None:
    history = History().window(5_000).window(20_000).away(CONSUMER, 5_000, 20_000 + NANOSECOND_MS)
    assert doubts(history) == [(1, "consumers_absent"), (2, "consumers_absent")]


def test_the_last_nanosecond_of_a_window_is_part_of_it() -> None:
    history = History().window(5_000).window(20_000)
    history.away(PUBLISHER, 20_000 - NANOSECOND_MS, 30_000)
    assert doubts(history) == [(1, "publishers_absent"), (2, "publishers_absent")]


def test_a_window_after_the_load_causes_no_absence() -> None:
    history = History(load_ms=(0, 10_000)).window(12_000).away(PUBLISHER, 5_000, 20_000)
    assert doubts(history) == [(0, "publishers_absent")]


def test_a_window_without_length_causes_no_absence() -> None:
    history = History().window(5_000).window(5_000).away(PUBLISHER, 4_000, 9_000)
    assert doubts(history) == [(0, "publishers_absent"), (2, "publishers_absent")]


def test_a_steady_state_before_the_load_causes_no_absence() -> None:
    history = History(load_ms=(5_000, 10_000)).window(3_000).away(PUBLISHER, 2_000, 6_000)
    assert doubts(history) == [(1, "publishers_absent")]


def test_one_publisher_that_was_always_present_is_enough() -> None:
    history = History().worker(OTHER, "publisher").window(5_000).away(PUBLISHER, 5_000, None)
    assert doubts(history) == []


def test_a_replacement_for_a_dead_publisher_was_not_always_present() -> None:
    history = History().worker(OTHER, "publisher").window(5_000).window(20_000)
    history.away(PUBLISHER, 5_000, None).away(OTHER, 0, 9_000)
    assert doubts(history) == [(1, "publishers_absent")]
