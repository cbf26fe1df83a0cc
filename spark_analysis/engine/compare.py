"""The comparison mart: folds the marts of many runs into their cells.

1. Every run has a value for every measure. A measure that a run cannot answer is null, never 0.
2. A run with several windows enters with its worst value, and not at all if one is unknown.
3. The tables are small: runs times measures, however long the runs were. So each is one partition
   and nothing has to be shuffled.
4. It is one SQL text that Spark plans once. Built call by call, Spark would analyse every part
   again for each added part, which took longer than all the work.
"""

from collections.abc import Iterable

from pyspark.sql import DataFrame, SparkSession

from spark_analysis.schema.comparison import MEASURES, Comparison, interval_rank
from spark_analysis.schema.measures import GONE, OPEN, PLACES, STAGE_OF
from spark_analysis.schema.measures_of_runs import ROUTES, STALLS
from spark_analysis.schema.service import RUN, SYSTEM
from spark_analysis.schema.views import ROUTE
from spark_analysis.schema.words import ENDED_BY_FAULT

COMPARED = "queries", "availability", "cells", "counts", "doubts", "outages", "stages", "times"
_PREFIX = "mqproof_"  # of views, so that none is called as a word of SQL's
_OF_RUNS = tuple(m.measure for m in MEASURES if m.of_run)
_BOUNDED = sorted({m.measure for m in MEASURES if m.bounded})


def compare(spark: SparkSession, marts: dict[str, DataFrame], runs: int) -> DataFrame:
    """One row a cell, measure and detail, from the marts COMPARED. `runs` is how many there are at
    most in a cell."""
    for name in COMPARED:
        marts[name].coalesce(1).createOrReplaceTempView(f"{_PREFIX}{name}")
    return spark.sql(_text(runs))


def _text(runs: int) -> str:
    parts = {
        "wanted(measure, detail, unit, counted, of, of_time)": _wanted(),
        "stops(measure, scope, reason)": _stops(),
        "counted": _counted(),
        "held": _held(),
        "late": _late(),
        "measured": _measured(),
        "timed": _TIMED,
        "worst": _worst(),
        "out": _outages(),
        "of_runs": _OUT,
        "found": "SELECT /*+ COALESCE(1) */ * FROM (TABLE counted UNION ALL TABLE worst "
        "UNION ALL TABLE of_runs)",
        "stopped": _stopped(),
        "answers": _ANSWERS,
        "folded": _FOLDED,
    }
    queries = ",\n".join(f"{name} AS (\n{text}\n)" for name, text in parts.items())
    return f"WITH {queries}\n{_compared(runs)}"


def _wanted() -> str:
    rows = (
        (m.measure, m.detail, m.unit, m.counted, m.of, not m.counted and not m.of_run)
        for m in MEASURES
    )
    return _values(rows)


def _stops() -> str:
    return _values((m.measure, s.scope, s.reason) for m in MEASURES for s in m.stopped_by)


def _counted() -> str:
    """Sums over queues: the total of each measure, and of some each detail. Other counts are not
    compared, and `missed` is compared as a share."""
    by_detail = _words(sorted({m.measure for m in MEASURES if m.detail}))
    return f"""
        SELECT run, measure, one AS detail, CAST(sum(count) AS DOUBLE) AS value, false AS bound
        FROM (SELECT run, measure, count, explode(
                CASE WHEN measure IN ({by_detail}) THEN array('', detail) ELSE array('') END
              ) AS one
              FROM mqproof_counts
              WHERE measure IN ({_words(sorted({m.measure for m in MEASURES if m.counted}))}))
        GROUP BY run, measure, one"""


def _held() -> str:
    """Return the query for runs that have messages of the measure's sort, or routes that could
    change."""
    sorts = _words(sorted({m.of for m in MEASURES} - {"", ROUTES}))
    return f"""
        SELECT DISTINCT run, of, true AS held FROM (SELECT /*+ COALESCE(1) */ * FROM (
            SELECT run, measure AS of FROM mqproof_counts WHERE measure IN ({sorts})
            UNION ALL
            SELECT run, {_word(ROUTES)} FROM mqproof_queries
            LEFT SEMI JOIN (SELECT run FROM mqproof_times WHERE moves_routes) USING (run)
            WHERE kind = {_word(ROUTE)}))"""


