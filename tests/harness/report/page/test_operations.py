"""Operations on a run's page, in its drawing and in its verdict file."""

from pathlib import Path

from harness.report import html, verdict
from harness.report.charts.chart import Chart
from harness.run_folder.operations import OperationRecord
from tests.rigs.histories.by_hand import ns
from tests.rigs.runs.judged_runs import crash, judged_run, page_of

DONE = OperationRecord(
    1, "restart_node", "master of q", "rmq1", ns(14_000), ns(18_000), True, "rmq1 in <4.0> s"
)
FAILED = OperationRecord(
    2, "forget_node", "lost", "rmq2", ns(20_000), ns(21_000), False, "the broker said no"
)
NEVER = OperationRecord(3, "delete_policy", "")


def test_a_page_lists_done_failed_and_unstarted_operations(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", crash(), operations=[DONE, FAILED, NEVER])
    text = html.text(page_of(run))
    for words in (
        "Operation 1: restart_node master of q, rmq1",
        "rmq1 in &lt;4.0&gt; s",
        "from +14.000 s to +18.000 s",
        "Operation 2: forget_node lost, rmq2",
        "the broker said no",
        "Operation 3: delete_policy",
        "never began",
    ):
        assert words in text, words


def test_chart_has_each_operation_from_start_to_end(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", crash(), operations=[DONE, FAILED, NEVER])
    assert run.detail is not None
    (lane,) = [lane for lane in Chart(run.detail.timeline).lanes if lane.name == "operation"]
    assert [(span.left, span.width, span.tone) for span in lane.spans] == [
        (35.0, 10.0, "fine"),  # +14 s to +18 s of 40 s
        (50.0, 2.5, "bad"),
    ]


def test_the_verdict_file_has_every_operation(tmp_path: Path) -> None:
    run = judged_run(tmp_path / "run", crash(), operations=[DONE, NEVER])
    text = verdict.text(page_of(run))
    assert '"kind": "restart_node"' in text
    assert '"detail": "never began"' in text
