"""One Spark session for all tests of the engine, started while the tests without one run."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.session import session, stop
from spark_analysis.schema.place import Place
from tests.rigs.machine.starting_spark import STARTING_SPARK

OF_STORES = (("spark.hadoop.mqproof.test", "<&>"),)  # test_store.py looks for it


@pytest.fixture(scope="session", autouse=True)
def starting_spark(request: pytest.FixtureRequest) -> Iterator[Future[SparkSession] | None]:
    """The session in the making, if any test that was chosen needs one: a JVM takes seconds."""
    if not any("spark" in getattr(item, "fixturenames", ()) for item in request.session.items):
        yield None
        return
    with ThreadPoolExecutor(1, STARTING_SPARK) as pool:
        started = pool.submit(session, Place("local[2]", OF_STORES))
        yield started
        stop(started.result(), whole=True)


@pytest.fixture(scope="session")
def spark(starting_spark: Future[SparkSession] | None) -> SparkSession:
    assert starting_spark is not None
    return starting_spark.result()
