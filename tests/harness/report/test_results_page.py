"""The page of all experiments in a results folder."""

import json
import os
from pathlib import Path

import pytest

from harness.report import serving
from harness.report.serving import ExperimentRow as row
from harness.report.serving import text
from tests.harness.nightly.verdicts import PROMISE, experiment, run_of

STAMP = "20261127-220507-0a1f"


def with_exit_code(folder: Path, code: int) -> Path:
    file = folder / "verdict.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "exit_code": code}))
    return folder


def test_results_row_has_time_content_verdict_and_report_link(tmp_path: Path) -> None:
    shown = row(experiment(tmp_path, STAMP, [run_of(), run_of()]))
    assert (shown.began, shown.runs) == ("2026-11-27 22:05 UTC", "2 runs")
    assert shown.cells == ("master-crash on reference-mirrored, all-automatic@T=10, pika",)
    assert (shown.tone, shown.verdict, shown.detail) == ("pass", "passed", "")
    assert shown.report == f"{STAMP}/report.html"


def test_a_broken_promise_is_named_once(tmp_path: Path) -> None:
    shown = row(experiment(tmp_path, "e", [run_of(outcome="FAIL"), run_of(outcome="FAIL")]))
    assert (shown.tone, shown.verdict) == ("fail", "failed")
    assert shown.detail == f"broken: {PROMISE}"


def test_undecided_promise_is_named_if_none_was_broken(tmp_path: Path) -> None:
    shown = row(experiment(tmp_path, "e", [run_of(), run_of(outcome="INCONCLUSIVE")]))
    assert (shown.tone, shown.verdict) == ("open", "not decided")
    assert shown.detail == f"not decided: {PROMISE}"
    both = [run_of(outcome="INCONCLUSIVE"), run_of(outcome="FAIL")]
    assert row(experiment(tmp_path, "e", both)).detail == f"broken: {PROMISE}"


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        (0, "passed"),
        (1, "failed"),
        (2, "not decided"),
        (130, "interrupted"),
        (255, "not complete: an error in mqproof"),
        (77, "not readable"),
    ],
)
def test_the_exit_code_of_the_judge_counts(tmp_path: Path, code: int, verdict: str) -> None:
    """It may be that of expectations: then a violation can be expected."""
    folder = with_exit_code(experiment(tmp_path, "e", [run_of(outcome="FAIL")]), code)
    assert row(folder).verdict == verdict


def test_a_verdict_that_changed_is_read_again(tmp_path: Path) -> None:
    assert row(experiment(tmp_path, "e", [run_of()])).verdict == "passed"
    assert row(experiment(tmp_path, "e", [run_of(outcome="FAIL")])).verdict == "failed"


def test_an_experiment_without_verdict_says_how_to_judge_it(tmp_path: Path) -> None:
    cell = ["a", "b", "c", "d"]
    runs = [{"name": "run-1", "cell": cell, "repeat": 1, "seed": 1}]
    document = {"name": "e", "seed": 1, "replay": "", "runs": runs, "skipped": []}
    (tmp_path / "e").mkdir()
    (tmp_path / "e" / "experiment.json").write_text(json.dumps(document))
    shown = row(tmp_path / "e")
    assert (shown.verdict, shown.runs, shown.report) == ("not judged yet", "1 run", "")
    assert shown.cells == ("a on b, c, d",)
    assert shown.detail == f"to judge it: mqproof analyse {tmp_path / 'e'}"


@pytest.mark.parametrize("name", ["verdict.json", "experiment.json"])
def test_a_damaged_file_is_named_and_the_others_are_shown(tmp_path: Path, name: str) -> None:
    experiment(tmp_path, "good", [run_of()])
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / name).write_text("{")
    shown = row(tmp_path / "bad")
    assert shown.verdict == "not readable"
    assert name in shown.detail
    assert "good/report.html" in text(tmp_path)


def test_the_latest_stands_first_and_other_folders_are_left_out(tmp_path: Path) -> None:
    for number, name in enumerate(["first", "second", "third"], start=1):
        file = experiment(tmp_path, name, [run_of()]) / "verdict.json"
        os.utime(file, (number, number))
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").write_text("mine")
    found = serving.all_experiments(tmp_path)
    assert [one.name for one in found] == ["third", "second", "first"]


def test_many_experiments_are_bounded_and_the_page_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "ROWS_MAX", 2)
    for name in ("one", "two", "three"):
        experiment(tmp_path, name, [run_of()])
    assert "3 experiments in" in text(tmp_path)
    assert "1 older ones are not shown" in text(tmp_path)
    assert text(tmp_path).count("<tr data-find") == 2


def test_many_cells_are_shortened(tmp_path: Path) -> None:
    cells = [(f"scenario-{number}", "s", "l", "c") for number in range(5)]
    shown = row(experiment(tmp_path, "e", [run_of(cell) for cell in cells]))
    assert len(shown.cells) == serving.CELLS_SHOWN
    assert shown.more_cells == "and 2 more cells"


def test_names_from_a_disk_are_text_and_links_are_quoted(tmp_path: Path) -> None:
    experiment(tmp_path, "<b>#1 & co", [run_of(("<i>", "s", "l", "c"))])
    page = text(tmp_path)
    assert "<b>#1" not in page
    assert "<i>" not in page
    assert 'href="%3Cb%3E%231%20%26%20co/report.html"' in page


def test_a_name_that_is_no_utf8_is_a_row_with_a_link(tmp_path: Path) -> None:
    experiment(tmp_path, os.fsdecode(b"bad\xff"), [run_of()])
    experiment(tmp_path, "good", [run_of()])
    page = text(tmp_path)
    assert 'href="bad%FF/report.html"' in page
    assert 'href="good/report.html"' in page


def test_a_row_that_fails_takes_no_other_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bad", "good"):
        experiment(tmp_path, name, [run_of()])
    judged = serving._judged

    def failing(verdict: Path) -> object:
        if verdict.parent.name == "bad":
            raise ZeroDivisionError("of its own")
        return judged(verdict)

    monkeypatch.setattr(serving, "_judged", failing)
    assert row(tmp_path / "bad").detail == "ZeroDivisionError: of its own"
    assert 'href="good/report.html"' in text(tmp_path)


def test_nights_are_a_link_where_there_are_some(tmp_path: Path) -> None:
    experiment(tmp_path, "e", [run_of()])
    assert "all nights" not in text(tmp_path)
    assert 'href="site/index.html"' in text(tmp_path, "site/index.html")
