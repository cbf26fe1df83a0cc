"""Cells are folded over their repeats; what could not be judged is never a 0."""

from dataclasses import replace

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine.compare import compare
from spark_analysis.engine.judge import CELLS, judge
from spark_analysis.schema.arrow import row_schema
from spark_analysis.schema.comparison import MEASURES, Comparison, interval_rank
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS
from spark_analysis.schema.words import Fate, Outcome, Strength
from tests.both_judges import Memory, raw_columns
from tests.generated_histories import Rows
from tests.histories import CONSUMER, PUBLISHER, History, ns

pytestmark = pytest.mark.slow

LOST_IN_EACH = (5, 1, 3, 0, 2, 4)


@pytest.fixture(scope="module")
def compared(spark: SparkSession) -> dict[tuple[str, str, str], Comparison]:
    """By system, measure and detail."""
    runs = [
        *(("six", losing(lost)) for lost in LOST_IN_EACH),
        ("doubtful", losing(1)),
        ("doubtful", losing(2).log_open(CONSUMER)),
        ("doubtful", losing(3).window(10, verified=False)),
        ("stalled", losing(1).stall(PUBLISHER, at_ms=10, late_ms=101)),
        ("double", doubled()),
        ("bounds", losing(0).window(10)),
        ("silent", losing(0).queue("orders", unreadable=("rmq3",))),
        ("silent", losing(1).queue("orders", unreadable=("rmq3",))),
        ("undrained", losing(0).queue("orders", drained=False)),
        ("undrained", losing(1).queue("orders", drained=False)),
        ("windows", two_windows().stall(PUBLISHER, at_ms=22_000, late_ms=150)),
        ("before", two_windows().stall(PUBLISHER, at_ms=5_000, late_ms=150)),
        ("within", two_windows().stall(PUBLISHER, at_ms=12_000, late_ms=150)),
        ("unpaced", History(paced=False).publish(0).confirm(0)),
        ("termed", termed()),
        ("termed", termed().publish(7, at_ms=10).terms(7, wait_ms=5_000).deliver(7)),
        ("termed", losing(0)),
    ]
    judged = [
        judge(facts, Memory(raw_columns(rows)))
        for facts, rows in (in_cell(system, number, h) for number, (system, h) in enumerate(runs))
    ]
    # In one chunk: Spark 4.3 loses rows of a table that has several.
    marts = {
        name: pa.concat_tables([found[name] for found in judged]).combine_chunks()
        for name in (*MARTS, CELLS)
    }
    frames = {name: spark.createDataFrame(table) for name, table in marts.items()}
    table = compare(spark, frames, len(LOST_IN_EACH)).toArrow()
    assert table.schema.names == row_schema(Comparison).names
    assert table.schema.types == row_schema(Comparison).types
    rows = [Comparison(**row) for row in table.to_pylist()]
    return {(row.system, row.measure, row.detail): row for row in rows}


Compared = dict[tuple[str, str, str], Comparison]


def test_every_cell_answers_every_measure_once(compared: Compared) -> None:
    systems = {system for system, _, _ in compared}
    assert systems == {
        *("six", "doubtful", "stalled", "double", "bounds", "silent"),
        *("undrained", "windows", "before", "within", "unpaced", "termed"),
    }
    everywhere = [measure for measure in MEASURES if not measure.of]
    everyone = len(systems) * len(everywhere)
    assert len(compared) == everyone + len(MEASURES) - len(everywhere)


def test_what_only_delays_or_transactions_can_show_is_asked_of_runs_that_have_some(
    compared: Compared,
) -> None:
    of_terms = {
        measure: (row.runs, row.judged, row.minimum, row.maximum)
        for (system, measure, _), row in compared.items()
        if system == "termed" and measure in {each.measure for each in MEASURES if each.of}
    }
    assert of_terms == {
        "early": (2, 2, 0, 1),
        "early_unknown": (2, 2, 0, 0),
        "rolled_back_but_delivered": (2, 2, 1, 1),
        "rollback_unknown": (2, 2, 0, 0),
        "torn_transaction": (2, 2, 0, 0),
    }


def test_what_had_still_to_wait_leaves_loss_open(compared: Compared) -> None:
    lost = compared["termed", "lost", ""]
    assert (lost.runs, lost.judged) == (3, 1)
    assert compared["termed", "loss_unknown", ""].maximum == 1


def test_a_median_has_an_interval_from_six_runs_on(compared: Compared) -> None:
    lost = compared["six", "lost", ""]
    assert (lost.runs, lost.judged, lost.unit) == (6, 6, "messages")
    assert (lost.minimum, lost.median, lost.maximum) == (0, 2.5, 5)
    assert (lost.median_from, lost.median_until) == (0, 5)


def test_few_runs_have_no_interval(compared: Compared) -> None:
    lost = compared["stalled", "lost", ""]
    assert lost.median == 1
    assert (lost.median_from, lost.median_until) == (None, None)


def test_a_run_in_doubt_is_not_judged(compared: Compared) -> None:
    lost = compared["doubtful", "lost", ""]
    assert (lost.runs, lost.judged, lost.maximum) == (3, 1, 1)
    unknown = compared["doubtful", "loss_unknown", ""]
    assert (unknown.judged, unknown.minimum, unknown.maximum) == (2, 0, 2)


def test_a_place_that_was_not_read_says_nothing_where_nothing_is_missing(
    compared: Compared,
) -> None:
    for measure in ("lost", "stranded"):
        row = compared["silent", measure, ""]
        assert (row.runs, row.judged, row.maximum) == (2, 1, 0)


