"""The comparison mart: the marts of many runs folded into their cells.

1. Every run is asked for every measure; what it cannot answer is null, never 0.
2. What a run has of several windows enters as its worst, and not at all where one is unknown.
3. Small tables only: runs times measures, however long the runs were. So each is one partition,
   and nothing has to be shuffled.
"""

from dataclasses import dataclass
from functools import reduce
from math import inf

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from spark_analysis.engine.spark_rows import frame
from spark_analysis.schema.comparison import MEASURES, Comparison, interval_rank
from spark_analysis.schema.measures import GONE, OPEN, PLACES, STAGE_OF
from spark_analysis.schema.measures_of_runs import ROUTES
from spark_analysis.schema.service import RUN, SYSTEM
from spark_analysis.schema.views import ROUTE
from spark_analysis.schema.words import ENDED_BY_FAULT

COMPARED = "asked", "availability", "cells", "counts", "doubts", "outages", "stages", "times"
_CELL = ("scenario", "system", "layout", "client")
_TIME = ("run", "window", "measure")
_OF_RUNS = tuple(m.measure for m in MEASURES if m.of_run)
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
    reason: str


def compare(spark: SparkSession, marts: dict[str, DataFrame], runs: int) -> DataFrame:
    """One row a cell, measure and detail, from the marts COMPARED. `runs` is how many there are at
    most in a cell."""
    asked = frame(
        spark,
        _Asked,
        [_Asked(m.measure, m.detail, m.unit, m.counted, m.of) for m in MEASURES],
    )
    small = {name: marts[name].coalesce(1) for name in COMPARED}
    of_times = _availability(small["availability"]).union(_stages(small["stages"]))
    worst = _worst(spark, small["times"], of_times)
    of_runs = _outages(small["outages"], small["cells"])
    found = _counts(small["counts"]).union(worst).union(of_runs).coalesce(1)
    answers = (
        small["cells"]
        .join(F.broadcast(asked), how="cross")
        .join(_held(small), on=["run", "of"], how="left")
        .filter((F.col("of") == "") | F.col("held"))
        .join(found, on=["run", "measure", "detail"], how="left")
        .join(_stopped(spark, small), on=["run", "measure"], how="left")
        .withColumn("value", _judged_value())
        .withColumn("bound", F.col("bound") & F.col("value").isNotNull())
    )
    return _folded(answers, runs)


def _counts(counts: DataFrame) -> DataFrame:
    """Sums over queues: the total of each measure, and of some each detail."""
    # Other counts are not compared, and `missed` is compared as a share.
    counted = F.col("measure").isin([m.measure for m in MEASURES if m.counted])
    by_detail = F.col("measure").isin(sorted({m.measure for m in MEASURES if m.detail}))
    totals = F.when(by_detail, F.array(F.lit(""), "detail")).otherwise(F.array(F.lit("")))
    each = counts.filter(counted).withColumn("detail", F.explode(totals))
    sums = each.groupBy("run", "measure", "detail").agg(F.sum("count").alias("value"))
    whole = sums.withColumn("value", F.col("value").cast("double"))
    return whole.withColumn("bound", F.lit(False)).select(*_VALUE)


def _held(small: dict[str, DataFrame]) -> DataFrame:
    """Which runs have messages of the sort that a measure is of, or routes that could change."""
    sorts = sorted({measure.of for measure in MEASURES} - {"", ROUTES})
    messages = small["counts"].filter(F.col("measure").isin(sorts))
    routed = small["asked"].filter(F.col("kind") == ROUTE).select("run")
    moved = small["times"].filter("moves_routes").select("run")
    routes = routed.join(moved, on="run", how="left_semi").withColumn("of", F.lit(ROUTES))
    of = messages.select("run", F.col("measure").alias("of")).union(routes).coalesce(1)
    return of.distinct().withColumn("held", F.lit(True))


def _availability(availability: DataFrame) -> DataFrame:
    over_all = availability.filter(F.col("queue") == "")
    due = F.when(F.col("operations") > 0, F.col("operations"))
    share = over_all.withColumn("value", F.col("missed") / due)
    outages = over_all.filter(F.col("window") > 0).withColumn("value", F.col("silence_ns"))
    return _timed(share, F.lit("missed"), F.lit(False)).union(
        _timed(outages, F.lit("silence"), F.col("silence_censored"))
    )


def _outages(outages: DataFrame, cells: DataFrame) -> DataFrame:
    """What the outages of each run come to, where it has a history."""
    length = F.col("until_ns") - F.col("from_ns")
    sums = (
        outages.filter(F.col("scope") == RUN)
        .groupBy("run")
        .agg(
            F.sum(length).alias("out_total"),
            F.max(length).alias("out_longest"),
            F.count("run").alias("outages"),
            F.bool_or(F.col("ended") != SYSTEM).alias("bound"),
        )
    )
    every = cells.filter("paced and confirms").select("run").join(sums, on="run", how="left")
    rows = [
        every.select(
            "run",
            F.lit(name).alias("measure"),
            F.lit("").alias("detail"),
            F.coalesce(F.col(name), F.lit(0)).cast("double").alias("value"),
            F.coalesce(F.col("bound"), F.lit(False)).alias("bound"),
        )
        for name in _OF_RUNS
    ]
    return reduce(DataFrame.union, rows)


