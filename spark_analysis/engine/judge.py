"""One run judged: its facts and records in, the rows of its marts out.

1. One Spark task judges whole runs, one after another, from their files; nothing is shuffled, and
   no history leaves the task.
2. A run that cannot be judged is one doubt; it never costs another run its verdict.
3. Every row is (mart, one struct a mart), and only the struct of its own mart is not null.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_analysis.engine import rows, tables
from spark_analysis.engine.kernel import (
    arrivals,
    availability,
    cases,
    costs,
    delays,
    doubts,
    duplicates,
    loss,
    messages,
    operations,
    order,
    stages,
    transactions,
    views,
)
from spark_analysis.engine.kernel.records import (
    Attempts,
    BadRecords,
    Deliveries,
    Faults,
    Lateness,
    Probes,
    Reader,
    Resources,
    Settlements,
    Terms,
)
from spark_analysis.schema.comparison import Cell, Time
from spark_analysis.schema.costs import COSTS
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS
from spark_analysis.schema.views import VIEWS

# Which cell of a comparison each run belongs to, and which times it has its worst of: judged like
# marts, not written.
CELLS, TIMES = "cells", "times"
JUDGED: dict[str, type] = {**MARTS, **COSTS, **VIEWS, CELLS: Cell, TIMES: Time}
_TASKS_A_CORE = 4  # enough to level out unequal runs; each costs every mart one more file


def judge_runs(
    spark: SparkSession, run_folders: Sequence[str], names: Sequence[str] = ()
) -> DataFrame:
    """All rows of all marts, tagged; `mart` takes one of them out.

    `names`: what the runs are called in their rows, where two of them may have one name.
    """
    folders = tuple(zip(run_folders, names or [""] * len(run_folders), strict=True))
    tasks = min(len(folders), spark.sparkContext.defaultParallelism * _TASKS_A_CORE)
    numbers = spark.range(0, len(folders), 1, tasks)
    return numbers.mapInArrow(partial(_judge_folders, folders), rows.union_type(JUDGED))


def mart(judged: DataFrame, name: str) -> DataFrame:
    """The rows of one mart, as findings.py declares them."""
    return judged.filter(F.col("mart") == name).select(f"{name}.*")


def judge_folder(folder: Path, name: str = "") -> Iterator[tuple[str, pa.Table]]:
    """The marts of one run folder: what pyarrow reads, whole columns at a time.

    `name`: what the run is called in its rows; "" is the name that its facts have.
    """
    run = name or folder.name
    try:
        facts = tables.read_facts(folder)
        facts = replace(facts, run=name or facts.run)
        run = facts.run
        found = judge(facts, tables.RunFolder(folder))
    except BadRecords as reason:
        # A doubt has no place for the reason's own words, so they are said here.
        logging.getLogger(__name__).warning("%s cannot be judged: %s", folder, reason)
        found = {"doubts": rows.table(MARTS["doubts"], [doubts.unjudged(run)])}
    yield from found.items()


def judge(facts: Facts, reader: Reader) -> dict[str, pa.Table]:
    """Every mart of one run. Raises BadRecords where the records contradict their schema."""
    known = messages.fold(reader.read(Attempts), reader.read(Settlements), reader.read(Terms))
    arrived = arrivals.arrivals(reader.read(Deliveries), known)
    intended = operations.operations(known, facts)
    reached = stages.stages(known, arrived, intended, reader.read(Faults), facts)
    asked = views.ways(reader.read(Probes))
    counted, listed = _verdicts(facts, reader, known, arrived, intended)
    census = [*counted, *(each.census for each in listed)]
    found: dict[str, list[object]] = {
        "counts": [count for each in census for count in cases.counts(facts.run, each)],
        "seconds": [*availability.seconds(known, arrived, intended, facts.run)],
        "availability": [*availability.availability(known, intended, reached, facts)],
        "stages": [*reached, *views.stages(asked, facts)],
        "doubts": [*doubts.doubts(known, reader.read(Lateness), census, facts)],
        "calm": [*costs.calm(known, intended, facts)],
        "use": [*costs.use(reader.read(Resources), facts)],
        "asked": [*views.asked(asked, facts.run)],
        "changes": [*views.changes(asked, facts.run)],
        "silences": [*views.silences(asked, facts.run)],
        CELLS: [Cell.of(facts)],
        TIMES: [*Time.all_of(facts)],
    }
    marts = {name: rows.table(JUDGED[name], listing) for name, listing in found.items()}
    return {**marts, "affected": rows.affected(facts.run, listed)}


def _verdicts(
    facts: Facts,
    reader: Reader,
    known: messages.Messages,
    arrived: arrivals.Arrivals,
    intended: operations.Operations,
) -> tuple[list[cases.Census], list[cases.Cases]]:
    """What is only counted, and what is listed too."""
    judged, reordered = order.order(known, arrived, facts)
    delayed, early = delays.delays(known, arrived, facts)
    fated, broken = transactions.transactions(known, arrived, facts)
    all_operations, missed = operations.missed(intended, known)
    closed = all(worker.log_closed for worker in facts.workers if worker.role == "publisher")
    listed = [
        *loss.loss(known, arrived, facts),
        *arrivals.unexpected(arrived, known, closed),
        *arrivals.corrupt(arrived),
        *duplicates.duplicates(known, arrived, facts, reader),
        *reordered,
        *missed,
        *early,
        *broken,
    ]
    return [known.states(), known.confirmed(), *judged, *all_operations, *delayed, *fated], listed


def _judge_folders(
    folders: Sequence[tuple[str, str]], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Small runs wait for each other: a batch costs Spark as much for one row as for many."""
    waiting: dict[str, list[pa.Table]] = {name: [] for name in JUDGED}
    for batch in batches:
        for number in batch.column(0).to_pylist():
            folder, run = folders[number]
            for name, found in judge_folder(Path(folder), run):
                waiting[name].append(found)
                if sum(map(len, waiting[name])) >= rows.BATCH_ROWS:
                    yield from rows.union_batches(JUDGED, name, waiting[name])
                    waiting[name] = []
    for name, tables_left in waiting.items():
        yield from rows.union_batches(JUDGED, name, tables_left)
