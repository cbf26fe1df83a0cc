"""Spark and the oracle agree row for row about what name servers showed, and when."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.pipeline import analyse
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.views import STAGES, VIEWS, Views
from tests.oracle.views import views
from tests.rigs.generated.histories import Rows
from tests.rigs.generated.looks import looks
from tests.rigs.histories.both_judges import judged_by_both, rows_of_marts, views_by_both
from tests.rigs.histories.fixed import few_histories
from tests.rigs.runs.run_folders import write_run
from tests.spark_analysis.engine.test_agreement import read_mart

pytestmark = pytest.mark.slow

HISTORIES = 100
IN_SPARK = 40


def watched(most: int) -> list[tuple[Facts, Rows]]:
    return [
        (facts, {**rows, "probes": looks(facts, number)})
        for number, (facts, rows) in enumerate(few_histories()[:most])
    ]


def test_kernels_and_the_definition_agree_on_what_name_servers_showed() -> None:
    row_counts: Counter[str] = Counter()
    for facts, rows in watched(HISTORIES):
        row_counts.update(words(views_by_both(facts, rows), judged_by_both(facts, rows)))
    # Agreement means little where nothing was said.
    assert len(row_counts) == 12, row_counts
    assert min(row_counts.values()) >= 10, row_counts


def words(shown: Views, found: Findings) -> Counter[str]:
    row_counts: Counter[str] = Counter()
    row_counts["queries"] = len(shown.queries)
    row_counts["came"] = sum(row.shown for row in shown.changes)
    row_counts["went"] = sum(not row.shown for row in shown.changes)
    row_counts["silent"] = sum(row.ended for row in shown.silences)
    row_counts["silent to the end"] = sum(not row.ended for row in shown.silences)
    for stage in STAGES:
        rows = [row for row in found.stages if row.stage == stage]
        row_counts[f"{stage} not reached"] = sum(not row.reached for row in rows)
        reached = [row for row in rows if row.reached]
        row_counts[f"{stage} by a look"] = sum(
            0 < row.uncertainty_ns < row.after_ns for row in reached
        )
        row_counts[f"{stage} at once"] = sum(row.uncertainty_ns == row.after_ns for row in reached)
    row_counts["looked once"] = sum(row.looks == 1 for row in shown.queries)
    return row_counts


def test_spark_writes_what_the_definition_says(spark: SparkSession, tmp_path: Path) -> None:
    histories = watched(IN_SPARK)
    folders = [write_run(tmp_path / facts.run, facts, rows) for facts, rows in histories]
    analyse(spark, [str(folder) for folder in folders], str(tmp_path / "marts"))
    for name in VIEWS:
        written = read_mart(tmp_path / "marts" / name)
        for facts, rows in histories:
            row_counts = rows_of_marts(getattr(views(facts, rows), name))
            assert written.get(facts.run, Counter()) == row_counts, (name, facts.run)
