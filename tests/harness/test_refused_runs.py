"""Runs that are refused as bad input after others were played: those are judged all the same."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from harness.commands.finish import finish
from harness.judging.exits import Exit
from harness.judging.result import Report
from harness.pipeline import stages, stored
from harness.pipeline.performing import Performing
from harness.pipeline.port import RunOptions
from harness.plan.model import Experiment
from harness.plan.problems import PlanError, Problem
from harness.report.console.terminal import Terminal
from harness.run_folder.manifest import Manifest
from tests.rigs.runs.displays import Heard
from tests.rigs.runs.findings import Story
from tests.rigs.runs.plans import plan
from tests.rigs.runs.reports import report, run

WRONG = Problem("pika", "[amqp] counts 'many'", expected="whole numbers", advice="correct it")
PLANS = (plan(), replace(plan(name="quick-2-00ff"), repeat=2))


def carried_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, load_started_ns: int | None
) -> Report:
    """Return the report of two runs. The second one is refused."""

    async def refused(performing: Performing) -> None:
        path = performing.folder / "runs" / PLANS[0].name
        path.mkdir(parents=True)
        manifest = Manifest.of(PLANS[0])
        manifest.load_started_ns = load_started_ns
        manifest.save(path)
        raise PlanError([WRONG])

    def judged(folder: Path, *_: object) -> Report:
        return report(run(Story()), folder=folder)

    monkeypatch.setattr(stages, "_prepare", lambda *_: None)
    monkeypatch.setattr(stored, "report_of", judged)
    monkeypatch.setattr(Performing, "perform", refused)
    experiment = Experiment("e", 7, PLANS, ())
    return stages.run(experiment, RunOptions(folder), Heard())


def test_runs_before_a_refused_one_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = carried_out(tmp_path, monkeypatch, 1)
    assert found.folder == tmp_path / "e"
    assert found.runs[0].verdicts
    assert found.refused == (WRONG,)
    assert found.exit_code is Exit.BAD_INPUT


def test_without_any_load_nothing_is_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(PlanError, match="correct it"):
        carried_out(tmp_path, monkeypatch, None)


def test_report_is_written_before_the_bad_input_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = carried_out(tmp_path, monkeypatch, 1)
    paper = StringIO()
    display = Terminal(Console(file=paper, width=200, highlight=False), lambda: 0.0)
    assert finish(found, display, as_json=False) == 254
    assert {path.name for path in found.folder.iterdir()} >= {"verdict.json", "report.html"}
    shown = " ".join(paper.getvalue().split())
    assert "refused as bad input" in shown
    assert "bad input: pika: [amqp] counts 'many'; expected: whole numbers" in shown
