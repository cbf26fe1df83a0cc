"""Cells are folded over their repeats; what could not be judged is never a 0."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from spark_analysis.schema.comparison import MEASURES, Comparison, interval_rank
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.views import ROUTE
from spark_analysis.schema.words import Fate, Outcome, Strength
from tests.rigs.generated.histories import Row, Rows
from tests.rigs.histories.by_hand import CONSUMER, PUBLISHER, History, ns
from tests.rigs.runs.compared_runs import compared_by_oracle, compared_by_spark

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
        ("bounds", losing(0).window(10).publish(0, at_ms=20)),
        *(("one of six", back(after_ms)) for after_ms in (300, None, 100, 500, 400, 200)),
        *(("one of nine", back(after_ms)) for after_ms in (*range(100, 900, 100), None)),
        ("silent", losing(0).queue("orders", unreadable=("rmq3",))),
        ("silent", losing(1).queue("orders", unreadable=("rmq3",))),
        ("undrained", losing(0).queue("orders", drained=False)),
        ("undrained", losing(1).queue("orders", drained=False)),
        ("windows", two_windows()),
        ("before", two_windows().stall(PUBLISHER, at_ms=5_000, late_ms=150)),
        ("first", two_windows().stall(PUBLISHER, at_ms=12_000, late_ms=150)),
        ("second", two_windows().stall(PUBLISHER, at_ms=22_000, late_ms=150)),
        ("attended", two_windows().stall(CONSUMER, at_ms=22_000, late_ms=150)),
        ("alone", two_windows().away(CONSUMER, 12_000, 12_100)),
        ("cut off", two_windows().window(27_000)),
        ("rescued", rescued()),
        ("routed", routed("kill", "kill")),
        ("frozen", routed("client_freeze", "kill")),
        ("unchecked", routed("kill", "kill", from_ms=15_000)),
        ("clients", routed("client_crash", "client_freeze")),
        ("links", routed("hang", "client_freeze")),
        ("link and kill", routed("hang", "kill")),
        ("one queue silent", one_queue_silent()),
        ("unpaced", History(paced=False).publish(0).confirm(0)),
        ("termed", termed()),
        ("termed", termed().publish(7, at_ms=10).terms(7, wait_ms=5_000).deliver(7)),
        ("termed", losing(0)),
    ]
    cell_runs = [in_cell(system, number, h) for number, (system, h) in enumerate(runs)]
    rows = compared_by_spark(spark, cell_runs)
    assert set(rows) == set(compared_by_oracle(cell_runs))
    return {(row.system, row.measure, row.detail): row for row in rows}


Compared = dict[tuple[str, str, str], Comparison]


def test_every_cell_answers_every_measure_once(compared: Compared) -> None:
    systems = {system for system, _, _ in compared}
    assert systems == {
        *("six", "doubtful", "stalled", "double", "bounds", "silent", "undrained", "unpaced"),
        *("windows", "before", "first", "second", "attended", "alone", "cut off", "termed"),
        *("routed", "frozen", "unchecked", "clients", "rescued", "one of six", "one of nine"),
        *("links", "link and kill", "one queue silent"),
    }
    everywhere = [measure for measure in MEASURES if not measure.of]
    of_terms = [measure for measure in MEASURES if measure.of in ("transactions", "delayed")]
    assert not any(measure == "refused_but_delivered" for _, measure, _ in compared), "none denied"
    assert len(compared) == len(systems) * len(everywhere) + 4 * len(ROUTES) + len(of_terms)


def test_delay_and_transaction_measures_are_compared_only_if_present(
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
        "overdue": (2, 2, 0, 0),
        "rolled_back_but_delivered": (2, 2, 1, 1),
        "rollback_unknown": (2, 2, 0, 0),
        "torn_transaction": (2, 2, 0, 0),
        "unchecked": (2, 2, 0, 0),
        "unchecked_unknown": (2, 2, 0, 0),
    }


def test_messages_not_yet_due_leave_loss_undecided(compared: Compared) -> None:
    lost = compared["termed", "lost", ""]
    assert (lost.runs, lost.judged) == (3, 1)
    assert compared["termed", "loss_unknown", ""].maximum == 1


def test_a_median_has_an_interval_from_six_runs_on(compared: Compared) -> None:
    lost = compared["six", "lost", ""]
    assert (lost.runs, lost.judged, lost.unit) == (6, 6, "messages")
    assert (lost.minimum, lost.median, lost.maximum) == (0, 2.5, 5)
    assert (lost.median_from, lost.median_until) == (0, 5)


def test_bounded_times_leave_the_medians_upper_limit_open_or_high(compared: Compared) -> None:
    """Leave the interval's upper end open, or above all that was measured."""
    few, more = (compared[system, "first_success", ""] for system in ("one of six", "one of nine"))
    assert (few.judged, few.bounds, few.maximum) == (6, 1, ns(500))
    assert (few.minimum, few.median_from, few.median_until) == (ns(30), ns(30), None)
    assert (more.judged, more.bounds, more.maximum) == (9, 1, ns(800))
    assert (more.minimum, more.median_from, more.median_until) == (ns(30), ns(100), ns(800))


