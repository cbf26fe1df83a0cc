"""Spark and the oracle agree row for row about what runs cost."""

from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.plan.seeds import stream
from spark_analysis.engine.kernel.events.windows import judged_times
from spark_analysis.engine.pipeline import analyse
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.question import Question
from tests.rigs.generated.histories import Rows
from tests.rigs.histories.both_judges import costs_by_both
from tests.rigs.histories.by_hand import History
from tests.rigs.histories.fixed import few_histories
from tests.rigs.histories.resources import ZERO, sampled
from tests.rigs.runs.run_folders import write_run
from tests.spark_analysis.engine.test_agreement import read_mart

pytestmark = pytest.mark.slow


def test_kernels_and_the_definition_agree_on_what_runs_cost() -> None:
    row_counts: Counter[str] = Counter()
    for number, (facts, rows) in enumerate(few_histories()):
        rows = {**rows, "resources": resources(facts, number)}
        expected = costs_by_both(facts, rows)
        row_counts["steady_state"] += len(expected.steady_state)
        row_counts["answered"] += sum(row.p99_ns is not None for row in expected.steady_state)
        row_counts["known"] += sum(row.cpu_ns is not None for row in expected.use)
        row_counts["unknown"] += sum(
            row.samples > 1 and row.cpu_ns is None for row in expected.use
        )
        row_counts["few"] += sum(row.samples < 2 for row in expected.use)
    # Agreement means little where nothing was said.
    assert min(row_counts.values()) >= 30, row_counts


def test_runs_of_one_name_are_distinguished_by_given_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    folders = []
    for piece, cores in (("a", 1.0), ("b", 2.0)):
        story = sampled(History(), "rmq1", (0, 1_000), cores=cores, memory_bytes=1)
        story.publish(1, at_ms=10).confirm(1, at_ms=11)
        folders.append(write_run(tmp_path / piece / "runs" / "run", *story.build()))
    marts = tmp_path / "marts"
    analyse(
        spark,
        [str(folder) for folder in folders],
        str(marts),
        [Question("a/run"), Question("b/run")],
    )
    use = read_mart(marts / "use")
    assert {run: [row[5] for row in rows] for run, rows in use.items()} == {
        "a/run": [1_000_000_000],
        "b/run": [2_000_000_000],
    }
    assert (
        set(read_mart(marts / "counts"))
        == set(read_mart(marts / "steady_state"))
        == {"a/run", "b/run"}
    )


def resources(facts: Facts, number: int) -> Rows:
    """Samples of three hosts around the steady state; some restart or count nothing."""
    random = stream(number, "resources")
    rows = []
    calm = judged_times(facts)[0]
    margin_ns = max(10, (calm.until_ns - calm.from_ns) // 5)
    silent = {name for name in ZERO if random.random() < 0.2}
    for host in ("rmq1", None, "workers"):
        counters = dict(ZERO)
        for _ in range(random.choice((0, 1, 2, 3, 9))):
            at_ns = random.randrange(calm.from_ns - margin_ns, calm.until_ns + margin_ns)
            for name in counters:
                grown = counters[name] + random.randrange(1_000)
                counters[name] = 0 if name in silent or random.random() < 0.02 else grown
            rows.append({"host": host, "at_ns": at_ns, **counters})
    return sorted(rows, key=lambda row: row["at_ns"]) if number % 2 else rows
