"""Reports for tests: one experiment of two cells, judged from stories told by hand."""

from pathlib import Path

from harness.claims import claims
from harness.compare.expectations import Expectations, ExpectedCell, Known
from harness.judging.assemble import compare
from harness.judging.exits import Judge
from harness.judging.result import Report, RunReport
from harness.plan.model import Skipped
from harness.view.observations import observe
from spark_analysis.schema.comparison import Comparison
from tests.rigs.runs.findings import Story, verdicts_of

CELL = ("master-crash", "rabbitmq-mirrored", "all-automatic@T=10", "pika")
OTHER = ("master-crash", "rabbitmq-mirrored", "exactly-2@T=10", "pika")
CLAIMS = claims.shipped()
# What a story does that tells of nothing unusual: here, that is as expected.
KNOWN = Expectations(
    [
        ExpectedCell(
            ("*", "*", "*", "*"),
            {one.claim: Known((one.outcome,)) for one in verdicts_of(CLAIMS, Story().evidence)},
            "measured",
        )
    ]
)


def run(story: Story, name: str = "master-crash-1-beef", **changes: object) -> RunReport:
    parts: dict[str, object] = {
        "name": name,
        "cell": CELL,
        "repeat": 1,
        "seed": 7,
        "verdicts": verdicts_of(CLAIMS, story.evidence),
        "observations": observe(story.evidence),
        "doubts": tuple(doubt.sentence for doubt in story.evidence.doubts),
    }
    return RunReport(**(parts | changes))  # type: ignore[arg-type]


def report(*runs: RunReport, folder: Path = Path("results/e"), **changes: object) -> Report:
    parts: dict[str, object] = {
        "experiment": "e",
        "seed": 7,
        "folder": folder,
        "judge": Judge.CLAIMS,
        "replay": "mqproof run master-crash --seed 7",
        "versions": {"rabbitmq": "3.10.8", "pika": "1.4.4"},
        "runs": runs,
        "skipped": (),
        "cells": compare(runs, KNOWN),
        "comparison": (),
    }
    return Report(**(parts | changes))  # type: ignore[arg-type]


def compared(
    cell: tuple[str, str, str, str], measure: str, median: float | None, **changes: object
) -> Comparison:
    parts: dict[str, object] = {
        "scenario": cell[0],
        "system": cell[1],
        "layout": cell[2],
        "client": cell[3],
        "measure": measure,
        "detail": "",
        "unit": "ns",
        "runs": 5,
        "judged": 5,
        "bounds": 0,
        "minimum": None if median is None else median / 2,
        "median": median,
        "maximum": None if median is None else median * 2,
        "median_from": None,
        "median_until": None,
    }
    return Comparison(**(parts | changes))  # type: ignore[arg-type]


SKIPPED = Skipped(("mirror-crash", "rabbitmq-mirrored", "unmirrored@T=10", "pika"), "no mirror")
