"""Experiments in a store that Hadoop sees, brought by URL to a folder that every task reaches.

1. Each run is copied by a task: no history passes through the program that asks for it.
2. What is brought has its name only when all of it is there; what is broken off leaves nothing.
3. Of an experiment its runs are brought, and what tells of them: all else is made of these.
"""

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from spark_analysis.engine.failing import SPARK_ERRORS, SparkFailed, sentence
from spark_analysis.engine.hadoop import Hadoop, HadoopFailed, named

_TASKS_A_CORE = 4  # runs are of unequal size
_SAID = "said"


class Unbrought(Exception):
    """A run that could not be copied, with the reason."""


def bring(spark: SparkSession, url: str, into: Path, telling: str, runs: str) -> None:
    """The experiment at `url`: its file `telling`, and all of its folder `runs`.

    `into` is not there yet, and lies where every task can reach it. Raises Unbrought, SparkFailed.
    """
    place = into.with_name(f".{into.name}.{os.getpid()}.partial")
    try:
        (place / runs).mkdir(parents=True)
        _bring(spark, url.rstrip("/"), place, telling, runs)
        place.rename(into)
    except (HadoopFailed, OSError) as failure:
        raise Unbrought(f"{url} cannot be brought: {failure}") from failure
    except SPARK_ERRORS as error:
        raise SparkFailed(f"Spark could not bring {url}: {sentence(error)}") from error
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _bring(spark: SparkSession, url: str, place: Path, telling: str, runs: str) -> None:
    hadoop = Hadoop.of(spark)
    hadoop.run("-get", named(f"{url}/{telling}"), place.as_uri())
    sources = hadoop.run("-ls", "-C", named(f"{url}/{runs}")).splitlines()
    cores = spark.sparkContext.defaultParallelism
    tasks = max(1, min(len(sources), cores * _TASKS_A_CORE))
    numbers = spark.range(0, len(sources), 1, tasks)
    copy = partial(_copied, hadoop, tuple(sources), (place / runs).as_uri())
    for row in numbers.mapInArrow(copy, f"{_SAID} string not null").collect():
        raise HadoopFailed(row[_SAID])


def _copied(
    hadoop: Hadoop, sources: Sequence[str], target: str, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Copy in a task and return a row for each failure. A repeated task writes the same files
    again."""
    numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
    if not numbers:
        return
    try:
        hadoop.run("-get", "-f", *(named(sources[number]) for number in numbers), target)
    except (HadoopFailed, OSError) as failure:
        yield pa.RecordBatch.from_arrays([pa.array([str(failure)])], [_SAID])