def _late() -> str:
    """Return the query for how long workers stalled, by window and measure (rule 9)."""
    return f"""
        SELECT run, window, measure, CAST(sum(late_ns) AS DOUBLE) AS late_ns
        FROM (SELECT /*+ COALESCE(1) */ * FROM mqproof_doubts JOIN stops USING (scope, reason))
        WHERE reason IN ({_words(STALLS)}) AND measure IN ({_words(_BOUNDED)})
        GROUP BY run, window, measure"""


def _measured() -> str:
    """Return the query for each window's times, and whether each is a lower bound."""
    other = " ".join(
        f"WHEN {_word(stage)} THEN {_word(measure)}" for measure, stage in STAGE_OF.items()
    )
    by_fault = _words(map(str, ENDED_BY_FAULT))
    return f"""
        SELECT /*+ COALESCE(1) */ * FROM (
        SELECT run, window, 'missed' AS measure, false AS bound,
               missed / CASE WHEN operations > 0 THEN operations END AS value
        FROM mqproof_availability WHERE queue = ''
        UNION ALL
        SELECT run, window, 'silence',
               max_by(silence_censored, struct(silence_ns, silence_censored)),
               CAST(max(silence_ns) AS DOUBLE)
        FROM mqproof_availability WHERE window > 0 GROUP BY run, window
        UNION ALL
        SELECT run, window, CASE stage {other} ELSE stage END,
               NOT reached OR recovered_by IN ({by_fault}), CAST(after_ns AS DOUBLE)
        FROM mqproof_stages)"""


def _worst() -> str:
    """One row for every run and measure of times; without a value where a time has no row."""
    return f"""
        SELECT run, measure, '' AS detail,
               CASE WHEN bool_and(bound IS NOT NULL) THEN max(value) END AS value,
               bool_or(bound) AS bound
        FROM mqproof_times
        CROSS JOIN (SELECT DISTINCT measure, of FROM wanted WHERE of_time)
        LEFT JOIN timed USING (run, window, measure)
        WHERE of <> {_word(ROUTES)} OR moves_routes
        GROUP BY run, measure"""


def _outages() -> str:
    """Return the query that sums up the outages of each run that has a history."""
    each = ", ".join(f"{_word(name)}, CAST(coalesce({name}, 0) AS DOUBLE)" for name in _OF_RUNS)
    return f"""
        SELECT run, measure, '' AS detail, value, coalesce(bound, false) AS bound
        FROM (SELECT * FROM mqproof_cells LEFT JOIN (
                SELECT run, sum(until_ns - from_ns) AS total_downtime,
                       max(until_ns - from_ns) AS longest_downtime, count(run) AS outages,
                       bool_or(ended <> {_word(SYSTEM)}) AS bound
                FROM mqproof_outages WHERE scope = {_word(RUN)} GROUP BY run) USING (run)
              WHERE paced AND confirms)
        LATERAL VIEW stack({len(_OF_RUNS)}, {each}) AS measure, value"""


def _stopped() -> str:
    """Return the query with one row for every run and measure that a doubt excludes. A doubt about
    the whole run excludes all its measures. Three doubts exclude nothing: one about the steady
    state before faults, in which no outage lies, one about unread places if no message is missing,
    and a stall if a time is measured: it becomes a lower bound.
    """
    gone, places = _words(GONE), _words(PLACES)
    return f"""
        SELECT DISTINCT run, measure, true AS stopped FROM (SELECT /*+ COALESCE(1) */ * FROM (
            SELECT run, measure FROM (SELECT DISTINCT run FROM mqproof_doubts WHERE scope = 'run')
            CROSS JOIN (SELECT DISTINCT measure FROM wanted)
            UNION ALL
            SELECT run, measure FROM mqproof_doubts JOIN stops USING (scope, reason)
            LEFT JOIN (SELECT run, window, true AS looked_at FROM mqproof_times)
                USING (run, window)
            LEFT JOIN (SELECT DISTINCT run, true AS missing FROM mqproof_counts
                       WHERE measure IN ({_words(OPEN)})) USING (run)
            WHERE (scope <> 'availability' OR measure IN ({_words(_OF_RUNS)})
                   OR looked_at IS NOT NULL)
              AND NOT (measure IN ({_words(_BOUNDED)}) AND reason IN ({_words(STALLS)}))
              AND (NOT (measure IN ({gone}) AND reason IN ({places})) OR missing IS NOT NULL)))"""