def test_few_runs_have_no_interval(compared: Compared) -> None:
    lost = compared["stalled", "lost", ""]
    assert lost.median == 1
    assert (lost.median_from, lost.median_until) == (None, None)


def test_a_run_in_doubt_is_not_judged(compared: Compared) -> None:
    lost = compared["doubtful", "lost", ""]
    assert (lost.runs, lost.judged, lost.maximum) == (3, 1, 1)
    unknown = compared["doubtful", "loss_unknown", ""]
    assert (unknown.judged, unknown.minimum, unknown.maximum) == (2, 0, 2)


def test_an_unread_place_matters_only_if_something_is_missing(compared: Compared) -> None:
    for measure in ("lost", "stranded"):
        row = compared["silent", measure, ""]
        assert (row.runs, row.judged, row.maximum) == (2, 1, 0)


def test_an_undrained_queue_matters_only_if_something_is_missing(compared: Compared) -> None:
    for measure in ("lost", "stranded"):
        row = compared["undrained", measure, ""]
        assert (row.runs, row.judged, row.maximum) == (2, 1, 0)
    for measure in ("unreachable", "lost_indeterminate", "revived"):
        assert compared["undrained", measure, ""].judged == 0
    assert compared["undrained", "loss_unknown", ""].maximum == 1


def test_counts_are_summed_over_queues_and_details(compared: Compared) -> None:
    lost = compared["windows", "lost", ""]
    assert (lost.judged, lost.median) == (1, 4)


def test_a_run_is_compared_by_its_worst_window(compared: Compared) -> None:
    times = {
        measure: (row.runs, row.judged, row.bounds, row.median)
        for (system, measure, _), row in compared.items()
        if system == "windows" and row.unit in ("ns", "share")
    }
    assert times == {
        "missed": (1, 1, 0, 40 / 910),
        # The undo is not on record: it may have brought the end of the outage.
        "total_downtime": (1, 1, 1, ns(400)),
        "longest_downtime": (1, 1, 1, ns(400)),
        "silence": (1, 1, 0, ns(401)),  # the longer pauses had nothing due in them
        "degraded": (1, 1, 1, ns(400)),
        "first_success": (1, 1, 0, ns(401)),
        "consumers_resumed": (1, 1, 0, ns(402)),
        "backlog_drained": (1, 1, 0, ns(402)),  # nothing waited longer than the deadline
    }


def test_the_silence_of_a_run_is_that_of_its_worst_queue(compared: Compared) -> None:
    row = compared["one queue silent", "silence", ""]
    assert (row.judged, row.bounds, row.maximum) == (1, 0, ns(3_001))


SENDING = ("missed", "silence", "degraded", "first_success")
RECEIVING = ("consumers_resumed", "backlog_drained")
TIMES = (*SENDING, *RECEIVING)


def judged(compared: Compared, system: str, measures: Sequence[str]) -> list[int]:
    return [compared[system, measure, ""].judged for measure in measures]


def test_a_stall_before_the_first_window_leaves_its_times_judged(compared: Compared) -> None:
    assert judged(compared, "before", TIMES) == [1] * len(TIMES)


def test_an_unjudged_window_may_have_been_the_worst(compared: Compared) -> None:
    """The stall is longer than all times of the first window, and leaves nothing of them."""
    assert judged(compared, "first", TIMES) == [0] * len(TIMES)


