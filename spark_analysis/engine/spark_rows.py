"""Mart rows as Spark knows them: their types, and small tables that the program itself holds."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    BooleanType,
    DataType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from spark_analysis.engine.rows import table
from spark_analysis.schema.arrow import row_schema

_SPARK: dict[pa.DataType, DataType] = {
    pa.int64(): LongType(),
    pa.string(): StringType(),
    pa.bool_(): BooleanType(),
    pa.float64(): DoubleType(),
}


def spark_type(row: type) -> StructType:
    """A mart's row type for Spark."""
    return StructType(
        [StructField(field.name, _SPARK[field.type], field.nullable) for field in row_schema(row)]
    )


def frame(spark: SparkSession, row: type, listing: Sequence[object]) -> DataFrame:
    """A small table that the program itself knows."""
    return spark.createDataFrame(table(row, listing))


def union_type(marts: Mapping[str, type]) -> StructType:
    """`mart`, and a struct for each mart; all but the row's own are null."""
    structs = [StructField(name, spark_type(row)) for name, row in marts.items()]
    return StructType([StructField("mart", StringType(), nullable=False), *structs])
