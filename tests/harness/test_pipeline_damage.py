"""A damaged run from its folder to its report: named, unjudged, and no other run's affair."""

import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from harness import cli
from harness.analyse.judged_run import JudgedRun
from harness.judging import verdict_file
from harness.judging.assemble import run_report
from harness.judging.exits import Judge
from harness.judging.result import Report, RunReport
from harness.outside.files import guarded
from harness.pipeline import stages
from harness.pipeline import stored as stored_stage
from harness.report import html, junit, verdict
from harness.run_folder.seal import LOGS
from harness.view.detail import Detail
from spark_analysis.files.sealed import RAW
from tests.rigs.runs.displays import Heard
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.sealed_runs import forget_seal, recorded, sealed
from tests.rigs.runs.stored import stored

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.usefixtures("shared_spark")]


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    names = ("damaged", "whole", "old", "torn", "lost")
    folder = stored(tmp_path / "e", [(name, CELL) for name in names])
    for name in names[:3]:
        sealed(folder / "runs" / name)
    forget_seal(folder / "runs" / "old")
    recorded(folder / "runs" / "torn")
    (folder / "runs" / "lost").mkdir()
    return folder


def test_damage_is_reported_and_spoils_no_other_run(experiment: Path) -> None:
    before = analysed(experiment)
    damaged = experiment / "runs" / "damaged"
    settlements = damaged / RAW / "settlements.parquet"
    pq.write_table(pq.read_table(settlements).slice(7), settlements)
    torn = experiment / "runs" / "torn"
    shutil.rmtree(torn / RAW)

    made = analysed(experiment)
    by_name = {run.name: run for run in made.runs}
    assert by_name["damaged"].verdicts == ()
    assert by_name["damaged"].failure.startswith(
        f"damaged: {settlements} has 13 rows; 20 were sealed"
    )
    assert by_name["torn"].failure.startswith(
        f"damaged: {torn / RAW / 'attempts.parquet'} is gone"
    )
    assert by_name["lost"].failure == f"{experiment / 'runs' / 'lost' / 'manifest.json'} is gone"
    for name in ("whole", "old"):
        assert by_name[name].verdicts == of(before, name).verdicts != ()
    assert any("no checksums" in note for note in by_name["old"].notes)
    assert not any("no checksums" in note for note in by_name["whole"].notes)
    assert made.exit_code not in (0, 130)
    judged = pq.read_table(experiment / "marts" / "counts")["run"]
    assert set(judged.to_pylist()) == {"whole", "old"}
    assert junit.text(made).count('type="not judged"') == 3
    assert str(settlements) in html.write(made, experiment).read_text()
    recorded = json.loads(verdict.text(made))["runs"]
    assert {run["name"]: run["judged"] for run in recorded} == {
        "damaged": False,
        "whole": True,
        "old": True,
        "torn": False,
        "lost": False,
    }

    mended = analysed(experiment, reseal=True)
    for name in ("damaged", "torn"):
        assert of(mended, name).verdicts == of(before, name).verdicts != ()
        assert any("sealed again from its logs at 20" in note for note in of(mended, name).notes)
    assert not any("sealed again" in note for note in of(mended, "whole").notes)


@pytest.mark.parametrize("judge", Judge)
def test_report_says_that_no_run_is_complete(judge: Judge, experiment: Path) -> None:
    for name in ("damaged", "whole", "old"):
        shutil.rmtree(experiment / "runs" / name / RAW)
    shutil.rmtree(experiment / "runs" / "torn" / LOGS)
    (experiment / "marts" / "counts").mkdir(parents=True)
    made = analysed(experiment, judge)
    assert (made.exit_code, [run.verdicts for run in made.runs]) == (2, [()] * 5)
    assert all(str(experiment) in run.failure for run in made.runs)
    page = html.write(made, experiment).read_text()
    assert all(run.failure.partition(". ")[0] in page for run in made.runs)
    assert not (experiment / "marts").exists(), "they described runs that are not judged now"


def test_runs_that_were_packed_are_judged_elsewhere_as_here(
    experiment: Path, tmp_path: Path
) -> None:
    for name in ("torn", "lost"):
        shutil.rmtree(experiment / "runs" / name)
    assert cli.main(["pack", str(experiment), "-o", str(tmp_path / "a.tar.xz")]) == 0
    with tarfile.open(tmp_path / "a.tar.xz") as tar:
        guarded(tar).extractall(tmp_path / "elsewhere")
    here, there = analysed(experiment), analysed(tmp_path / "elsewhere" / "e")
    assert [run.verdicts for run in there.runs] == [run.verdicts for run in here.runs]
    assert [bool(run.verdicts) for run in there.runs] == [True, True, True, False, False]


def test_the_verdict_is_reported_without_a_place_for_marts(experiment: Path) -> None:
    before = analysed(experiment)
    shutil.rmtree(experiment / "marts")
    (experiment / "marts").write_text("in the way")
    messages: list[str] = []
    made = stages.analyse([experiment], experiment, Judge.CLAIMS, Heard(messages))
    assert [run.verdicts for run in made.runs] == [run.verdicts for run in before.runs]
    assert [shown(run.detail) for run in made.runs] == [shown(run.detail) for run in before.runs]
    assert messages == [f"the marts were not kept: {experiment / 'marts'}: File exists"]


def test_internal_error_in_one_run_is_reported_last_without_harm(
    experiment: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Wherever it comes up: here where the page's detail is put together."""
    before = analysed(experiment)

    def failing(run: JudgedRun, *arguments: Any) -> RunReport:
        if run.folder.name == "old":
            raise KeyError("unforeseen")
        return run_report(run, *arguments)

    monkeypatch.setattr(stored_stage, "run_report", failing)
    assert cli.main(["analyse", str(experiment)]) == 255
    said = capfd.readouterr()
    assert f"not judged: {experiment / 'runs' / 'old'}: this is a defect of mqproof" in said.out
    (crash,) = experiment.glob("crash-*.txt")
    assert f"the traceback is in {crash}" in said.out
    assert "Traceback" not in said.out + said.err
    assert "KeyError: 'unforeseen'" in crash.read_text()
    recorded = json.loads((experiment / verdict_file.NAME).read_text())
    assert recorded["exit_code"] == 255
    assert {run["name"]: run["judged"] for run in recorded["runs"]} == {
        run.name: bool(run.verdicts) and run.name != "old" for run in before.runs
    }


def shown(detail: Detail | None) -> tuple[object, ...]:
    """What a page shows of a run, but the manifest: the first analysis seals the torn run's."""
    return (detail and (detail.timeline, detail.affected, detail.unreadable, detail.failing)) or ()


def analysed(folder: Path, judge: Judge = Judge.CLAIMS, reseal: bool = False) -> Report:
    return stages.analyse([folder], folder, judge, Heard(), reseal)


def of(report: Report, name: str) -> RunReport:
    return next(run for run in report.runs if run.name == name)
