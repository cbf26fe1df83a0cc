"""What a run cost before its first fault: what counts, and what was not counted."""

import pytest

from spark_analysis.schema.costs import SteadyState, Use
from tests.oracle.costs import costs
from tests.rigs.histories.both_judges import judged_by_both
from tests.rigs.histories.by_hand import History, ns
from tests.rigs.histories.resources import sample, sampled

NO_INTENT_MS = -0.000001  # in ns: words.NO_INTENT


def steady_state_of(history: History) -> SteadyState:
    (row,) = costs(*history.build()).steady_state
    return row


def use_of(history: History, host: str = "rmq1") -> Use:
    return next(row for row in costs(*history.build()).use if row.host == host)


def test_only_what_was_confirmed_before_the_first_fault_counts() -> None:
    history = History().window(10_000)
    history.flow(range(4), from_ms=8_500, every_ms=500, confirm_after_ms=3)
    history.publish(9, at_ms=20_000).confirm(9, at_ms=20_001)
    row = steady_state_of(history)
    assert (row.from_ns, row.until_ns) == (0, ns(10_000))
    assert (row.intended, row.confirmed, row.begun) == (3, 3, 3)
    assert (row.p50_ns, row.p99_ns) == (ns(3), ns(3))


def test_a_confirm_during_the_fault_counts_for_latency_not_rate() -> None:
    """Count its latency in the steady state, but not its confirm."""
    history = History().window(10_000).publish(1, at_ms=9_000).confirm(1, at_ms=12_000)
    row = steady_state_of(history)
    assert (row.confirmed, row.begun, row.p99_ns) == (0, 1, ns(3_000))


def test_latencies_are_values_that_were_measured() -> None:
    history = History()
    for number in range(200):
        history.publish(number, at_ms=number * 10)
        history.confirm(number, at_ms=number * 10 + (90 if number >= 197 else 1))
    assert (steady_state_of(history).p50_ns, steady_state_of(history).p99_ns) == (ns(1), ns(90))


@pytest.mark.parametrize(("messages", "p50_ms", "p99_ms"), [(99, 50, 99), (200, 100, 198)])
def test_half_and_99_percent_of_the_latencies_are_no_longer(
    messages: int, p50_ms: int, p99_ms: int
) -> None:
    history = History()
    for number in range(1, messages + 1):
        history.publish(number, at_ms=number).confirm(number, at_ms=2 * number)
    assert (steady_state_of(history).p50_ns, steady_state_of(history).p99_ns) == (
        ns(p50_ms),
        ns(p99_ms),
    )


def test_unconfirmed_publishes_are_begun_but_have_no_latency() -> None:
    row = steady_state_of(History().publish(1, at_ms=10).confirm(1, at_ms=13).publish(2))
    assert (row.confirmed, row.begun, row.p99_ns) == (1, 2, ns(3))


def test_in_a_paced_run_only_intended_messages_count_as_begun() -> None:
    history = History().publish(2, attempt=2, at_ms=10).confirm(2, attempt=2, at_ms=11)
    history.publish(3, at_ms=20, intended_ms=NO_INTENT_MS).confirm(3, at_ms=21)
    history.publish(4, at_ms=30).confirm(4, at_ms=33)
    row = steady_state_of(history)
    assert (row.intended, row.confirmed, row.begun, row.p99_ns) == (1, 3, 1, ns(3))


def test_waiting_before_a_paced_send_is_part_of_its_latency() -> None:
    paced = History().publish(1, at_ms=1_500, intended_ms=1_000).confirm(1, at_ms=1_501)
    at_once = History(paced=False).publish(1, at_ms=1_500).confirm(1, at_ms=1_501)
    assert steady_state_of(paced).p50_ns == ns(501)
    assert steady_state_of(at_once).p50_ns == ns(1)
    assert steady_state_of(at_once).intended == 0


