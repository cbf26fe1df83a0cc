"""A session that is made warm before it is wanted."""

import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.pipeline import warm


@pytest.mark.slow
def test_a_session_that_stands_can_be_made_warm_by_doing_nothing_with_it(
    spark: SparkSession,
) -> None:
    warm(spark)
    assert spark.range(1).count() == 1