def _stages(stages: DataFrame) -> DataFrame:
    other = F.create_map(*(F.lit(word) for pair in STAGE_OF.items() for word in reversed(pair)))
    measure = F.coalesce(other[F.col("stage")], F.col("stage"))
    bound = ~F.col("reached") | F.col("owed").isin(*map(str, ENDED_BY_FAULT))
    return _timed(stages.withColumn("value", F.col("after_ns")), measure, bound)


def _timed(rows: DataFrame, measure: Column, bound: Column) -> DataFrame:
    value = F.col("value").cast("double").alias("value")
    return rows.select("run", "window", measure.alias("measure"), value, bound.alias("bound"))


def _worst(spark: SparkSession, times: DataFrame, found: DataFrame) -> DataFrame:
    """One row for every run and measure of times; without a value where a time has no row."""
    of_times = [m for m in MEASURES if not m.counted and not m.of_run]
    measures = [_Asked(m.measure, "", "", False, m.of) for m in of_times]
    asked = F.broadcast(frame(spark, _Asked, measures).select("measure", "detail", "of"))
    known = F.bool_and(F.col("bound").isNotNull())
    return (
        times.join(asked, how="cross")
        .filter((F.col("of") != ROUTES) | F.col("moves_routes"))
        .join(found.coalesce(1), on=[*_TIME], how="left")
        .groupBy("run", "measure", "detail")
        .agg(F.when(known, F.max("value")).alias("value"), F.bool_or("bound").alias("bound"))
        .select(*_VALUE)
    )


def _stopped(spark: SparkSession, small: dict[str, DataFrame]) -> DataFrame:
    """One row for every run and measure that a doubt forbids to judge."""
    stops = [
        _Stopped(m.measure, stop.scope, stop.reason) for m in MEASURES for stop in m.stopped_by
    ]
    # A doubt about the whole run stands for every reason it may have.
    every = frame(spark, _Asked, [_Asked(m.measure, "", "", False) for m in MEASURES])
    whole = small["doubts"].filter(F.col("scope") == "run").select("run").distinct()
    named = small["doubts"].join(
        F.broadcast(frame(spark, _Stopped, stops)), on=["scope", "reason"], how="inner"
    )
    stopped = whole.join(F.broadcast(every), how="cross").select("run", "measure")
    stopped = stopped.union(_pressing(_of_its_times(named, small["times"]), small["counts"]))
    return stopped.coalesce(1).distinct().withColumn("stopped", F.lit(True))


def _of_its_times(named: DataFrame, times: DataFrame) -> DataFrame:
    """Without doubts about the calm before faults, in which no outage is."""
    looked_at = times.select("run", "window").withColumn("looked_at", F.lit(True))
    of_time = F.col("scope") == "availability"
    placed = named.join(looked_at, on=["run", "window"], how="left")
    of_run = F.col("measure").isin(*_OF_RUNS)
    return placed.filter(~of_time | of_run | F.col("looked_at").isNotNull())


def _pressing(named: DataFrame, counts: DataFrame) -> DataFrame:
    """Without doubts about places that could hold what is missing, where nothing is missing."""
    is_open = F.col("measure").isin(*OPEN)
    missing = counts.filter(is_open).select("run").distinct().withColumn("missing", F.lit(True))
    of_place = F.col("measure").isin(*GONE) & F.col("reason").isin(*PLACES)
    pressing = named.join(missing, on="run", how="left").filter(
        ~of_place | F.col("missing").isNotNull()
    )
    return pressing.select("run", "measure")


def _judged_value() -> Column:
    nothing_found = F.when(F.col("counted"), F.lit(0.0))
    return F.when(F.col("stopped").isNull(), F.coalesce(F.col("value"), nothing_found))


def _folded(answers: DataFrame, runs: int) -> DataFrame:
    # One literal that Spark folds once; a literal a rank would take it seconds to plan.
    ranks = ",".join(str(interval_rank(values)) for values in range(runs + 1))
    table = F.split(F.lit(ranks), ",").cast("array<int>")
    judged, ascending = F.col("judged"), F.col("ascending")
    rank = F.get(table, judged)
    # Spark's own median differs in the last digit from the mean of the two middle values.
    below, above = (F.floor(places).cast("int") for places in ((judged - 1) / 2, judged / 2))
    # Where a value is null so is its sum, and no list has it.
    endless = F.col("value") + F.when(F.col("bound"), F.lit(inf)).otherwise(F.lit(0.0))
    until = F.get(F.col("endless"), judged - rank)
    return (
        answers.groupBy(*_CELL, "measure", "detail", "unit")
        .agg(
            F.count("run").alias("runs"),
            F.count("value").cast("int").alias("judged"),
            F.count_if("bound").alias("bounds"),
            F.min("value").alias("minimum"),
            F.max("value").alias("maximum"),
            F.sort_array(F.collect_list("value")).alias("ascending"),
            F.sort_array(F.collect_list(endless)).alias("endless"),
        )
        .withColumn("median", (F.get(ascending, below) + F.get(ascending, above)) / 2)
        # A rank of 0 points outside of the values, and what lies there is null.
        .withColumn("median_from", F.get(ascending, rank - 1))
        .withColumn("median_until", F.when(until < F.lit(inf), until))
        .withColumn("judged", judged.cast("long"))
        .select(*Comparison.__dataclass_fields__)
    )
