"""Outages: when a scope was not served, until when, and what ended that."""

import pytest

from spark_analysis.schema.service import Outage
from spark_analysis.schema.words import Outcome
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.histories.steady_loads import loaded, steady

NANOSECOND_MS = 0.000001
NONE: list[tuple[float, float]] = []


def rows(history: History, scope: str = "run") -> list[Outage]:
    found = judge(*history.build()).outages
    return sorted(row for row in found if row.scope == scope)


def outages(history: History, scope: str = "run") -> list[tuple[float, float]]:
    return [(row.from_ns / 1e6, row.until_ns / 1e6) for row in rows(history, scope)]


def ended(history: History) -> list[str]:
    return [row.ended for row in rows(history)]


# --- what is one ---------------------------------------------------------------------------------


def test_a_calm_load_has_no_outage() -> None:
    assert judge(*steady(loaded()).build()).outages == ()


def test_an_outage_is_reported_by_run_queue_and_publisher() -> None:
    found = judge(*steady(loaded(), (10_000, 12_000)).build()).outages
    outages_found = (ns(10_000), ns(12_000), "system", 100, 100, "")
    assert sorted(found) == [
        Outage("run", "publisher", "1", *outages_found),
        Outage("run", "queue", "orders", *outages_found),
        Outage("run", "run", "", *outages_found),
    ]


def test_two_bad_publishes_are_no_outage_and_three_are_one() -> None:
    """A stretch of 5 s has 250 publishes here, and two of them may be bad."""
    assert outages(steady(loaded(), (10_000, 10_040))) == NONE
    assert outages(steady(loaded(), (10_000, 10_060))) == [(10_000, 10_060)]


def test_at_load_start_five_bad_publishes_pass_and_six_fail() -> None:
    """No stretch includes a time before the first publish: the 5 s from it on set the limit."""
    assert outages(steady(loaded(), (0, 50), every_ms=10)) == NONE
    assert outages(steady(loaded(), (0, 60), every_ms=10)) == [(0, 60)]


def test_a_slow_queue_is_available_despite_single_late_messages() -> None:
    """Five publishes a second: one late message is no outage, two are one."""
    slow = {"every_ms": 200, "until_ms": 60_000}
    one = steady(loaded(ended_ms=60_000), (10_000, 10_200), **slow)
    assert outages(one, "queue") == NONE
    two = steady(loaded(ended_ms=60_000), (10_000, 10_400), **slow)
    assert outages(two, "queue") == [(10_000, 10_400)]


def stalled(for_ms: float) -> History:
    """From 10 s on the broker answers nothing for so long, and then everything at once."""
    history = steady(loaded())
    for row in history.rows["settlements"]:
        settled_ns = row["settled_ns"]
        assert isinstance(settled_ns, int)
        if ns(10_000) < settled_ns < ns(10_000 + for_ms):
            row["settled_ns"] = ns(10_000 + for_ms)
    return history


def test_a_stall_longer_than_the_deadline_by_100_ms_counts() -> None:
    assert outages(stalled(1_100)) == [(10_000, 10_100)]
    assert outages(stalled(1_040)) == NONE  # two were late
    assert outages(stalled(1_000)) == NONE


@pytest.mark.parametrize(("one_in", "found"), [(100, NONE), (80, [(1_600.0, 25_620.0)])])
def test_a_hundredth_that_is_bad_all_the_time_is_none(
    one_in: int, found: list[tuple[float, float]]
) -> None:
    """Of one in 80 every 5 s have three, but for the last seconds, which prove nothing."""
    history = steady(loaded(), also_bad=range(one_in, 1_500, one_in))
    assert [(start, end) for start, end in outages(history) if end - start > 5_000] == found


def test_one_percent_tolerance_does_not_excuse_a_contiguous_gap() -> None:
    history = steady(loaded(ended_ms=120_000), (60_000, 61_000), until_ms=120_000)
    assert outages(history) == [(60_000, 61_000)]


def test_an_outage_ends_where_5_s_of_service_begin() -> None:
    again = steady(loaded(), (10_000, 12_000), (17_000, 19_000))
    assert outages(again) == [(10_000, 12_000), (17_000, 19_000)]
    sooner = steady(loaded(), (10_000, 12_000), (16_980, 19_000))
    assert outages(sooner) == [(10_000, 19_000)]


def test_an_outage_after_6_s_of_service_is_another_one() -> None:
    history = steady(loaded(), (5_000, 9_000), (15_000, 21_000))
    assert outages(history) == [(5_000, 9_000), (15_000, 21_000)]


def test_service_before_an_outage_counts_up_to_its_last_second() -> None:
    """Of the first 5 s of load no stretch ends there, but one begins."""
    assert outages(steady(loaded(), (5_000, 6_000))) == [(5_000, 6_000)]
    assert outages(steady(loaded(), (4_980, 6_000))) == [(4_980, 6_000)]


def test_short_good_stretches_do_not_split_an_outage() -> None:
    history = steady(loaded(), (10_000, 12_000), (13_000, 15_000), (16_000, 17_000))
    (row,) = rows(history)
    assert (row.from_ns, row.until_ns) == (ns(10_000), ns(17_000))
    assert (row.due, row.bad) == (350, 250)


