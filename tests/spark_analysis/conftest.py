"""One Spark session for all tests of the engine: starting one takes seconds."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.session import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    started = session(cores=2)
    yield started
    started.stop()