# Where the stalls were as long as the time nothing is left, and the measure has no row.
_TIMED = """
        SELECT run, window, measure, bound OR late_ns IS NOT NULL AS bound,
               value - coalesce(late_ns, 0.0D) AS value
        FROM measured LEFT JOIN late USING (run, window, measure)
        WHERE late_ns IS NULL OR value > late_ns"""
_OUT = """
        SELECT run, measure, detail, value - coalesce(late_ns, 0.0D) AS value,
               bound OR late_ns IS NOT NULL AS bound
        FROM out LEFT JOIN (SELECT run, measure, sum(late_ns) AS late_ns FROM late
                            GROUP BY run, measure) USING (run, measure)
        WHERE late_ns IS NULL OR value > late_ns"""
_ANSWERS = """
        SELECT scenario, system, layout, client, run, measure, detail, unit, value,
               bound AND value IS NOT NULL AS bound
        FROM (SELECT scenario, system, layout, client, run, measure, detail, unit, bound,
                     CASE WHEN stopped IS NULL
                          THEN coalesce(value, CASE WHEN counted THEN 0.0D END) END AS value
              FROM mqproof_cells CROSS JOIN wanted
              LEFT JOIN held USING (run, of)
              LEFT JOIN found USING (run, measure, detail)
              LEFT JOIN stopped USING (run, measure)
              WHERE of = '' OR held)"""
# Where a value is null so is its sum with anything, and no list has it.
_FOLDED = """
        SELECT scenario, system, layout, client, measure, detail, unit,
               count(run) AS runs, CAST(count(value) AS INT) AS judged,
               count_if(bound) AS bounds, min(value) AS minimum, max(value) AS maximum,
               sort_array(collect_list(value)) AS ascending,
               sort_array(collect_list(
                   value + CASE WHEN bound THEN double('inf') ELSE 0.0D END)) AS endless
        FROM answers GROUP BY scenario, system, layout, client, measure, detail, unit"""


def _compared(runs: int) -> str:
    """Spark's own median differs in the last digit from the mean of the two middle values. A rank
    of 0 points outside of the values, and what lies there is null."""
    ranks = ",".join(str(interval_rank(values)) for values in range(runs + 1))
    return f"""
        SELECT {", ".join(Comparison.__dataclass_fields__)} FROM (
            SELECT * EXCEPT (judged), CAST(judged AS LONG) AS judged,
                   (get(ascending, CAST(floor((judged - 1) / 2) AS INT))
                    + get(ascending, CAST(floor(judged / 2) AS INT))) / 2 AS median,
                   get(ascending, rank - 1) AS median_from,
                   CASE WHEN get(endless, judged - rank) < double('inf')
                        THEN get(endless, judged - rank) END AS median_until
            FROM (SELECT *, get(CAST(split('{ranks}', ',') AS ARRAY<INT>), judged) AS rank
                  FROM folded))"""


def _values(rows: Iterable[tuple[str | bool, ...]]) -> str:
    tuples = (
        ", ".join(str(v).lower() if isinstance(v, bool) else _word(v) for v in r) for r in rows
    )
    return "VALUES " + ", ".join(f"({row})" for row in tuples)


def _words(words: Iterable[str]) -> str:
    return ", ".join(map(_word, words))


def _word(word: str) -> str:
    assert not {"'", "\\"} & {*word}, "it is one of our own"
    return f"'{word}'"
