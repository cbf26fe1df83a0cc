"""A session that is made warm before it is wanted."""

import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.pipeline import warm


@pytest.mark.slow
def test_a_running_session_can_be_warmed_by_an_empty_job(spark: SparkSession) -> None:
    warm(spark)
    assert spark.range(1).count() == 1
