"""Reports of hundreds of runs: which runs are described at length, and which are omitted."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.model import Cell
from harness.report.page import claims as claims_page
from harness.report.page import measures as measures_page
from harness.report.page import runs as runs_page
from harness.report.page.cells import cells
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import crash, judged_run, page_of, summed
from tests.rigs.runs.reports import CELL, compared


def cell(number: int) -> Cell:
    return (f"scenario-{number}", *CELL[1:])


def test_worst_run_of_every_cell_is_shown_first_in_full(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(runs_page, "LENGTHY_MAX", 2)
    report = page_of(
        judged_run(tmp_path / "a1", crash(every_ms=500), cell=cell(1)),
        judged_run(tmp_path / "a2", crash(every_ms=500, lost=[30]), cell=cell(1)),
        judged_run(tmp_path / "b1", crash(every_ms=500), cell=cell(2)),
    )
    run_views = runs_page.runs(report, cells(report))
    assert [bool(run.chart) for run in run_views] == [True, False, True]
    short = run_views[1]
    assert short.left_out.endswith("what was recorded is in runs/a2/raw.")
    assert short.verdicts
    assert short.faults
    assert not short.affected
    assert not run_views[0].left_out


def test_merged_report_names_the_experiment_with_the_details(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(runs_page, "LENGTHY_MAX", 0)
    made = judged_run(tmp_path / "a1", crash(every_ms=500))
    report = page_of(replace(made, piece="20260101-000000-beef"))
    (short,) = runs_page.runs(report, cells(report))
    assert short.left_out.endswith("the report of experiment 20260101-000000-beef has them.")
    assert ("experiment", "20260101-000000-beef") in short.origins


def test_claim_with_many_cells_shows_the_worst_and_counts_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claims_page, "SEEN_MAX", 2)
    stories = [Story(), Story(), Story().count("lost", "stored", 3)]
    report = page_of(
        *(summed(story, name=str(n), cell=cell(n)) for n, story in enumerate(stories))
    )
    run_views = {one.name: one for one in claims_page.claims(report, cells(report))}
    stays = run_views["confirmed-stays"]
    assert [one.tone for one in stays.seen] == ["fail", "pass"]
    assert stays.left_out == 1
    assert stays.shares == (("fail", "1 cell ✗ FAIL, 1 run"), ("pass", "2 cells ✓ PASS, 2 runs"))
    assert len(stays.chips) == 3


def test_only_cells_with_the_largest_numbers_are_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measures_page, "STRIPS_MAX", 2)
    runs = [summed(Story(), name=str(n), cell=cell(n)) for n in range(3)]
    rows = [compared(cell(n), "silence", value) for n, value in enumerate((1e9, None, 3e9))]
    report = page_of(*runs, comparison=tuple(rows))
    (drawn,) = measures_page.MeasuresView(report, cells(report)).drawn
    assert [strip.number for strip in drawn.strips] == [3, 1]
    assert drawn.left_out == 1


@pytest.mark.parametrize(
    ("until", "bounds", "said"),
    [(2.5e9, 0, "within 1.50\u00a0s to 2.50\u00a0s"), (None, 3, "at 1.50\u00a0s or above")],
)
def test_median_interval_is_reported_and_an_open_one_stays_open(
    until: float | None, bounds: int, said: str
) -> None:
    ends = {"median_from": 1.5e9, "median_until": until, "bounds": bounds}
    row = compared(cell(1), "silence", 2e9, **ends, runs=9, judged=9)
    assert (
        f"the true median lies {said} with at least 95 %"
        in measures_page.measure_text(row).sentence
    )


def test_cell_opens_into_its_claims_numbers_and_runs() -> None:
    rows = (
        compared(cell(1), "silence", 171e6),
        compared(cell(1), "lost", 0.0, unit="messages"),
        compared(cell(1), "corrupt", 0.0, unit="deliveries"),
        compared(cell(1), "degraded", None),
        compared(cell(2), "silence", 9e9),
    )
    report = page_of(
        summed(Story(), name="a", cell=cell(1)),
        summed(Story(), name="b", cell=cell(2)),
        summed(Story().count("lost", "stored", 3), name="c", cell=cell(1)),
        comparison=rows,
    )
    views = cells(report)
    about, run_views = claims_page.claims(report, views), runs_page.runs(report, views)
    first, second = runs_page.drills(report, views, about, run_views)
    assert [(claim.meaning, chip.badge, chip.share) for claim, chip in first.claims] == [
        ("What was confirmed is never lost.", "✗ FAIL", "1 of 2"),
        ("Publishers never wait for a confirm.", "✗ FAIL", "2 of 2"),
        ("What is delivered is what was sent.", "✓ PASS", "2 of 2"),
    ]
    assert first.claims[0][1].rate == "violated in 1 of 2 runs"
    assert first.claims[2][1].rate == "violated in 0 of 2 runs"
    assert first.not_applicable == "1 more claim does not apply to this cell."
    assert [(name, text.replace("\u00a0", " ")) for name, text, _ in first.numbers] == [
        ("lost", "0"),
        ("longest time without a confirm", "0.171 s (0.086 s – 0.342 s)"),
        ("on time again (due time)", "not decided in any of 5 runs"),
    ]
    assert [run.name for run in first.runs] == ["a", "c"]
    assert [run.name for run in second.runs] == ["b"]


def test_a_downtime_beyond_its_end_says_what_each_counts_from() -> None:
    story = Story().stage("sustained_success", 0.051).missed(9).outage(11.961, 12.051)
    report = page_of(summed(story))
    said = runs_page.runs(report, cells(report))[0].facts
    lines = [one.replace("\u00a0", " ") for one in said]
    assert "downtime 0.090 s" in lines
    counted = "(counted from the fault; the downtime counts from its first late message)"
    assert f"on time again (due time) after 0.051 s {counted}" in lines
