"""Runs judged by Spark: whole run folders in, the rows of all marts out.

1. One Spark task judges whole runs, one after another, from their files; nothing is shuffled, and
   no history leaves the task.
2. A run that cannot be judged never costs another run its verdict: where a task dies with its
   process, its runs are judged in halves, until it is known which one was its death.
3. Marts with many rows are written where they are found, so that none of these rows leaves its
   task either. Of the others each task hands over a table: of a run they have few rows, however
   many messages it had.
4. A table travels as Arrow's own bytes: to Spark it is one value, and not a row for every row.
5. Where there are fewer runs than cores, threads of a task share a large run (threads.py): its
   files are in the order of time, so that tasks of their own would each have to read all of them.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from spark_analysis.engine import parts
from spark_analysis.engine.failing import (
    SPARK_ERRORS,
    MartsUnwritten,
    SparkFailed,
    is_gone,
    sentence,
)
from spark_analysis.engine.judge import JUDGED, SHARED_FROM, judge_folder, unjudged
from spark_analysis.engine.parts import Parts
from spark_analysis.files.failed import Failed, failed
from spark_analysis.schema.arrow import row_schema
from spark_analysis.schema.place import MEMORIES, MEMORY, size
from spark_analysis.schema.question import Question

# --- Memory budget -------------------------------------------------------------------------------
# The memory that a task may take for one run: the configured size, else a share of its host's.


LEAST = 3 << 30  # what a run of 40 million rows takes that one thread judges
_SHARE = 4  # of so many parts of a machine one is ours, all tasks together
_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container; a word where there is none


def of_task(configured: int, threads: int) -> int:
    """Return the bytes of one task.

    `configured`: 0 if nothing is configured. `threads`: the number of cores that the task may use.
    """
    cores = os.cpu_count() or 1
    return configured or max(LEAST, of_machine() // _SHARE * min(threads, cores) // cores)


def of_machine() -> int:
    """Return the bytes of memory, or of the container's limit; 0 if both are unknown."""
    found = []
    with suppress(OSError, ValueError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):
        found.append(int(_LIMIT.read_text()))
    return min(found, default=0)


# --- Tasks ---------------------------------------------------------------------------------------


MANY_ROWS = ("affected", "seconds", "sending", "marks", "service")  # a message, second or queue
FEW_ROWS = tuple(name for name in JUDGED if name not in MANY_ROWS)

_TASKS_A_CORE = 4  # enough to level out unequal runs; each costs every mart one more file
_HANDED_OVER = "mart string not null, table binary not null"
_UNWRITTEN = "unwritten"  # handed over in a mart's place: why marts cannot be written

_Found = list[tuple[str, pa.Table]]  # of a mart, some of its rows


def judge_runs(
    spark: SparkSession,
    run_folders: Sequence[str],
    marts_folder: str,
    questions: Sequence[Question] = (),
    shared_from: int = SHARED_FROM,
) -> dict[str, pa.Table]:
    """Writes the marts with many rows below `marts_folder`, and returns the others.

    `questions`: one a run; none: every run is asked what its own facts say. `shared_from`: rows
    of a run that several threads may share. Raises MartsUnwritten, SparkFailed.
    """
    of_folders: Sequence[Question | None] = questions or [None] * len(run_folders)
    folders = tuple(zip(run_folders, of_folders, strict=True))
    judging = _Judging(spark, folders, marts_folder, shared_from)
    found: dict[str, list[pa.Table]] = {
        name: [row_schema(JUDGED[name]).empty_table()] for name in FEW_ROWS
    }
    for name, table in judging.some(range(len(folders))):
        found[name].append(table)
    return {name: pa.concat_tables(tables) for name, tables in found.items()}


@dataclass(frozen=True, slots=True)
class _Shared:
    """The threads of a task for a run of a given size, and their memory budget."""

    threads: int
    from_rows: int
    memory: int  # bytes; 0: not configured


