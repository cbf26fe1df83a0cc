"""One Spark session for all tests of a worker. conftest.py imports this late: it takes long."""

from contextlib import nullcontext

import pytest
from pyspark.sql import SparkSession

from harness.analyse import ahead, marts
from spark_analysis.engine.session import session
from spark_analysis.engine.session import stop as stop_session
from spark_analysis.schema.place import Place

OF_STORES = (("spark.hadoop.mqproof.test", "<&>"),)  # test_store.py looks for it


def start() -> SparkSession:
    """Return the session that runs in this process, or a new one."""
    return session(Place("local[2]", OF_STORES))


def stop(spark: SparkSession) -> None:
    stop_session(spark, whole=True)


def lend(spark: SparkSession, patch: pytest.MonkeyPatch) -> None:
    """Let `analyse` in this process use the session, which it then does not stop."""
    patch.setattr(ahead, "session", lambda _: spark)
    patch.setattr(marts, "stopped", nullcontext)
