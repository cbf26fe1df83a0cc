"""Whose sends failed: on a page, on a terminal and in the verdict file."""

import io
import json
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from harness.judging.result import RunReport
from harness.report import html, verdict
from harness.report.console.terminal import Terminal
from harness.report.failing import ROWS_MAX, table
from harness.view.failing import Failing, failures_text
from tests.rigs.runs.judged_runs import crash, judged_run, page_of

NACKED = (("answered with nack", 114), ("connection lost", 2))
FAILED = Failing(1, "publisher-1", "rkt1", 410, 116, 400, 3.1, 394.2, None, "", None, "", NACKED)
WELL = Failing(1, "publisher-<2>", "rkt2", 410, 0, 0, None, None, 43.6, "rkt1", 44.0, "broker-a")
SILENT = replace(FAILED, name_server="")


def of(folder: Path, *failing: Failing) -> RunReport:
    run = judged_run(folder / "run", crash())
    assert run.detail is not None
    return replace(run, detail=replace(run.detail, failing=failing))


def printed(*runs: RunReport, width: int = 160) -> str:
    paper = io.StringIO()
    console = Console(file=paper, width=width, highlight=False)
    Terminal(console, lambda: 0.0).verdicts(page_of(*runs))
    return paper.getvalue()


def test_page_and_terminal_list_every_publisher(tmp_path: Path) -> None:
    run = of(tmp_path, FAILED, WELL)
    text, said = html.text(page_of(run)), printed(run)
    assert "Failed sends by publisher" in text and "failed sends by publisher" in said
    for words in ("116 of 400, 29\u00a0%", "394.2 s", "43.6 s: rkt1", "44.0 s: broker-a"):
        assert words in text, words
        assert words in said, words
    assert "publisher-&lt;2&gt;" in text
    assert "none of 410" in said


def test_no_column_is_cut_where_a_terminal_is_narrow(tmp_path: Path) -> None:
    long = replace(FAILED, window=2, failed=10_550, sent=10_854, sent_by_then=10_854)
    long = replace(long, turned_s=4.3, turned_to="rkg3", left_out_s=1.3, left_out="broker-a")
    run = of(tmp_path, FAILED, long)
    other = replace(run, cell=(*run.cell[:3], "rocketmq-java-5.3.3-with-a-long-name"))
    alone, several = printed(run, width=100), printed(run, other, width=100)
    for words in ("route without", "4.3 s: rkg3", "1.3 s: broker-a"):
        assert words in alone, words
    assert f" with {run.cell[3]}" in alone
    folded = "".join(several.partition("failed sends by publisher")[2].split())
    assert "publisher" in folded and "rkg3" in folded


def test_table_needs_an_attempt_that_failed(tmp_path: Path) -> None:
    for run in (of(tmp_path / "a", WELL), of(tmp_path / "c")):
        assert "Failed sends by publisher" not in html.text(page_of(run))
        assert "failed sends by publisher" not in printed(run)


def test_publishers_without_name_servers_are_listed_too(tmp_path: Path) -> None:
    (row,) = table([of(tmp_path, SILENT)]).rows
    how = "114 answered with nack, 2 on a lost connection"
    assert row.words == ("publisher-1", "116 of 400, 29\u00a0%", "394.2 s", "–", "–", "–", how)
    assert "name server" not in printed(of(tmp_path / "b", SILENT))


def test_a_column_without_a_value_is_left_out(tmp_path: Path) -> None:
    alone, both = (of(tmp_path / "a", SILENT), of(tmp_path / "b", SILENT, FAILED))
    heads = [head for _, head in table([alone]).columns]
    assert heads == ["publisher", "failed", "last failed after", "how they failed"]
    text = html.text(page_of(alone))
    assert "<th>name server</th>" not in text and "<i>Name server</i>" not in text
    assert "<th>how they failed</th>" in text and "114 answered with nack" in text
    text = html.text(page_of(both))
    assert "<th>name server</th>" in text and "<i>Name server</i>" in text


def test_first_screen_counts_the_attempts_that_failed(tmp_path: Path) -> None:
    run = of(tmp_path, FAILED, WELL, replace(FAILED, window=2))
    other = replace(run, cell=(*run.cell[:3], "another"))
    text = html.text(page_of(run, other))
    some, how = (
        "116 of 820 attempts to send failed",
        "114 answered with nack, 2 on a lost connection",
    )
    assert f"since that fault, {some}, the last 394.2 s after the first fault: {how}." in text
    assert text.count(f"from the first fault on, {some}<") == text.count(f"{some}<") > 0
    again = html.text(page_of(run, replace(run, repeat=2, name="again"), other))
    assert "232 of 1,640 attempts to send failed: 228 answered" in again  # of no run alone
    unrecorded = failures_text([replace(FAILED, answers=())])
    assert unrecorded.endswith(": refused, or without an answer")


def test_table_is_bounded_and_counts_the_omitted_rows(tmp_path: Path) -> None:
    run = of(tmp_path, *[FAILED] * (ROWS_MAX + 3))
    assert table([run]).left_out == 3
    assert "3 more rows are in verdict.json" in html.text(page_of(run))
    assert "3 more rows are in verdict.json" in printed(run)


def test_the_verdict_file_has_all_of_them(tmp_path: Path) -> None:
    (one,) = json.loads(verdict.text(page_of(of(tmp_path, FAILED, WELL))))["runs"]
    assert [each["last_failed_s"] for each in one["failing"]] == [394.2, None]
