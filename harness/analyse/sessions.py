"""Spark sessions: one started early, and one that brings experiments from a store.

1. Spark starts while the last queues are drained and their cluster is removed. Nothing is timed
   any more by then. If the start fails, the request for its session reports it.
2. A request without an early start waits for the start, as usual.
3. A started session that is no longer needed is stopped.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from harness.run_folder.experiments import NAME, RUNS
from spark_analysis.engine.failing import SPARK_ERRORS, SparkFailed
from spark_analysis.engine.pipeline import warm
from spark_analysis.engine.session import session, stop, stopped
from spark_analysis.engine.store import bring
from spark_analysis.schema.place import HERE, Place


class Ahead:
    """One session, on its way at the earliest from `begin` on."""

    def __init__(self, where: Place = HERE) -> None:
        self._where = where
        self._starting = ThreadPoolExecutor(1, "starting-spark")
        self._begun: Future[SparkSession] | None = None

    def begin(self) -> None:
        if self._begun is None:
            self._begun = self._starting.submit(partial(_started, self._where))

    def session(self) -> SparkSession:
        """Whose it is who asks, once. Raises SparkFailed."""
        begun = self._begun
        if begun is None:
            return session(self._where)
        begun.exception()  # waits: an interrupt leaves the session to `end`, which stops it
        self._begun = None
        return begun.result()

    def end(self) -> None:
        begun, self._begun = self._begun, None
        self._starting.shutdown(wait=True)
        if begun is not None:
            with suppress(SparkFailed, *SPARK_ERRORS):
                stop(begun.result())


def _started(where: Place) -> SparkSession:
    spark = session(where)
    with suppress(*SPARK_ERRORS):  # who judges by it will hear of it
        warm(spark)
    return spark


def bring_all(wanted: Mapping[str, Path], where: Place, step: Callable[[str], None]) -> None:
    """Copy each folder and return its new path by URL. Raise Unbrought, SparkFailed."""
    step("start Spark")
    with stopped(session(where)) as spark:
        for url, folder in wanted.items():
            step(f"bring {url}")
            bring(spark, url, folder, NAME, RUNS)
