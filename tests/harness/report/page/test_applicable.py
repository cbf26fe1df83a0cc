"""Rows of the comparison that a page leaves out, because they say nothing in their cell."""

from dataclasses import replace

import pytest

from harness.report.console.tables import comparison_text
from harness.report.page.measures import applicable, measure_text
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import summed
from tests.rigs.runs.reports import CELL, compared, report

STEPS = tuple(
    compared(CELL, measure, 2e9) for measure in ("first_success", "consumers_resumed", "lost")
)
RECOVERY = (compared(CELL, "degraded", 1e5, bounds=5),)


@pytest.mark.parametrize(
    ("consumers", "measures"),
    [(0, ["first_success", "lost"]), (2, ["first_success", "consumers_resumed", "lost"])],
)
def test_without_consumers_there_is_no_step_of_theirs(consumers: int, measures: list[str]) -> None:
    made = report(summed(Story(consumers=consumers)), comparison=STEPS)
    assert [row.measure for row in applicable(made)] == measures


def test_a_cell_whose_runs_cannot_be_read_keeps_all_rows() -> None:
    made = report(replace(summed(Story()), summary=None), comparison=STEPS)
    assert tuple(applicable(made)) == STEPS


def test_an_unknown_recovery_time_needs_a_downtime() -> None:
    assert not [*applicable(report(summed(Story()), comparison=RECOVERY))]
    out = Story().outage(12, 14)
    assert tuple(applicable(report(summed(out), comparison=RECOVERY))) == RECOVERY


def test_without_a_late_message_a_dash_stands_for_the_time() -> None:
    row = compared(CELL, "degraded", 1e5)
    text = measure_text(row, (summed(Story().missed(0)),))
    assert (text.median, text.range) == ("–", "no message was late")
    runs = (summed(Story().missed(0)), summed(Story(), repeat=2))
    mixed = measure_text(row, runs)
    assert (mixed.median, mixed.range) == ("–", "on time again within 0.05 s")
    assert measure_text(compared(CELL, "degraded", 5e8), runs).median != "–"


def test_a_time_says_that_later_messages_were_late() -> None:
    story = Story().stage("sustained_success", 0.5).missed(1).affect("missed", "", 1, 41.0)
    text = measure_text(compared(CELL, "degraded", 5e8), (summed(story),))
    assert text.range.endswith("; later messages were late")
    assert "late" not in measure_text(compared(CELL, "silence", 5e8), (summed(story),)).range


def test_only_runs_with_one_fault_never_reached_a_step() -> None:
    bound = compared(CELL, "first_success", 20e9, minimum=20e9, maximum=20e9, bounds=5)
    alone, twice = summed(Story()), summed(Story().window(2, "kill", opens=40))
    assert measure_text(bound, (alone,)).median == "not before the load ended (20.0\u00a0s)"
    assert comparison_text(bound, (alone,)) == "not before the load ended (20.0 s)"
    stalled = summed(Story().doubt("availability", "stalled", window=1))
    for runs in ((twice,), (alone, twice), (stalled,), ()):  # it may be reached
        assert measure_text(bound, runs).median == "≥ 20.0\u00a0s"
        assert comparison_text(bound, runs).startswith(">= 20.0 s")