def test_a_narrower_scope_needs_20_publishes_and_the_run_200() -> None:
    """At ten a second 5 s are 50 publishes: a queue is served after them, the run after 20 s."""
    history = steady(
        loaded(ended_ms=60_000), (10_000, 11_000), (20_000, 21_000), every_ms=100, until_ms=60_000
    )
    assert outages(history, "queue") == [(10_000, 11_000), (20_000, 21_000)]
    assert outages(history, "publisher") == [(10_000, 11_000), (20_000, 21_000)]
    assert outages(history) == [(10_000, 21_000)]


def test_a_dead_queue_is_unavailable_although_the_run_is_not() -> None:
    """A hundredth of the load goes to it."""
    history = steady(loaded().queue("bills"), every_ms=5).worker(7, "publisher")
    steady(history, (8_000, 30_000), every_ms=500, queue="bills", producer=7, offset_ms=2)
    assert outages(history) == NONE
    found = judge(*history.build()).outages
    assert sorted((row.scope, row.name, row.ended) for row in found) == [
        ("publisher", "7", "never"),
        ("queue", "bills", "never"),
    ]


# --- due publishes, and bad ones -----------------------------------------------------------------


def test_retries_are_not_due() -> None:
    history = steady(loaded(), (10_000, 12_000))
    for sequence in range(500, 600):
        history.publish(sequence, at_ms=11_500, attempt=2)
    (row,) = rows(history)
    assert (row.due, row.bad) == (100, 100)


def test_a_retry_confirmed_in_time_makes_its_message_good() -> None:
    history = steady(loaded(), (10_000, 12_000))
    for sequence in range(500, 600):
        at_ms = sequence * 20 + 900
        history.publish(sequence, at_ms=at_ms, attempt=2)
        history.confirm(sequence, at_ms=at_ms + 100, attempt=2)
    assert outages(history) == NONE


def test_an_absent_publisher_causes_no_outage() -> None:
    history = steady(loaded(), (10_000, 12_000))
    assert outages(history.away(1, 10_500, 12_000)) == NONE
    shorter = steady(loaded(), (9_000, 12_000)).away(1, 10_500, 12_000)
    assert outages(shorter) == [(9_000, 12_000)]


def test_unsent_publishes_count_as_bad() -> None:
    history = loaded()
    for sequence in range(500, 600):
        history.not_sent(sequence, intended_ms=sequence * 20)
    history.flow(range(500), from_ms=0, every_ms=20).flow(
        range(600, 1_500), from_ms=12_000, every_ms=20
    )
    assert outages(history) == [(10_000, 12_000)]


def test_a_refusal_is_bad() -> None:
    history = steady(loaded(), (10_000, 12_000))
    for sequence in range(500, 600):
        history.settle(sequence, Outcome.REFUSED, at_ms=sequence * 20 + 1)
    assert outages(history) == [(10_000, 12_000)]


def test_publishes_after_the_load_are_not_due() -> None:
    history = steady(loaded(ended_ms=20_000), (20_000 + NANOSECOND_MS, 30_000))
    assert outages(history) == NONE
    assert judge(*history.build()).outages == ()


def test_a_confirm_after_load_end_may_still_be_in_time() -> None:
    history = steady(loaded(), (29_500, 30_000))
    for sequence in range(1_475, 1_500):
        history.confirm(sequence, at_ms=30_400)
    assert outages(history) == NONE


@pytest.mark.parametrize("calm", [{"paced": False}, {"confirms": False}])
def test_without_pace_or_confirms_there_is_no_history(calm: dict[str, bool]) -> None:
    history = History(load_ms=(0, 30_000), **calm).window(10_000)  # type: ignore[arg-type]
    findings = judge(*steady(history, (10_000, 20_000)).build())
    assert (findings.outages, findings.service) == ((), ())
    assert [(row.due, row.sent) for row in findings.exposure] == [(0, 0)]


# --- without an end ------------------------------------------------------------------------------


def test_an_outage_until_the_end_of_load_never_ended() -> None:
    (row,) = rows(steady(loaded(), (20_000, 30_000)))
    assert (row.from_ns, row.until_ns, row.ended) == (ns(20_000), ns(30_000), "never")
    assert (row.due, row.bad) == (500, 500)


def test_good_service_too_short_before_load_end_is_undecided() -> None:
    whole = steady(loaded(), (20_000, 25_000))
    assert [(row.until_ns, row.ended) for row in rows(whole)] == [(ns(25_000), "system")]
    cut_off = steady(loaded(), (20_000, 25_020))
    (row,) = rows(cut_off)
    assert (row.until_ns, row.ended, row.due, row.bad) == (ns(25_020), "unknown", 251, 251)