def test_without_confirms_or_steady_state_there_is_no_load_cost() -> None:
    assert costs(*History(confirms=False).publish(1).build()).steady_state == ()
    assert costs(*History().window(0).build()).steady_state == ()
    assert costs(*History(load_ms=(1_000, 9_000)).window(500).build()).steady_state == ()
    assert steady_state_of(History()).p50_ns is None


def test_a_hosts_use_is_its_counters_growth_before_the_fault() -> None:
    history = sampled(
        History().window(4_000), "rmq1", range(500, 8_000, 1_000), cores=1.5, memory_bytes=7
    )
    row = use_of(history)
    assert (row.samples, row.from_ns, row.until_ns) == (4, ns(500), ns(3_500))
    assert row.cpu_ns == ns(4_500)
    assert (row.memory_median_bytes, row.memory_peak_bytes) == (7, 7)


def test_memory_use_has_a_measured_median_and_the_largest_peak() -> None:
    history = History()
    for number in range(100, 0, -1):
        sample(history, "rmq1", number, memory_bytes=number)
    row = use_of(history)
    assert (row.memory_median_bytes, row.memory_peak_bytes) == (50, 100)


def test_a_host_without_a_name_is_one_too() -> None:
    history = sampled(History(), "rmq1", (0, 1_000), cores=1.0, memory_bytes=1)
    for row in history.rows["resources"]:
        row["host"] = None
    assert [use.host for use in costs(*history.build()).use] == [""]
    assert use_of(history, "").cpu_ns == ns(1_000)


def test_a_counter_that_moved_on_no_host_was_not_counted() -> None:
    """Count one that stood still on this host, if it moved on another."""
    history = History()
    for at_ms in (0, 1_000):
        sample(history, "rmq1", at_ms, disk_written_bytes=at_ms)
        sample(history, "rmq2", at_ms)
    sample(
        history, "rmq2", 99_000, network_sent_bytes=3
    )  # counted, though not in the steady state
    row = use_of(history, "rmq2")
    assert (row.disk_written_bytes, row.network_sent_bytes) == (0, 0)
    assert (row.disk_read_bytes, row.cpu_ns, row.memory_peak_bytes) == (None, None, None)


def test_the_growth_of_a_restarted_counter_is_unknown() -> None:
    history = History()
    for at_ms, cpu_ns in ((0, 5), (1_000, 9), (2_000, 1), (3_000, 30)):
        sample(history, "rmq1", at_ms, cpu_ns=cpu_ns, memory_bytes=at_ms + 1)
    assert use_of(history).cpu_ns is None
    assert use_of(history).memory_median_bytes == 1_001
    sample(history, "rmq2", 0, cpu_ns=5)
    sample(history, "rmq2", 1_000, cpu_ns=4)
    assert use_of(history, "rmq2").cpu_ns is None


@pytest.mark.parametrize("at_ms", [(), (1_000,)])
def test_a_host_with_fewer_than_two_samples_has_no_numbers(at_ms: tuple[int, ...]) -> None:
    history = History().window(5_000)
    for each in (*at_ms, 6_000, 7_000):
        sample(history, "rmq1", each, cpu_ns=each, memory_bytes=1)
    assert use_of(history) == Use("run", "rmq1", len(at_ms), 0, 0, *[None] * 7)


def test_rows_may_stand_in_any_order() -> None:
    history = History()
    for at_ms, cpu_ns in ((2_000, 9), (0, 5), (1_000, 6)):
        sample(history, "rmq1", at_ms, cpu_ns=cpu_ns)
    assert use_of(history).cpu_ns == 4


def test_resource_samples_change_no_verdict() -> None:
    facts, rows = History().publish(1).confirm(1).deliver(1).build()
    with_use = sample(History().publish(1).confirm(1).deliver(1), "rmq1", 5, cpu_ns=3).rows
    assert judged_by_both(facts, with_use) == judged_by_both(facts, rows)
