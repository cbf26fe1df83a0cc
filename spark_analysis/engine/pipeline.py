"""The whole graph: run folders in, all marts and the comparison of runs out."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from spark_analysis.engine import parts
from spark_analysis.engine.compare import COMPARED, compare
from spark_analysis.engine.failing import SPARK_ERRORS, SparkFailed, sentence
from spark_analysis.engine.judge import FAILED, JUDGED, WRITTEN_MARTS
from spark_analysis.engine.rows import table
from spark_analysis.engine.tasks import FEW_ROWS, MANY_ROWS, judge_runs
from spark_analysis.files.failed import Failed
from spark_analysis.schema.arrow import row_schema
from spark_analysis.schema.question import Question

# --- Small tables that the program itself holds, for Spark ---------------------------------------


def frame(spark: SparkSession, row: type, listing: Sequence[object]) -> DataFrame:
    """Rows that the program itself knows."""
    return held(spark, table(row, listing))


def held(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """A table that this process holds."""
    # In one chunk: Spark 4.3 loses rows of a table that has several.
    return spark.createDataFrame(rows.combine_chunks())


# --- The graph -----------------------------------------------------------------------------------


_COMPARISON = "comparison"


def warm(spark: SparkSession) -> None:
    """Has it do once, over a row of nothing, what the first job would else wait for: to start its
    Python, and to plan a comparison meanwhile. Of no row at all Spark would plan nothing."""
    with ThreadPoolExecutor(1, "warming-spark") as pool:
        python = pool.submit(spark.range(1).mapInArrow(_as_they_are, "id long").collect)
        frames = {name: held(spark, _a_row(row_schema(JUDGED[name]))) for name in COMPARED}
        compare(spark, frames, 1).toArrow()
        python.result()


def _a_row(schema: pa.Schema) -> pa.Table:
    nothing = [
        pa.scalar("" if pa.types.is_string(kind) else 0).cast(kind) for kind in schema.types
    ]
    return pa.Table.from_arrays([pa.repeat(one, 1) for one in nothing], schema=schema)


def _as_they_are(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return batches


def analyse(
    spark: SparkSession,
    run_folders: Sequence[str],
    marts_folder: str,
    questions: Sequence[Question] = (),
) -> tuple[Failed, ...]:
    """Judges every run and writes `<marts_folder>/<mart>/` for each mart, and `comparison/`.

    Returns the runs that could not be judged: the other ones are. `questions`: what each run is
    asked beside what was recorded of it, its name in the marts too. `marts_folder` lies, as the
    runs do, where every task can reach it. Raises MartsUnwritten, SparkFailed.
    """
    folder = Path(marts_folder)
    parts.clear(folder, (*WRITTEN_MARTS, _COMPARISON))
    few = judge_runs(spark, run_folders, marts_folder, questions)
    parts.write_empty(folder, {name: JUDGED[name] for name in MANY_ROWS})
    for name in FEW_ROWS:
        if name in WRITTEN_MARTS:
            parts.write(folder, name, few[name])
    try:
        frames = {name: held(spark, few[name]) for name in COMPARED}
        compared = compare(spark, frames, len(run_folders)).toArrow()
    except SPARK_ERRORS as error:
        raise SparkFailed(f"Spark could not compare the runs: {sentence(error)}") from error
    parts.write(folder, _COMPARISON, compared)
    return tuple(Failed(**row) for row in few[FAILED].to_pylist())
