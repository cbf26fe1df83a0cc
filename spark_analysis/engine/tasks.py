"""Runs judged by Spark: whole run folders in, the rows of all marts out.

1. One Spark task judges whole runs, one after another, from their files; nothing is shuffled, and
   no history leaves the task.
2. A run that cannot be judged never costs another run its verdict.
3. Every row is (mart, one struct a mart), and only the struct of its own mart is not null.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_analysis.engine import rows, spark_rows
from spark_analysis.engine.judge import JUDGED, judge_folder
from spark_analysis.schema.facts import Question

_TASKS_A_CORE = 4  # enough to level out unequal runs; each costs every mart one more file


def judge_runs(
    spark: SparkSession, run_folders: Sequence[str], questions: Sequence[Question] = ()
) -> DataFrame:
    """All rows of all marts, tagged; `mart` takes one of them out.

    `questions`: one a run; none: every run is asked what its own facts say.
    """
    asked: Sequence[Question | None] = questions or [None] * len(run_folders)
    folders = tuple(zip(run_folders, asked, strict=True))
    tasks = min(len(folders), spark.sparkContext.defaultParallelism * _TASKS_A_CORE)
    numbers = spark.range(0, len(folders), 1, tasks)
    return numbers.mapInArrow(partial(_judge_folders, folders), spark_rows.union_type(JUDGED))


def mart(judged: DataFrame, name: str) -> DataFrame:
    """The rows of one mart, as findings.py declares them."""
    return judged.filter(F.col("mart") == name).select(f"{name}.*")


def _judge_folders(
    folders: Sequence[tuple[str, Question | None]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Small runs wait for each other: a batch costs Spark as much for one row as for many."""
    waiting: dict[str, list[pa.Table]] = {name: [] for name in JUDGED}
    for batch in batches:
        for number in batch.column(0).to_pylist():
            folder, question = folders[number]
            for name, found in judge_folder(Path(folder), question):
                waiting[name].append(found)
                if sum(map(len, waiting[name])) >= rows.BATCH_ROWS:
                    yield from rows.union_batches(JUDGED, name, waiting[name])
                    waiting[name] = []
    for name, tables_left in waiting.items():
        yield from rows.union_batches(JUDGED, name, tables_left)
