"""The comparison mart: the marts of many runs folded into their cells.

1. Every run is asked for every measure; what it cannot answer is null, never 0.
2. Small tables only: runs times measures, however long the runs were. So each is one partition,
   and nothing has to be shuffled.
"""

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_analysis.engine.rows import frame
from spark_analysis.schema.comparison import (
    MEASURES,
    OPEN,
    PLACES,
    Comparison,
    Stop,
    interval_rank,
)

_CELL = ("scenario", "system", "layout", "client")
_VALUE = ("run", "measure", "detail", "value", "bound")


@dataclass(frozen=True, slots=True)
class _Asked:
    measure: str
    detail: str
    unit: str
    counted: bool
    of: str = ""


@dataclass(frozen=True, slots=True)
class _Stopped:
    measure: str
    scope: str
    window: int
    reason: str


def compare(spark: SparkSession, marts: dict[str, DataFrame], runs: int) -> DataFrame:
    """One row a cell, measure and detail. `runs` is how many there are at most in a cell."""
    asked = frame(
        spark,
        _Asked,
        [_Asked(m.measure, m.detail, m.unit, m.mart == "counts", m.of) for m in MEASURES],
    )
    small = {name: rows.coalesce(1) for name, rows in marts.items()}
    found = _counts(small["counts"]).union(_availability(small["availability"]))
    found = found.union(_stages(small["stages"])).coalesce(1)
    answers = (
        small["cells"]
        .join(F.broadcast(asked), how="cross")
        .join(_held(small["counts"]), on=["run", "of"], how="left")
        .filter((F.col("of") == "") | F.col("held"))
        .join(found, on=["run", "measure", "detail"], how="left")
        .join(_stopped(spark, small["doubts"], small["counts"]), on=["run", "measure"], how="left")
        .withColumn("value", _judged_value())
        .withColumn("bound", F.col("bound") & F.col("value").isNotNull())
    )
    return _folded(answers, runs)


def _counts(counts: DataFrame) -> DataFrame:
    """Sums over queues: the total of each measure, and each detail of `duplicated`."""
    # Other counts are not compared, and `missed` is compared as a share.
    counted = F.col("measure").isin([m.measure for m in MEASURES if m.mart == "counts"])
    duplicated = F.col("measure") == "duplicated"
    totals = F.when(duplicated, F.array(F.lit(""), "detail")).otherwise(F.array(F.lit("")))
    each = counts.filter(counted).withColumn("detail", F.explode(totals))
    sums = each.groupBy("run", "measure", "detail").agg(F.sum("count").alias("value"))
    return _values(sums, F.col("measure"), F.col("detail"))


def _held(counts: DataFrame) -> DataFrame:
    """Which runs have messages of the sort that a measure is of."""
    sorts = sorted({measure.of for measure in MEASURES} - {""})
    of = counts.filter(F.col("measure").isin(sorts)).select("run", F.col("measure").alias("of"))
    return of.distinct().withColumn("held", F.lit(True))


def _availability(availability: DataFrame) -> DataFrame:
    over_all = availability.filter(F.col("queue") == "")
    whole = over_all.filter((F.col("window") == 0) & (F.col("operations") > 0))
    share = whole.withColumn("value", F.col("missed") / F.col("operations"))
    first = over_all.filter(F.col("window") == 1).withColumn("value", F.col("silence_ns"))
    return _values(share, F.lit("missed"), F.lit("")).union(
        _values(first, F.lit("silence"), F.lit(""), F.col("silence_censored"))
    )


def _stages(stages: DataFrame) -> DataFrame:
    first = stages.filter(F.col("window") == 1).withColumn("value", F.col("after_ns"))
    sustained = F.col("stage") == "sustained_success"
    measure = F.when(sustained, "degraded").otherwise(F.col("stage"))
    return _values(first, measure, F.lit(""), ~F.col("reached"))


def _values(
    rows: DataFrame, measure: Column, detail: Column, bound: Column | None = None
) -> DataFrame:
    return rows.select(
        "run",
        measure.alias("measure"),
        detail.alias("detail"),
        F.col("value").cast("double").alias("value"),
        (F.lit(False) if bound is None else bound).alias("bound"),
    ).select(*_VALUE)


def _stopped(spark: SparkSession, doubts: DataFrame, counts: DataFrame) -> DataFrame:
    """One row for every run and measure that a doubt forbids to judge."""
    stops = [_stop(m.measure, stop) for m in MEASURES for stop in m.stopped_by]
    # A doubt about the whole run stands for every reason it may have.
    every = frame(spark, _Asked, [_Asked(m.measure, "", "", False) for m in MEASURES])
    whole = doubts.filter(F.col("scope") == "run").select("run").distinct()
    named = doubts.join(
        F.broadcast(frame(spark, _Stopped, stops)), on=["scope", "window", "reason"], how="inner"
    )
    stopped = whole.join(F.broadcast(every), how="cross").select("run", "measure")
    stopped = stopped.union(_pressing(named, counts)).coalesce(1)
    return stopped.distinct().withColumn("stopped", F.lit(True))


def _pressing(named: DataFrame, counts: DataFrame) -> DataFrame:
    """Without doubts about places that could hold what is missing, where nothing is missing."""
    is_open = F.col("measure").isin(*OPEN)
    missing = counts.filter(is_open).select("run").distinct().withColumn("missing", F.lit(True))
    of_place = F.col("measure").isin("lost", "stranded") & F.col("reason").isin(*PLACES)
    pressing = named.join(missing, on="run", how="left").filter(
        ~of_place | F.col("missing").isNotNull()
    )
    return pressing.select("run", "measure")


def _stop(measure: str, stop: Stop) -> _Stopped:
    return _Stopped(measure, stop.scope, stop.window, stop.reason)


def _judged_value() -> Column:
    nothing_found = F.when(F.col("counted"), F.lit(0.0))
    return F.when(F.col("stopped").isNull(), F.coalesce(F.col("value"), nothing_found))


def _folded(answers: DataFrame, runs: int) -> DataFrame:
    # One literal that Spark folds once; a literal a rank would take it seconds to plan.
    ranks = ",".join(str(interval_rank(values)) for values in range(runs + 1))
    table = F.split(F.lit(ranks), ",").cast("array<int>")
    judged, ascending = F.col("judged"), F.col("ascending")
    rank = F.get(table, judged)
    return (
        answers.groupBy(*_CELL, "measure", "detail", "unit")
        .agg(
            F.count("run").alias("runs"),
            F.count("value").cast("int").alias("judged"),
            F.count_if("bound").alias("bounds"),
            F.min("value").alias("minimum"),
            F.median("value").alias("median"),
            F.max("value").alias("maximum"),
            F.sort_array(F.collect_list("value")).alias("ascending"),
        )
        # A rank of 0 points outside of the values, and what lies there is null.
        .withColumn("median_from", F.get(ascending, rank - 1))
        .withColumn("median_until", F.get(ascending, judged - rank))
        .withColumn("judged", judged.cast("long"))
        .select(*Comparison.__dataclass_fields__)
    )
