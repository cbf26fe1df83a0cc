"""Runs compared by the oracle, and by Spark from marts that the kernels made without files."""

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import SparkSession

from spark_analysis.engine.compare import COMPARED, compare
from spark_analysis.engine.judge import judge
from spark_analysis.engine.pipeline import held
from spark_analysis.schema.arrow import row_schema
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.facts import Facts
from tests.oracle import comparison
from tests.oracle.judge import judge as judge_by_oracle
from tests.oracle.views import views
from tests.rigs.generated.histories import Rows
from tests.rigs.histories.both_judges import Memory, raw_columns


def compared_by_oracle(runs: Iterable[tuple[Facts, Rows]]) -> tuple[Comparison, ...]:
    return comparison.compare(
        comparison.Run(facts, judge_by_oracle(facts, rows), views(facts, rows))
        for facts, rows in runs
    )


def compared_by_spark(
    spark: SparkSession, runs: Iterable[tuple[Facts, Rows]]
) -> tuple[Comparison, ...]:
    judged = [judge(facts, Memory(raw_columns(rows))) for facts, rows in runs]
    marts = {name: pa.concat_tables([found[name] for found in judged]) for name in COMPARED}
    frames = {name: held(spark, table) for name, table in marts.items()}
    table = compare(spark, frames, len(judged)).toArrow()
    assert table.schema.names == row_schema(Comparison).names
    assert table.schema.types == row_schema(Comparison).types
    return tuple(Comparison(**row) for row in table.to_pylist())