def test_a_queue_that_was_not_drained_says_nothing_of_loss_where_nothing_is_missing(
    compared: Compared,
) -> None:
    for measure in ("lost", "stranded"):
        row = compared["undrained", measure, ""]
        assert (row.runs, row.judged, row.maximum) == (2, 1, 0)
    for measure in ("unreachable", "lost_indeterminate", "revived"):
        assert compared["undrained", measure, ""].judged == 0
    assert compared["undrained", "loss_unknown", ""].maximum == 1


def test_counts_are_summed_over_queues_and_details(compared: Compared) -> None:
    lost = compared["windows", "lost", ""]
    assert (lost.judged, lost.median) == (1, 4)


def test_times_are_those_of_the_first_window_over_all_queues(compared: Compared) -> None:
    times = {
        measure: (row.runs, row.judged, row.bounds, row.median)
        for (system, measure, _), row in compared.items()
        if system == "windows" and row.unit in ("ns", "share")
    }
    assert times == {
        "missed": (1, 1, 0, 0),
        "silence": (1, 1, 0, ns(300)),
        "degraded": (1, 1, 0, 0),
        "first_success": (1, 1, 0, ns(1)),
        "consumers_resumed": (1, 1, 0, ns(2)),
        "backlog_drained": (1, 1, 0, 0),
    }


TIMES = ("silence", "degraded", "first_success", "consumers_resumed", "backlog_drained")


def test_a_stall_before_the_first_window_leaves_its_times_judged(compared: Compared) -> None:
    assert compared["before", "missed", ""].judged == 0
    assert [compared["before", measure, ""].judged for measure in TIMES] == [1] * len(TIMES)


def test_a_stall_within_the_first_window_leaves_what_was_missed_judged(compared: Compared) -> None:
    assert compared["within", "missed", ""].judged == 1
    assert [compared["within", measure, ""].judged for measure in TIMES] == [0] * len(TIMES)


def test_at_full_rate_no_share_is_missed(compared: Compared) -> None:
    missed = compared["unpaced", "missed", ""]
    assert (missed.runs, missed.judged, missed.median) == (1, 0, None)


def test_what_could_not_be_judged_is_no_bound(compared: Compared) -> None:
    row = compared["doubtful", "degraded", ""]
    assert (row.runs, row.judged, row.bounds) == (3, 0, 0)


def test_a_stall_leaves_loss_judged_and_what_was_missed_not(compared: Compared) -> None:
    assert compared["stalled", "lost", ""].judged == 1
    missed = compared["stalled", "missed", ""]
    assert (missed.judged, missed.median) == (0, None)


def test_duplicates_are_compared_by_provenance_and_in_total(compared: Compared) -> None:
    assert compared["double", "duplicated", ""].median == 2
    assert compared["double", "duplicated", "stored_twice"].median == 1
    assert compared["double", "duplicated", "ambiguous"].median == 0


def test_a_share_of_missed_operations_is_no_count(compared: Compared) -> None:
    missed = compared["double", "missed", ""]
    assert (missed.unit, missed.median) == ("share", 0.5)


def test_a_count_without_details_is_counted_once(compared: Compared) -> None:
    assert compared["double", "lost_indeterminate", ""].median == 1


def test_one_operation_is_enough_for_a_share(compared: Compared) -> None:
    """Of two runs: the other has no operation."""
    missed = compared["undrained", "missed", ""]
    assert (missed.runs, missed.judged, missed.median) == (2, 1, 0)


def test_what_was_not_reached_is_a_bound(compared: Compared) -> None:
    for measure in ("degraded", "silence", "first_success"):
        row = compared["bounds", measure, ""]
        assert (row.judged, row.bounds) == (1, 1)
    assert compared["six", "degraded", ""].judged == 0


def test_interval_ranks_are_those_of_the_sign_test() -> None:
    # Conover, Practical Nonparametric Statistics: two-sided, at least 95 %.
    ranks = {5: 0, 6: 1, 8: 1, 9: 2, 11: 2, 12: 3, 15: 4, 20: 6, 25: 8, 30: 10}
    assert {values: interval_rank(values) for values in ranks} == ranks


def termed() -> History:
    """One message that is rolled back and comes, one that has yet to wait."""
    history = History().publish(1, at_ms=5).terms(1, fate=Fate.ROLLBACK)
    history.settle(1, Outcome.REFUSED).deliver(1)
    return history.publish(2).terms(2, wait_ms=5_000).confirm(2)


def losing(lost: int) -> History:
    history = History()
    for sequence in range(lost):
        history.publish(sequence).confirm(sequence)
    return history


def doubled() -> History:
    """One message three times, one never confirmed."""
    history = History().publish(0).confirm(0).publish(1)
    history.publish(0, attempt=2).deliver(0).deliver(0).deliver(0, attempt=2)
    return history


def two_windows() -> History:
    """Faults at 10 and 20 s; 300 ms without a confirm in the first, 900 in the second; 4 lost."""
    history = History(load_ms=(0, 30_000)).queue("bills")
    history.window(10_000, ended_ms=15_000).window(20_000, ended_ms=29_000)
    for sequence, at_ms in enumerate(range(0, 29_990, 10)):
        if not 12_000 < at_ms < 12_300 and not 25_000 < at_ms < 25_900:
            history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=at_ms + 1)
            history.deliver(sequence, at_ms=at_ms + 2)
    for sequence, queue in enumerate(("orders", "bills", "bills"), start=10_000):
        history.publish(sequence, at_ms=1_000, queue=queue).confirm(sequence, at_ms=1_001)
    history.publish(10_003, at_ms=1_000)
    return history.confirm(10_003, at_ms=1_001, strength=Strength.STORED)


def in_cell(system: str, number: int, history: History) -> tuple[Facts, Rows]:
    facts, rows = history.build()
    return replace(facts, run=f"run {number}", system=system), rows
