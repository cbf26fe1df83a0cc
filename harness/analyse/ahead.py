"""An early start of Spark, while the last queues are drained and their cluster is removed.

1. Nothing is timed any more by then. If the start fails, the request for its session reports it.
2. A request without an early start waits for the start, as usual.
3. A started session that is no longer needed is stopped.
"""

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial

from pyspark.sql import SparkSession

from spark_analysis.engine.failing import SPARK_ERRORS, SparkFailed
from spark_analysis.engine.pipeline import warm
from spark_analysis.engine.session import session, stop
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
