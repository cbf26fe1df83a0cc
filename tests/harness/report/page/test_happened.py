"""What happened to a queue's replicas: on the first screen, in the cell, the run, the terminal."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.judging.result import RunReport
from harness.report import html
from harness.report.console import demo_table
from harness.report.page.cells import cells
from harness.report.page.runs import runs
from harness.view.detail import AffectedClass
from harness.view.trace_steps import MessageTrace
from tests.rigs.histories.by_hand import ns
from tests.rigs.runs.findings import DECLARED, RECORDED
from tests.rigs.runs.judged_runs import crash, judged_run, page_of

TEXT = (
    "Fault 1 (kill rmq1) hit the master of orders; orders had 2 mirrors, 2 synchronised. mqproof "
    "saw the oldest of them as master at the latest 14.90 s after the first fault began."
)
SEEN = "orders had 2 mirrors, 2 synchronised; mqproof saw the oldest of them as master"
HAPPENED = "Recorded at the faults (no proof of the cause)"
STATE = {**DECLARED, **RECORDED, "windows": {"1": RECORDED}}
PHASES = {"drain": ns(50_000), "audit": ns(52_000), "closing": ns(53_000)}


@pytest.fixture
def lossy(tmp_path: Path) -> RunReport:
    return judged_run(tmp_path / "run", crash(lost=[230]), state=STATE)


def test_a_cell_that_lost_messages_says_what_happened(lossy: RunReport) -> None:
    page = page_of(lossy)
    (cell,) = cells(page)
    assert cell.happened == f"{HAPPENED}: {TEXT}"
    assert html.text(page).count(TEXT) == 3  # first screen, cell and run
    (view,) = runs(page, cells(page))
    assert any(SEEN in step.text for step in view.happenings)
    paper = StringIO()
    Console(file=paper, width=300).print(demo_table.table(page))
    assert f"{HAPPENED}: Fault 1" in paper.getvalue()


def test_without_a_loss_nothing_needs_an_explanation(tmp_path: Path) -> None:
    page = page_of(judged_run(tmp_path / "run", crash(), state=STATE))
    assert [cell.happened for cell in cells(page)] == [""]
    assert "Recorded at the faults" not in html.text(page)


def test_of_several_runs_the_one_that_lost_most_is_named(tmp_path: Path) -> None:
    page = page_of(
        judged_run(tmp_path / "one", crash(lost=[230]), state=STATE),
        judged_run(tmp_path / "two", crash(lost=[230, 231]), state=STATE),
    )
    (cell,) = cells(page)
    assert cell.happened == f"Recorded at the faults of two (no proof of the cause): {TEXT}"


def test_a_run_says_when_it_was_drained_and_what_was_read(tmp_path: Path) -> None:
    page = page_of(judged_run(tmp_path / "run", crash(), phases_ns=PHASES))
    (view,) = runs(page, cells(page))
    assert view.ending.replace("\u00a0", " ") == (
        "At the end of the chart and after it: drain from +50.000 s to +52.000 s and audit from "
        "+52.000 s to +53.000 s; the audit found no other place that may hold a message."
    )
    assert view.ending in html.text(page)


def test_a_run_that_was_not_audited_does_not_say_so(lossy: RunReport) -> None:
    (view,) = runs(page_of(lossy), cells(page_of(lossy)))
    assert view.ending == ""


def test_a_story_of_two_classes_stands_once(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", crash())
    assert run.detail is not None
    story = MessageTrace("message 7 of two classes", "", ())
    classes = [AffectedClass("duplicated", of, 1, (story,)) for of in ("ambiguous", "retry")]
    shown = replace(run, detail=replace(run.detail, affected=tuple(classes)))
    text = html.text(page_of(shown))
    assert text.count(story.message) == text.count("the same messages as above") == 1