def test_a_stall_makes_a_time_a_lower_bound(compared: Compared) -> None:
    """Late messages stay unjudged: a stall may have made more of them, or fewer."""
    times = (*TIMES, "total_downtime", "longest_downtime", "outages")
    rows = {name: compared["second", name, ""] for name in times}
    assert {name: (row.judged, row.bounds, row.maximum) for name, row in rows.items()} == {
        "missed": (0, 0, None),
        "outages": (0, 0, None),
        "total_downtime": (1, 1, ns(250)),
        "longest_downtime": (1, 1, ns(250)),
        "silence": (1, 1, ns(251)),
        "degraded": (1, 1, ns(250)),
        "first_success": (1, 1, ns(251)),
        "consumers_resumed": (1, 1, ns(252)),
        "backlog_drained": (1, 1, ns(252)),
    }


def test_a_consumers_stall_bounds_only_times_of_consumers(compared: Compared) -> None:
    for name in (*SENDING, "total_downtime"):
        assert compared["attended", name, ""].maximum == compared["windows", name, ""].maximum
    bounds = {name: compared["attended", name, ""].bounds for name in (*SENDING, *RECEIVING)}
    known = {"missed": 0, "silence": 0, "degraded": 1, "first_success": 0}
    assert bounds == known | dict.fromkeys(RECEIVING, 1)


def test_without_consumers_in_one_window_only_sending_is_judged(compared: Compared) -> None:
    assert judged(compared, "alone", SENDING) == [1] * len(SENDING)
    assert judged(compared, "alone", RECEIVING) == [0] * len(RECEIVING)


def test_one_cut_off_window_makes_the_worst_a_bound(compared: Compared) -> None:
    row = compared["cut off", "degraded", ""]
    assert (row.judged, row.bounds) == (1, 1)
    assert compared["cut off", "first_success", ""].bounds == 0


def test_success_only_by_the_undo_makes_its_time_a_bound(compared: Compared) -> None:
    bounds = {measure: compared["rescued", measure, ""].bounds for measure in SENDING}
    assert bounds == {"missed": 0, "silence": 0, "degraded": 1, "first_success": 0}


ROUTES = ("route_changed", "route_changed_everywhere")


def test_routes_are_compared_by_the_worst_route_changing_window(compared: Compared) -> None:
    cell_runs = {
        system: [
            (row.runs, row.judged, row.bounds, row.median)
            for row in (compared[system, measure, ""] for measure in ROUTES)
        ]
        for system in ("routed", "frozen", "link and kill", "unchecked")
    }
    assert cell_runs == {
        "routed": [(1, 1, 1, ns(10_000)), (1, 1, 1, ns(10_000))],
        "frozen": [(1, 1, 0, ns(2_005)), (1, 1, 0, ns(4_005))],
        "link and kill": [(1, 1, 0, ns(2_005)), (1, 1, 0, ns(4_005))],
        "unchecked": [(1, 0, 0, None), (1, 0, 0, None)],
    }


def test_routes_are_not_compared_if_no_fault_could_change_one(compared: Compared) -> None:
    assert not {("clients", measure, "") for measure in ROUTES} & compared.keys()
    assert not {("links", measure, "") for measure in ROUTES} & compared.keys()
    assert not {("windows", measure, "") for measure in ROUTES} & compared.keys()


def test_at_full_rate_no_share_is_missed(compared: Compared) -> None:
    missed = compared["unpaced", "missed", ""]
    assert (missed.runs, missed.judged, missed.median) == (1, 0, None)


def test_an_unjudged_time_is_no_bound(compared: Compared) -> None:
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


def test_a_share_of_missed_publishes_is_no_count(compared: Compared) -> None:
    missed = compared["double", "missed", ""]
    assert (missed.unit, missed.median) == ("share", 0.5)


def test_a_count_without_details_is_counted_once(compared: Compared) -> None:
    assert compared["double", "lost_indeterminate", ""].median == 1


def test_one_publish_is_enough_for_a_share(compared: Compared) -> None:
    """Of two runs: the other has no publish."""
    missed = compared["undrained", "missed", ""]
    assert (missed.runs, missed.judged, missed.median) == (2, 1, 0)


