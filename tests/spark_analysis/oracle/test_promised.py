"""Who was served from the promised time on."""

from typing import Any

import pytest

from spark_analysis.schema.findings import Findings
from spark_analysis.schema.service import Service
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.histories.steady_loads import loaded, steady

# A fault from 8 s to 20.1 s, whose undo is issued at 20 s; the deadline is 1 s.
FAULT: dict[str, Any] = {"at_ms": 8_000, "ended_ms": 20_100, "undo_ms": 20_000, "gone_ms": 20_100}


def faulted(**fault: Any) -> History:
    return loaded().window(**{**FAULT, **fault})


def row(findings: Findings, promise: str, scope: str = "run", window: int = 1) -> Service:
    (found,) = (
        each
        for each in findings.service
        if (each.promise, each.scope, each.window) == (promise, scope, window)
    )
    return found


def verdict(history: History, promise: str = "fault", scope: str = "run") -> str:
    return row(judge(*history.build()), promise, scope).verdict


# --- of sources that name no time ----------------------------------------------------------------


def test_a_row_shows_the_limit_and_the_number_due() -> None:
    findings = judge(*steady(faulted(), (8_000, 12_000)).build())
    answers = ("fault", ns(12_000), ns(20_000), 600, 400, 0, "served")
    assert row(findings, "fault") == Service("run", 1, "run", "", *answers)
    assert row(findings, "fault", "queue") == Service("run", 1, "queue", "orders", *answers)
    assert row(findings, "fault", "publisher") == Service("run", 1, "publisher", "1", *answers)


def test_a_fault_without_effect_is_served_from_its_start() -> None:
    found = row(judge(*steady(faulted(returned_ms=8_300)).build()), "fault")
    assert (found.from_ns, found.in_force, found.verdict) == (ns(8_300), 585, "served")


def test_an_outage_that_the_undo_ends_is_no_service() -> None:
    history = steady(faulted(), (8_000, 21_000))
    found = row(judge(*history.build()), "fault")
    assert (found.from_ns, found.worst_ns, found.verdict) == (ns(8_000), ns(12_000), "out")


def held_until_the_undo() -> History:
    """What is sent in the fault is confirmed when it is being undone, and no sooner: in time for
    what was sent in its last second."""
    history = steady(faulted(), (8_000, 20_020))
    for sequence in range(400, 1_001):
        history.confirm(sequence, at_ms=20_021 + (sequence - 400) / 1_000)
    return history


def test_service_released_by_the_undo_is_not_service_under_fault() -> None:
    findings = judge(*held_until_the_undo().build())
    (stage,) = (each for each in findings.stages if each.stage == "sustained_success")
    assert stage.after_ns < ns(12_000), "it seems to begin under the fault"
    found = row(findings, "fault")
    assert (found.from_ns, found.verdict) == (ns(8_000), "out")


def test_service_that_breaks_again_until_the_undo_is_no_service() -> None:
    history = steady(faulted(), (8_000, 10_000), (16_000, 21_000))
    found = row(judge(*history.build()), "fault")
    assert (found.from_ns, found.worst_ns, found.verdict) == (ns(10_000), ns(4_000), "out")


def test_an_outage_within_a_deadline_of_the_undo_is_open() -> None:
    """Of 250 publishes two may be bad; three were due a deadline before the undo."""
    assert verdict(steady(faulted(), (18_940, 21_000))) == "out"
    assert verdict(steady(faulted(), (18_960, 21_000))) == "open"


def test_two_bad_ones_within_the_time_are_none() -> None:
    assert verdict(steady(faulted(), (19_960, 22_000))) == "served"
    assert verdict(steady(faulted(), (19_940, 22_000))) == "open"


def test_an_outage_that_may_be_eithers_to_end_is_open() -> None:
    assert verdict(steady(faulted(), (16_000, 18_000))) == "open"


def test_an_outage_followed_by_enough_service_is_forgiven() -> None:
    assert verdict(steady(faulted(), (10_000, 14_000))) == "served"


def slow(back_ms: float) -> History:
    """Four publishes a second, and a fault that is never undone; a second outage under it."""
    history = loaded(ended_ms=60_000).window(8_000, never_ended=True)
    return steady(history, (40_000, back_ms), every_ms=250, until_ms=60_000)


def test_after_an_outage_20_publishes_must_be_decided() -> None:
    assert verdict(slow(54_000), scope="queue") == "served"
    assert verdict(slow(54_250), scope="queue") == "open"