def test_a_hundredth_or_one_may_be_bad_among_the_last() -> None:
    two = steady(loaded(), (20_000, 26_000), also_bad=[1_400, 1_499])
    assert [(row.until_ns, row.ended) for row in rows(two)] == [(ns(26_000), "unknown")]
    three = steady(loaded(), (20_000, 26_000), also_bad=[1_400, 1_450, 1_499])
    assert [(row.until_ns, row.ended) for row in rows(three)] == [(ns(29_020), "unknown")]


# --- what ended it -------------------------------------------------------------------------------


def under(*bad_ms: tuple[float, float], **window: float | bool) -> History:
    """A fault from 8 s to 20.1 s, whose undo is issued at 20 s."""
    outages_found = {"ended_ms": 20_100, "undo_ms": 20_000, **window}
    history = loaded().window(8_000, **outages_found)  # type: ignore[arg-type]
    return steady(history, *bad_ms)


def test_the_system_ended_an_outage_long_before_the_undo() -> None:
    (row,) = rows(under((8_000, 12_000)))
    assert (row.ended, row.windows) == ("system", "1")


@pytest.mark.parametrize(
    ("back_ms", "by"),
    [
        (15_000, "system"),  # 200 publishes of it were decided before the undo
        (17_000, "system"),  # 100 were, and the others, too, were confirmed at once
        (17_020, "either"),
        (19_980, "either"),
        (20_000, "undo"),
        (23_000, "undo"),
    ],
)
def test_the_later_service_begins_the_less_of_it_is_proved(back_ms: float, by: str) -> None:
    assert ended(under((8_000, back_ms))) == [by]


def test_publishes_released_by_the_undo_do_not_end_the_outage() -> None:
    history = under((8_000, 19_000))
    for row in history.rows["settlements"]:
        settled_ns = row["settled_ns"]
        assert isinstance(settled_ns, int)
        if ns(19_000) < settled_ns < ns(20_000):
            row["settled_ns"] = ns(20_000)
    assert [(row.until_ns, row.ended) for row in rows(history)] == [(ns(19_000), "undo")]


def test_without_a_recorded_undo_the_recovery_may_be_of_either() -> None:
    history = loaded().window(8_000, ended_ms=20_100)
    assert ended(steady(history, (8_000, 12_000))) == ["either"]


@pytest.mark.parametrize(("back_ms", "by"), [(20_100, "undo"), (20_080, "either")])
def test_an_outage_until_the_undo_returned_was_ended_by_it(back_ms: float, by: str) -> None:
    history = loaded().window(8_000, ended_ms=20_100)
    assert ended(steady(history, (8_000, back_ms))) == [by]


def test_outages_of_an_endless_fault_end_by_the_system() -> None:
    history = loaded().window(8_000, never_ended=True)
    assert ended(steady(history, (8_000, 12_000))) == ["system"]


def test_an_outage_that_began_during_the_undo_is_not_its() -> None:
    """The fault was in force no more for certain, but it was not over."""
    assert ended(under((20_000, 22_000))) == ["system"]
    (row,) = rows(under((20_000, 22_000)))
    assert row.windows == "1"
    assert ended(under((19_980, 22_000))) == ["undo"]


@pytest.mark.parametrize(
    ("bad_ms", "windows"),
    [
        ((6_000, 8_000), ""),
        ((6_000, 8_020), "1"),
        ((20_080, 22_000), "1"),
        ((20_100, 22_000), ""),
        ((7_000, 26_000), "1,2"),
    ],
)
def test_an_outage_names_the_windows_that_it_overlaps(
    bad_ms: tuple[float, float], windows: str
) -> None:
    history = loaded().window(8_000, ended_ms=20_100, undo_ms=20_000)
    history.window(24_000, ended_ms=25_000, undo_ms=25_000)
    assert [row.windows for row in rows(steady(history, bad_ms))] == [windows]


def test_under_two_faults_the_undo_of_one_is_enough() -> None:
    history = loaded().window(8_000, never_ended=True)
    history.window(9_000, ended_ms=20_100, undo_ms=20_000)
    assert ended(steady(history, (9_000, 21_000))) == ["undo"]
    either = loaded().window(8_000, never_ended=True).window(9_000, ended_ms=20_100)
    assert ended(steady(either, (9_000, 20_080))) == ["either"]


def test_beside_a_cluster_fault_the_undo_of_a_client_fault_ends_no_outage() -> None:
    """A consumer stands still from 7 to 9 s, a broker is dead from 8 to 20 s."""

    def beside(kind: str, bad_ms: tuple[float, float]) -> list[str]:
        history = loaded().window(7_000, ended_ms=9_000, undo_ms=8_900, kind=kind)
        history.window(8_000, ended_ms=20_100, undo_ms=20_000)
        return ended(steady(history, bad_ms))

    assert beside("client_freeze", (8_000, 14_000)) == ["system"]
    assert beside("client_freeze", (8_000, 21_000)) == ["undo"]
    assert beside("freeze", (8_000, 14_000)) == ["undo"]


def test_the_undo_of_a_client_fault_ends_an_outage_under_it_alone() -> None:
    history = loaded().window(7_000, ended_ms=9_000, undo_ms=8_900, kind="client_freeze")
    assert ended(steady(history, (7_500, 9_500))) == ["undo"]
