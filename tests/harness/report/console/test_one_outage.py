"""An outage in the terminal: where it stands, and why its length is a lower bound."""

import io
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from harness.judging.result import Report, RunReport
from harness.report.console.terminal import Terminal
from harness.report.page.formats import GLUE
from harness.report.page.outs import lasted_text
from spark_analysis.schema.facts import QueueEnd
from spark_analysis.schema.service import EITHER, QUEUE
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import crash, judged_run, page_of, summed
from tests.rigs.runs.reports import CELL, compared


def lines(report: Report) -> list[str]:
    paper = io.StringIO()
    Terminal(Console(file=paper, width=120, highlight=False), lambda: 0.0).verdicts(report)
    return [line.strip() for line in paper.getvalue().splitlines()]


def test_outage_has_its_own_line() -> None:
    (line,) = (
        one
        for one in lines(page_of(summed(Story().outage(30, 33, windows=""))))
        if "outage:" in one
    )
    assert (
        line
        == "outage: 3.00 s, from +30.0 s; no fault was active; 800 of 900 messages due were late"
    )


def test_outage_of_one_queue_alone_has_a_line() -> None:
    story = Story().outage(20, 60, EITHER, scope=QUEUE, name="q7")
    story.facts = replace(
        story.facts, queues=(*story.facts.queues, QueueEnd("q7", True, True, "", ()))
    )
    found = [one for one in lines(page_of(summed(story))) if one.startswith("outage")]
    assert found[0].startswith("outage of queue q7: at least 40.0 s, from +20.0 s; ")


def test_outages_beyond_the_first_ones_are_counted() -> None:
    story = Story()
    for at in range(20, 40, 4):
        story.outage(at, at + 1)
    found = lines(page_of(summed(story)))
    assert sum(one.startswith("outage: ") for one in found) == 3
    assert "2 more outages" in found


def test_a_bound_has_its_reason_below_the_numbers() -> None:
    story = Story().outage(12, 26, EITHER)
    rows = (compared(CELL, "total_downtime", 14e9, bounds=5),)
    found = lines(page_of(summed(story), comparison=rows))
    bound = "cell 1: downtime is a lower bound, because the undo of the fault may have ended"
    assert f"{bound} the outage" in found
    assert any("; the undo of the fault may have ended the outage; " in one for one in found)


def test_numbers_begin_with_the_length_of_the_fault(tmp_path: Path) -> None:
    done = judged_run(tmp_path, crash())
    rows = (compared(CELL, "total_downtime", 14e9), compared(CELL, "lost", 3.0, unit="messages"))
    found = lines(page_of(done, comparison=rows))
    head = next(at for at, one in enumerate(found) if one.startswith("measure"))
    assert [one.split("  ")[0] for one in found[head + 1 : head + 4]] == [
        "fault lasted",
        "lost",
        "downtime",
    ]
    assert found[head + 1].endswith("15.0 s")


def test_lengths_of_repeats_are_a_range(tmp_path: Path) -> None:
    one = judged_run(tmp_path / "one", crash())
    assert one.detail is not None
    detail, (span,) = one.detail, one.detail.timeline.faults

    def lasted(*lengths_s: float | None) -> RunReport:
        spans = tuple(
            replace(
                span,
                number=number,
                ended_ns=None if length_s is None else span.issued_ns + round(length_s * 1e9),
            )
            for number, length_s in enumerate(lengths_s, start=1)
        )
        timeline = replace(detail.timeline, faults=spans)
        return replace(one, detail=replace(detail, timeline=timeline))

    def text(*runs: RunReport) -> str:
        return lasted_text(runs).replace(GLUE, " ")

    assert text() == text(lasted()) == ""
    assert text(lasted(10.2), lasted(10.2)) == "10.2 s"
    assert text(lasted(10.4), lasted(10.2)) == "10.2 to 10.4 s"
    assert text(lasted(10.2, 20.1)) == "10.2 s; 20.1 s"
    assert text(lasted(None)) == "not undone"
    assert text(lasted(10.2), lasted(None)) == "not undone in some runs"


def test_outages_are_counted_only_where_a_run_had_several() -> None:
    def names(outages: float) -> str:
        rows = (
            compared(CELL, "outages", outages, minimum=outages, maximum=outages, unit="outages"),
            compared(CELL, "longest_downtime", 2e9),
        )
        return " ".join(lines(page_of(summed(Story().outage(20, 22)), comparison=rows)))

    assert "longest outage" not in names(1.0)
    assert "longest outage" in names(2.0)