def test_a_fault_without_undo_is_checked_until_load_end() -> None:
    history = steady(loaded().window(8_000, never_ended=True), (20_000, 30_000))
    found = row(judge(*history.build()), "fault")
    assert (found.until_ns, found.worst_ns, found.verdict) == (ns(30_000), ns(10_000), "out")


def test_service_that_possibly_returned_before_load_end_is_open() -> None:
    history = steady(loaded().window(8_000, never_ended=True), (20_000, 27_000))
    assert verdict(history) == "open"


@pytest.mark.parametrize(
    ("undo_ms", "run", "queue"),
    [
        (10_000, "served", "served"),
        (9_980, "few", "served"),
        (8_400, "few", "served"),
        (8_380, "few", "few"),
    ],
)
def test_enough_must_be_due_under_the_fault(undo_ms: float, run: str, queue: str) -> None:
    """100 of the run, 20 of a queue."""
    history = steady(faulted(undo_ms=undo_ms))
    assert (verdict(history), verdict(history, scope="queue")) == (run, queue)


def test_an_outage_before_the_fault_makes_the_window_sick() -> None:
    assert verdict(steady(faulted(), (6_980, 21_000))) == "sick"
    assert verdict(steady(faulted(), (7_000, 21_000))) == "out"


def test_a_load_that_recovered_before_the_fault_was_not_sick() -> None:
    assert verdict(steady(faulted(), (5_000, 8_000))) == "served"
    assert verdict(steady(faulted(), (5_000, 8_020))) == "sick"


def test_a_load_unavailable_from_before_until_the_end_is_sick() -> None:
    assert verdict(steady(faulted(), (5_000, 30_000))) == "sick"


def test_service_without_due_publishes_is_not_judged() -> None:
    findings = judge(*faulted().build())
    assert row(findings, "fault").verdict == row(findings, "healed").verdict == "few"
    assert {each.scope for each in findings.service} == {"run"}


def test_a_dead_queue_and_a_dead_publisher_are_unavailable() -> None:
    history = faulted().queue("bills").worker(7, "publisher")
    steady(history, every_ms=5)
    steady(history, (8_000, 30_000), every_ms=500, queue="bills", producer=7, offset_ms=2)
    findings = judge(*history.build())
    answers = {
        (each.scope, each.name): each.verdict
        for each in findings.service
        if each.promise == "fault"
    }
    assert answers == {
        ("run", ""): "served",
        ("queue", "orders"): "served",
        ("queue", "bills"): "out",
        ("publisher", "1"): "served",
        ("publisher", "7"): "out",
    }


# --- of sources that name a time -----------------------------------------------------------------


def promised(*bad_ms: tuple[float, float], after_ms: float = 3_000, **fault: Any) -> History:
    return steady(faulted(**fault).promise("timer", after_ms), *bad_ms)


def test_a_promise_is_kept_by_service_from_its_time_on() -> None:
    found = row(judge(*promised((8_000, 11_000)).build()), "timer")
    assert (found.from_ns, found.until_ns) == (ns(11_000), ns(20_000))
    assert (found.in_force, found.due, found.verdict) == (600, 450, "served")


def test_two_bad_publishes_break_no_promise_but_three_do() -> None:
    assert verdict(promised((8_000, 11_040)), "timer") == "served"
    broken = row(judge(*promised((8_000, 11_060)).build()), "timer")
    assert (broken.worst_ns, broken.verdict) == (ns(60), "out")


def test_a_promise_runs_from_when_the_fault_had_been_made() -> None:
    assert verdict(promised((8_000, 11_300), returned_ms=8_300), "timer") == "served"


def test_a_second_outage_breaks_a_promise_of_any_recovery() -> None:
    assert verdict(promised((13_000, 14_000)), "timer") == "out"
    assert verdict(promised((13_000, 14_000)), "fault") == "served"
    assert verdict(promised((16_000, 21_000)), "timer") == "out"
    assert verdict(promised((16_000, 18_000)), "timer") == "open"


@pytest.mark.parametrize("name", ["a minute", "fault + 5 s", "zero"])
def test_any_promise_is_broken_by_an_outage_after_its_time(name: str) -> None:
    history = steady(faulted().promise(name, 3_000), (13_000, 14_000))
    assert verdict(history, name) == "out"


def test_an_outage_too_late_to_decide_leaves_a_promise_open() -> None:
    assert verdict(promised((19_000, 22_000)), "timer") == "open"


