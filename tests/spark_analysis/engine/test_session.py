"""What worker processes are told by the session that they belong to."""

import os
from collections.abc import Iterator

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow

KEPT = {"MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_ARENA_MAX"}


def test_worker_processes_keep_the_memory_that_kernels_drop(spark: SparkSession) -> None:
    def told(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([sorted(os.environ)], ["name"])

    names = {row["name"] for row in spark.range(1).mapInArrow(told, "name string").collect()}
    assert names >= KEPT
