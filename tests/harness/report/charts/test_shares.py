"""Shares of runs laid over each other: where the fault is, what was late, every outage."""

from dataclasses import replace
from pathlib import Path

from harness.report.charts.scale import Scale
from harness.report.charts.shares import Shares, span
from harness.view.timeline import Timeline
from tests.rigs.histories.by_hand import History
from tests.rigs.runs.judged_runs import crash, judged_run

DIPS = [(12_000, 16_000), (28_000, 31_000)]


def timeline_of(folder: Path, history: History) -> Timeline:
    detail = judged_run(folder, history).detail
    assert detail is not None
    return detail.timeline


def drawn(tmp_path: Path, *histories: History) -> Shares:
    runs = [timeline_of(tmp_path / f"run-{n}", one) for n, one in enumerate(histories)]
    return Shares(runs, Scale(*span(runs)))


def test_time_begins_at_the_fault(tmp_path: Path) -> None:
    one = timeline_of(tmp_path / "run", crash())
    assert span([one]) == (-12, 28)
    assert Shares([one], Scale(-12, 28)).zero == 300
    calm = timeline_of(tmp_path / "calm", History(load_ms=(0, 9_000)).publish(0, at_ms=1))
    assert span([calm])[0] == 0
    assert Shares([calm], Scale(0, 9)).zero is None


def test_second_dip_is_drawn_and_each_outage_has_its_place(tmp_path: Path) -> None:
    one = drawn(tmp_path, crash(late=DIPS, every_ms=25))
    assert one.late == ("M300 0V100H400V0ZM700 0V100H775V0Z",)
    assert one.on_time == "M0 100V0H300V100ZM400 100V0H700V100ZM775 100V0H1000V100Z"
    (lane,) = one.lanes
    assert [(block.x, block.width, block.row) for block in lane.blocks] == [
        (300, 100, 0),
        (700, 75, 0),
    ]
    assert (
        lane.blocks[0]
        .title.replace("\u00a0", " ")
        .startswith("outage: 4.00 s, from the beginning of the fault (+12.0 s); ")
    )


def test_partly_late_messages_are_a_layer_of_their_own(tmp_path: Path) -> None:
    """Draw apart what was late in some runs only."""
    one = drawn(tmp_path, crash(every_ms=25), crash(late=DIPS[:1], every_ms=25))
    assert one.late == ("M300 0V100H400V0Z", "")
    assert one.on_time == "M0 100V0H300V100ZM400 100V0H1000V100Z", "on time in every run"
    assert 0.5 < one.density < 0.95
    assert one.median
    assert [block.row for block in one.lanes[0].blocks] == [1]


def test_area_of_a_single_run_begins_with_the_fault_inside_a_second(tmp_path: Path) -> None:
    one = timeline_of(tmp_path / "run", crash(late=[(12_500, 16_000)], every_ms=25))
    moved = replace(one, faults=(replace(one.faults[0], issued_ns=12_500_000_000),))
    slices = tuple(
        replace(each, late_from_s=12.5 if each.from_s == 12 else None) for each in one.slices
    )
    drawn_alone = Shares([replace(moved, slices=slices)], Scale(-10, 10))
    assert drawn_alone.late == ("M500 0V100H675V0Z",)


def test_faults_that_overlap_have_rows_of_their_own(tmp_path: Path) -> None:
    timeline = timeline_of(tmp_path / "run", crash(late=DIPS, every_ms=25))
    (fault,) = timeline.faults
    times_s = [(12, 20), (15, 25), (22, None)]
    faults = tuple(
        replace(
            fault,
            number=number,
            issued_ns=from_s * 10**9,
            ended_ns=None if until_s is None else until_s * 10**9,
        )
        for number, (from_s, until_s) in enumerate(times_s, start=1)
    )
    one = Shares([replace(timeline, faults=faults), timeline], Scale(-12, 28))
    assert one.fault_rows == 2
    assert [(block.x, block.width, block.row) for block in one.faults[:3]] == [
        (300, 200, 0),
        (550, 450, 0),
        (375, 250, 1),
    ]
    assert [block.row for block in one.faults[3:]] == [2], "the second run has its rows, too"
    apart = Shares([replace(timeline, faults=faults[::2])], Scale(-12, 28))
    assert apart.fault_rows == 1
