"""Runs judged by Spark: whole run folders in, the rows of all marts out.

1. One Spark task judges whole runs, one after another, from their files; nothing is shuffled, and
   no history leaves the task.
2. A run that cannot be judged never costs another run its verdict.
3. Marts with many rows are written where they are found, so that none of these rows leaves its
   task either. Of the others each task hands over a table: of a run they have few rows, however
   many messages it had.
4. A table travels as Arrow's own bytes: to Spark it is one value, and not a row for every row.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from spark_analysis.engine.judge import JUDGED, judge_folder
from spark_analysis.engine.parts import Parts
from spark_analysis.schema.arrow import row_schema
from spark_analysis.schema.facts import Question

MANY_ROWS = ("affected", "seconds", "service")  # one a message, second or queue
FEW_ROWS = tuple(name for name in JUDGED if name not in MANY_ROWS)

_TASKS_A_CORE = 4  # enough to level out unequal runs; each costs every mart one more file
_HANDED_OVER = "mart string not null, table binary not null"


def judge_runs(
    spark: SparkSession,
    run_folders: Sequence[str],
    marts_folder: str,
    questions: Sequence[Question] = (),
) -> dict[str, pa.Table]:
    """Writes the marts with many rows below `marts_folder`, and returns the others.

    `questions`: one a run; none: every run is asked what its own facts say.
    """
    asked: Sequence[Question | None] = questions or [None] * len(run_folders)
    folders = tuple(zip(run_folders, asked, strict=True))
    tasks = min(len(folders), spark.sparkContext.defaultParallelism * _TASKS_A_CORE)
    numbers = spark.range(0, len(folders), 1, tasks)
    judge = partial(_judge_folders, folders, marts_folder)
    return _joined(numbers.mapInArrow(judge, _HANDED_OVER))


def _judge_folders(
    folders: Sequence[tuple[str, Question | None]],
    marts_folder: str,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    task = TaskContext.get()
    assert task is not None, "judged outside of a task"
    few: dict[str, list[pa.Table]] = {name: [] for name in FEW_ROWS}
    with Parts(Path(marts_folder), task.partitionId(), task.taskAttemptId()) as many:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                folder, question = folders[number]
                for name, found in judge_folder(Path(folder), question):
                    if name in MANY_ROWS:
                        many.add(name, found)
                    else:
                        few[name].append(found)
    yield _packed({name: pa.concat_tables(found) for name, found in few.items() if found})


def _packed(tables: Mapping[str, pa.Table]) -> pa.RecordBatch:
    packed = []
    for table in tables.values():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        packed.append(sink.getvalue().to_pybytes())
    names = pa.array(list(tables), pa.string())
    return pa.RecordBatch.from_arrays([names, pa.array(packed, pa.binary())], ["mart", "table"])


def _joined(handed_over: DataFrame) -> dict[str, pa.Table]:
    """One table a mart, of what all tasks handed over."""
    found: dict[str, list[pa.Table]] = {
        name: [row_schema(JUDGED[name]).empty_table()] for name in FEW_ROWS
    }
    for row in handed_over.collect():
        found[row["mart"]].append(pa.ipc.open_stream(pa.py_buffer(row["table"])).read_all())
    return {name: pa.concat_tables(tables) for name, tables in found.items()}