def test_a_promise_due_near_the_faults_end_is_not_judged() -> None:
    assert verdict(promised(after_ms=11_600), "timer") == "served"
    assert verdict(promised(after_ms=11_620), "timer") == "few"
    assert verdict(promised(after_ms=60_000), "timer") == "few"


def test_each_promise_is_checked_separately() -> None:
    history = steady(faulted().promise("soon", 1_000).promise("late", 5_000), (8_000, 11_000))
    findings = judge(*history.build())
    assert row(findings, "soon").verdict == "out"
    assert row(findings, "late").verdict == "served"


# --- healed, hence served ------------------------------------------------------------------------


def healed(*bad_ms: tuple[float, float], **fault: Any) -> History:
    """Seen to be gone at 20.1 s; a deadline and 2 s later all are to be served."""
    return steady(faulted(**fault), *bad_ms)


def test_recovery_is_checked_until_load_end() -> None:
    found = row(judge(*healed((8_000, 22_000)).build()), "healed")
    assert (found.from_ns, found.until_ns) == (ns(23_100), ns(30_000))
    assert (found.in_force, found.due, found.verdict) == (345, 345, "served")


def test_service_after_the_undo_is_checked_until_the_next_fault() -> None:
    history = steady(faulted().window(26_000, ended_ms=27_000, gone_ms=27_000), (26_000, 28_000))
    findings = judge(*history.build())
    found = row(findings, "healed")
    assert (found.until_ns, found.due, found.verdict) == (ns(26_000), 145, "served")
    assert row(findings, "healed", window=2).until_ns == ns(30_000)


def test_an_outage_that_outlives_its_fault_is_not_healed() -> None:
    assert verdict(healed((8_000, 23_140)), "healed") == "served"
    assert verdict(healed((8_000, 23_160)), "healed") == "out"
    assert verdict(healed((8_000, 30_000)), "healed") == "out"


def test_an_outage_between_the_undo_and_then_breaks_no_claim() -> None:
    assert verdict(healed((20_500, 23_000)), "healed") == "served"


def test_a_new_outage_after_the_fault_is_not_served() -> None:
    assert verdict(healed((24_000, 24_500)), "healed") == "out"


def test_an_outage_in_the_loads_last_deadline_is_open() -> None:
    assert verdict(healed((28_940, 30_000)), "healed") == "out"
    assert verdict(healed((28_960, 30_000)), "healed") == "open"


def test_after_the_fault_an_outage_counts_even_until_load_end() -> None:
    assert verdict(healed((24_000, 27_000)), "healed") == "out"
    assert verdict(healed((8_000, 27_000)), "healed") == "out"


@pytest.mark.parametrize(("every", "said"), [(1, "out"), (3, "open")])
def test_possible_recovery_before_load_end_is_open_unless_most_missed(
    every: int, said: str
) -> None:
    """Of what is bad only in part a stretch might have been made of it, had the load gone on."""
    missed = set(range(1_300, 1_350, every))
    history = History(load_ms=(0, 30_000), deadline_ms=1_000).window(**FAULT)
    for number in range(1_500):
        history.publish(number, at_ms=number * 20)
        if number not in missed:
            history.confirm(number, at_ms=number * 20 + 1)
    assert verdict(history, "healed") == said


def test_a_client_with_a_longer_limit_is_checked_later() -> None:
    history = History(load_ms=(0, 30_000), reconnect_ms=5_000).window(**FAULT)
    found = row(judge(*steady(history, (8_000, 26_000)).build()), "healed")
    assert (found.from_ns, found.verdict) == (ns(26_100), "served")


def test_a_fault_that_was_not_verified_ended_starts_no_recovery() -> None:
    def promises(history: History) -> set[str]:
        return {each.promise for each in judge(*steady(history).build()).service}

    assert promises(faulted()) == {"fault", "healed"}
    assert promises(faulted(gone=False)) == {"fault"}
    assert promises(faulted(never_ended=True, gone_ms=None)) == {"fault"}


def stormy(*bad_ms: tuple[float, float], **second: Any) -> History:
    """Beside the first fault, which was gone at 20.1 s, a second one, by itself gone at 22 s."""
    usual = {"at_ms": 15_000, "ended_ms": 22_000, "undo_ms": 21_900, "gone_ms": 22_000}
    return steady(faulted().window(**{**usual, **second}), *bad_ms)