@dataclass(frozen=True, slots=True)
class _Judging:
    """Runs on their way through Spark."""

    spark: SparkSession
    folders: tuple[tuple[str, Question | None], ...]
    marts_folder: str
    shared_from: int

    def some(self, numbers: range) -> _Found:
        """Return the results of these runs, by their places among all."""
        try:
            return self._handed_over(numbers)
        except SPARK_ERRORS as error:
            if is_gone(error):
                raise SparkFailed(f"Spark ended while it judged: {sentence(error)}") from error
            parts.remove(Path(self.marts_folder), MANY_ROWS, numbers)
            if len(numbers) == 1:
                return self._unjudged(numbers[0], error)
        middle = len(numbers) // 2
        return self.some(numbers[:middle]) + self.some(numbers[middle:])

    def _handed_over(self, numbers: range) -> _Found:
        cores = self.spark.sparkContext.defaultParallelism
        tasks = min(len(numbers), cores * _TASKS_A_CORE)
        placed = self.spark.range(numbers.start, numbers.stop, 1, tasks)
        shared = _Shared(cores // tasks if tasks else 1, self.shared_from, self._memory())
        judge = partial(_judge_folders, self.folders, self.marts_folder, shared)
        rows = placed.mapInArrow(judge, _HANDED_OVER).collect()
        for row in rows:
            if row["mart"] == _UNWRITTEN:
                raise MartsUnwritten(bytes(row["table"]).decode())
        return [
            (row["mart"], pa.ipc.open_stream(pa.py_buffer(row["table"])).read_all())
            for row in rows
        ]

    def _memory(self) -> int:
        said = self.spark.conf.get(MEMORY, "")
        if not said:
            return 0
        memory = size(said)
        if memory is None:  # it was set through spark-submit
            raise SparkFailed(f"{MEMORY} = {said} is no size, as {' or '.join(MEMORIES)}")
        return memory

    def _unjudged(self, number: int, error: Exception) -> _Found:
        folder, question = self.folders[number]
        run = question.run if question and question.run else Path(folder).name
        if isinstance(error, PythonException):  # nothing but our own code runs there
            return [*unjudged(failed(run, Path(folder), error)).items()]
        return [*unjudged(Failed(run, f"{folder}: {sentence(error)}", "")).items()]


def _judge_folders(
    folders: Sequence[tuple[str, Question | None]],
    marts_folder: str,
    shared: _Shared,
    batches: Iterable[pa.RecordBatch],
) -> Iterator[pa.RecordBatch]:
    numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
    some = [folders[number] for number in numbers]
    try:
        yield _packed(_judged(some, marts_folder, numbers[:1], shared))
    except MartsUnwritten as failure:
        yield _handed([_UNWRITTEN], [str(failure).encode()])


def _judged(
    folders: Sequence[tuple[str, Question | None]],
    marts_folder: str,
    first: Sequence[int],
    shared: _Shared,
) -> dict[str, pa.Table]:
    """`first`: the place of the first among all runs; no other task has it."""
    task = TaskContext.get()
    assert task is not None, "judged outside of a task"
    threads = min(shared.threads, os.cpu_count() or 1)  # the cores may be those of many machines
    memory = of_task(shared.memory, threads)
    few: dict[str, list[pa.Table]] = {name: [] for name in FEW_ROWS}
    with Parts(Path(marts_folder), first[0] if first else 0, task.taskAttemptId()) as many:
        for folder, question in folders:
            judged = judge_folder(Path(folder), question, threads, shared.from_rows, memory)
            for name, found in judged:
                if name in MANY_ROWS:
                    many.add(name, found)
                else:
                    few[name].append(found)
    return {name: pa.concat_tables(found) for name, found in few.items() if found}


def _packed(tables: Mapping[str, pa.Table]) -> pa.RecordBatch:
    packed = []
    for table in tables.values():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        packed.append(sink.getvalue().to_pybytes())
    return _handed(list(tables), packed)


def _handed(names: Sequence[str], packed: Sequence[bytes]) -> pa.RecordBatch:
    columns = [pa.array(names, pa.string()), pa.array(packed, pa.binary())]
    return pa.RecordBatch.from_arrays(columns, ["mart", "table"])
