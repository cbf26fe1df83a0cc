"""What the auditor started, on a run's page, on a terminal and in the verdict file."""

import io
import json
from pathlib import Path

from rich.console import Console

from harness.report import html, verdict
from harness.report.console.terminal import Terminal
from harness.run_folder.manifest import AuditStart
from tests.rigs.histories.by_hand import ns
from tests.rigs.runs.judged_runs import crash, judged_run, page_of

STARTED = AuditStart(
    "rmq2", "its process has ended", "", ns(93_100), ns(101_300), "mirror of <orders>"
)
LEFT = AuditStart("rmq3", left="fault 1 (kill) is still active: the scenario never ends it")
SENTENCE = (
    "auditor: rmq2 had not come back by itself: its process has ended. It was started for the "
    "audit at +93.1 s, answered after 8.2 s, and was then: mirror of <orders>"
)


def test_page_names_the_started_and_the_skipped_nodes(tmp_path: Path) -> None:
    text = html.text(page_of(judged_run(tmp_path / "run", crash(), audit_starts=[STARTED, LEFT])))
    for words in (
        "Before the audit",
        "After the fault, the broker on rmq2 did not come back by itself; mqproof started it, so",
        SENTENCE.replace("<", "&lt;").replace(">", "&gt;"),
        "rmq3 had not come back by itself and was left so: fault 1 (kill) is still active",
    ):
        assert words in text, words


def test_page_of_a_run_with_responsive_nodes_omits_audit_starts(tmp_path: Path) -> None:
    assert "Before the audit" not in html.text(page_of(judged_run(tmp_path / "run", crash())))


def test_a_terminal_has_one_line_of_each(tmp_path: Path) -> None:
    paper = io.StringIO()
    console = Console(file=paper, width=120, highlight=False)
    run = judged_run(tmp_path / "run", crash(), audit_starts=[STARTED])
    Terminal(console, lambda: 0.0).verdicts(page_of(run))
    assert [line for line in paper.getvalue().splitlines() if "auditor" in line] == [
        f"  {SENTENCE}"
    ]


def test_the_verdict_file_has_each_with_its_times(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", crash(), audit_starts=[STARTED, LEFT])
    (one,) = json.loads(verdict.text(page_of(run)))["runs"]
    assert [(each["place"], each["issued_ns"]) for each in one["audit_starts"]] == [
        ("rmq2", ns(93_100)),
        ("rmq3", None),
    ]
