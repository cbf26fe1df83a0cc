"""Small tables that the program itself holds, for Spark."""

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from spark_analysis.engine.rows import table


def frame(spark: SparkSession, row: type, listing: Sequence[object]) -> DataFrame:
    """Rows that the program itself knows."""
    return held(spark, table(row, listing))


def held(spark: SparkSession, rows: pa.Table) -> DataFrame:
    """A table that this process holds."""
    # In one chunk: Spark 4.3 loses rows of a table that has several.
    return spark.createDataFrame(rows.combine_chunks())