def test_overlapping_faults_are_healed_after_the_last_of_them() -> None:
    findings = judge(*stormy((8_000, 24_000)).build())
    for window in (1, 2):
        found = row(findings, "healed", window=window)
        assert (found.from_ns, found.until_ns) == (ns(25_000), ns(30_000))
        assert found.verdict == "served", "what was out since the first is no sick load"


def test_a_dead_queue_after_overlapping_faults_is_unavailable_for_both() -> None:
    findings = judge(*stormy((8_000, 30_000)).build())
    assert {row(findings, "healed", window=window).verdict for window in (1, 2)} == {"out"}


def test_consecutive_faults_are_one_overlapping_group() -> None:
    history = stormy().window(22_000, ended_ms=23_000, gone_ms=23_000)
    findings = judge(*history.build())
    from_ns = {row(findings, "healed", window=window).from_ns for window in (1, 2, 3)}
    assert from_ns == {ns(26_000)}


def test_a_fault_just_after_another_does_not_overlap_it() -> None:
    findings = judge(*stormy(at_ms=20_101).build())
    assert row(findings, "healed").until_ns == ns(20_101)
    assert row(findings, "healed", window=2).from_ns == ns(25_000)


@pytest.mark.parametrize("second", [{"gone": False}, {"never_ended": True}])
def test_a_fault_that_never_ends_prevents_recovery(second: dict[str, Any]) -> None:
    never = {"gone_ms": None, "undo_ms": None} if "never_ended" in second else {}
    findings = judge(*stormy(**second, **never).build())
    assert {each.promise for each in findings.service} == {"fault"}


def after_an_undo(gone_ms: float | None, *out_ms: tuple[float, float]) -> Service:
    """Service of the publisher after the fault."""
    findings = judge(*steady(faulted(gone_ms=gone_ms), *out_ms).build())
    return row(findings, "healed", "publisher")


def test_a_fault_of_unknown_end_is_judged_by_both_extremes() -> None:
    """It was gone from 20.1 s on, or from 25.1 s on; clients have 3 s more."""
    soon = (24_000, 27_000)
    noted = [after_an_undo(gone_ms, soon).verdict for gone_ms in (20_100, 25_100)]
    assert noted == ["out", "served"]
    found = after_an_undo(None, soon)
    assert (found.verdict, found.from_ns, found.worst_ns) == ("open", ns(23_100), 0)
    assert after_an_undo(None, (24_000, 30_000)).verdict == "out"
    assert after_an_undo(None, (8_000, 21_000)).verdict == "served"


def test_an_outage_that_another_faults_undo_ended_leaves_this_fault_open() -> None:
    """The first fault lasts from 8 to 20 s, the second one from 9 to 26 s."""
    second = {"at_ms": 9_000, "ended_ms": 26_100, "undo_ms": 26_000, "gone_ms": 26_200}
    findings = judge(*stormy((9_000, 21_000), **second).build())
    assert [row(findings, "fault", window=window).verdict for window in (1, 2)] == ["out", "open"]
    findings = judge(*stormy((9_000, 27_000), **second).build())
    assert {row(findings, "fault", window=window).verdict for window in (1, 2)} == {"out"}
    findings = judge(*stormy((9_000, 14_000), **second).build())
    assert {row(findings, "fault", window=window).verdict for window in (1, 2)} == {"served"}


def test_a_client_fault_is_not_part_of_overlapping_faults() -> None:
    lost = {"kind": "client_crash", "gone_ms": None, "undo_ms": None, "never_ended": True}
    findings = judge(*stormy(**lost).build())
    assert row(findings, "healed").from_ns == ns(23_100)
    back = judge(*stormy(kind="client_freeze").build())
    assert row(back, "healed").from_ns == ns(23_100)
    assert row(back, "healed", window=2).from_ns == ns(25_000), "it began beside the first"


# --- what a fault met ----------------------------------------------------------------------------


def test_exposure_counts_publishes_due_and_sent_during_the_fault() -> None:
    history = steady(faulted(returned_ms=8_010))
    history.publish(9_000, at_ms=8_010, intended_ms=7_000).publish(9_001, at_ms=20_000)
    history.publish(399, at_ms=9_000, attempt=2).not_sent(9_002, intended_ms=9_000)
    (found,) = judge(*history.build()).exposure
    assert (found.window, found.from_ns, found.until_ns) == (1, ns(8_010), ns(20_000))
    assert (found.due, found.sent) == (600, 600)
