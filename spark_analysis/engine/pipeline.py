"""The whole graph: run folders in, all marts and the comparison of runs out."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import DataFrame, SparkSession

from spark_analysis.engine.compare import compare
from spark_analysis.engine.judge import JUDGED
from spark_analysis.engine.tasks import judge_runs, mart
from spark_analysis.schema.costs import COSTS
from spark_analysis.schema.facts import Question
from spark_analysis.schema.findings import MARTS
from spark_analysis.schema.views import VIEWS

_MANY_ROWS = ("affected", "seconds", "service")  # of the others one file is written sooner
_WRITTEN = (*MARTS, *COSTS, *VIEWS, "comparison")
_AT_ONCE = 4


def analyse(
    spark: SparkSession,
    run_folders: Sequence[str],
    marts_folder: str,
    questions: Sequence[Question] = (),
) -> None:
    """Judges every run and writes `<marts_folder>/<mart>/` for each mart, and `comparison/`.

    `questions`: what each run is asked beside what was recorded of it, its name in the marts too.
    """
    # Kept, since every mart is written on its own and the histories must be read only once.
    judged = judge_runs(spark, run_folders, questions).persist()
    try:
        marts = {name: mart(judged, name) for name in JUDGED}
        few_rows = {name: marts[name].coalesce(1) for name in marts if name not in _MANY_ROWS}
        comparison = compare(spark, marts, len(run_folders))
        outputs = {**marts, **few_rows, "comparison": comparison}
        # Most of what a small mart costs is Spark's own preparation: several are written at once.
        with ThreadPoolExecutor(_AT_ONCE) as writers:
            written = writers.map(lambda name: _write(outputs[name], marts_folder, name), _WRITTEN)
            for _ in written:
                pass
    finally:
        judged.unpersist()


def _write(rows: DataFrame, marts_folder: str, name: str) -> None:
    """One mart below `marts_folder`, instead of what stood there."""
    rows.write.mode("overwrite").parquet(f"{marts_folder}/{name}")