def test_a_time_not_reached_is_a_bound(compared: Compared) -> None:
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
    return history.publish(2).terms(2, wait_ms=70_000).confirm(2)  # longer than the load


def rescued() -> History:
    """Every other message waits until the fault is undone."""
    history = History(load_ms=(0, 30_000)).window(10_000, ended_ms=20_000, undo_ms=20_000)
    for number in range(1_000, 3_000):
        waits = number < 2_000 and number % 2 == 1
        history.publish(number, at_ms=number * 10)
        history.confirm(number, at_ms=20_005 if waits else number * 10 + 1)
    return history


def losing(lost: int) -> History:
    history = History()
    for sequence in range(lost):
        history.publish(sequence).confirm(sequence)
    return history


def back(after_ms: int | None) -> History:
    """How long after the fault something is confirmed again; None: the load ends after 40 ms."""
    history = History(load_ms=(0, 40 if after_ms is None else 1_000)).window(10)
    history.publish(0, at_ms=20)
    return history if after_ms is None else history.confirm(0, at_ms=10 + after_ms)


def doubled() -> History:
    """One message three times, one never confirmed."""
    history = History().publish(0).confirm(0).publish(1)
    history.publish(0, attempt=2).deliver(0).deliver(0).deliver(0, attempt=2)
    return history


def two_windows() -> History:
    """Faults at 10 and 20 s; 300 ms with nothing due in the first, 900 in the second, which begins
    with 400 ms of late ones; 4 lost."""
    history = History(load_ms=(0, 30_000)).queue("bills")
    history.window(10_000, ended_ms=15_000).window(20_000, ended_ms=29_000)
    for sequence, at_ms in enumerate(range(0, 29_990, 10)):
        if not 12_000 < at_ms < 12_300 and not 25_000 < at_ms < 25_900:
            confirmed_after, delivered_after = (
                (1_500, 1_503) if 0 <= at_ms - 20_000 < 400 else (1, 2)
            )
            history.publish(sequence, at_ms=at_ms)
            history.confirm(sequence, at_ms=at_ms + confirmed_after)
            history.deliver(sequence, at_ms=at_ms + delivered_after)
    for sequence, queue in enumerate(("orders", "bills", "bills"), start=10_000):
        history.publish(sequence, at_ms=1_000, queue=queue).confirm(sequence, at_ms=1_001)
    history.publish(10_003, at_ms=1_000)
    return history.confirm(10_003, at_ms=1_001, strength=Strength.STORED)


def one_queue_silent() -> History:
    """A fault from 10 to 15 s. Queue bills confirms nothing that is due from 11 to 14 s, orders
    all: the longest time without a confirm is that of bills, 3.001 s."""
    history = History(load_ms=(0, 30_000)).queue("bills").window(10_000, ended_ms=15_000)
    for sequence, at_ms in enumerate(range(0, 29_990, 100)):
        history.publish(sequence, at_ms=at_ms).confirm(sequence, at_ms=at_ms + 1)
        history.publish(10_000 + sequence, at_ms=at_ms, queue="bills")
        if not 11_000 <= at_ms < 14_000:
            history.confirm(10_000 + sequence, at_ms=at_ms + 1)
    return history


def in_cell(system: str, number: int, history: History) -> tuple[Facts, Rows]:
    facts, rows = history.build()
    return replace(facts, run=f"run {number}", system=system), rows


def routed(*kinds: str, from_ms: int = 1_000) -> History:
    """Faults at 10 and 20 s. Two name servers are asked each 500 ms; only after the second fault
    they show another route, one after 2 s and one after 4."""
    history = History(load_ms=(0, 30_000))
    for number, kind in enumerate(kinds, start=1):
        history.window(10_000 * number, kind=kind)
    for name_server, changed_ms in (("ns1", 22_000), ("ns2", 24_000)):
        for at_ms in range(from_ms, 29_000, 500):
            history.rows.setdefault("probes", []).append(look(name_server, at_ms, changed_ms))
    return history


def look(name_server: str, at_ms: int, changed_ms: int) -> Row:
    return {
        "prober": 3,
        "kind": ROUTE,
        "target": name_server,
        "started_ns": ns(at_ms),
        "ended_ns": ns(at_ms + 5),
        "ok": 1,
        "detail": "broker-a master at a:1" if at_ms < changed_ms else "nothing",
    }
