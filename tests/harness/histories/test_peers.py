"""The peers' verdicts: every history of tests/conformance comes out as they say it does."""

from collections import Counter
from typing import Any

import pytest

from harness.histories import jepsen_verdict, openchaos_verdict
from harness.histories.openchaos_verdict import Rto
from tests.rigs.histories.theirs import histories, row, rows

QUEUE = histories("queue_histories")
ORDER = histories("order_histories")
RECOVERY = histories("recovery_histories")


@pytest.mark.parametrize("name", sorted(QUEUE))
def test_jepsens_total_queue(name: str) -> None:
    found = jepsen_verdict.total_queue(rows(QUEUE[name]["h"]))
    said = {
        "valid": found.valid,
        "attempt": found.attempt.total(),
        "ack": found.acknowledged.total(),
        "ok": found.ok.total(),
        "lost": dict(found.lost),
        "unexpected": dict(found.unexpected),
        "duplicated": dict(found.duplicated),
        "recovered": dict(found.recovered),
    }
    rows_in = QUEUE[name]["JT"]
    assert {key: said[key] for key in rows_in} == rows_in


@pytest.mark.parametrize("name", sorted(QUEUE))
def test_jepsens_queue(name: str) -> None:
    broken = jepsen_verdict.unordered_queue(rows(QUEUE[name]["h"]))
    word, _, value = QUEUE[name]["JQ"].partition(" ")
    assert broken == (value if word == "invalid" else None)


@pytest.mark.parametrize("name", sorted(name for name in QUEUE if "OC" in QUEUE[name]))
def test_openchaos_queue_checker(name: str) -> None:
    found = openchaos_verdict.queue(rows(QUEUE[name]["h"]))
    said = {
        "invoke": found.invoked,
        "ack": found.confirmed,
        "deq": found.delivered,
        "lost": list(found.lost),
        "dup": dict(found.duplicates),
        "dupCount": found.duplicates.total(),
        "atMost": not found.duplicates,
        "atLeast": not found.lost,
        "exactlyOnce": not found.duplicates and not found.lost,
    }
    rows_in = QUEUE[name]["OC"]
    assert {key: said[key] for key in rows_in} == rows_in


@pytest.mark.parametrize("name", sorted(ORDER))
def test_openchaos_order_checker(name: str) -> None:
    rows_in = ORDER[name]
    listed = [row(n, 1, "enqueue", "ok", str(n), "k") for n in rows_in["acknowledged"]]
    listed += [row(100, 2, "dequeue", "ok", str(n), "k") for n in rows_in["delivered"]]
    found = openchaos_verdict.order(listed)
    assert found.ordered == rows_in["openchaos_order"]
    assert found.value == (str(rows_in["openchaos_first_bad"]) if not found.ordered else None)


@pytest.mark.parametrize("name", sorted(RECOVERY))
def test_openchaos_rto_checker(name: str) -> None:
    found = openchaos_verdict.rto(rows(RECOVERY[name]["h"]))
    rows_in = RECOVERY[name]["RTO"]
    assert len(found.intervals) == len(rows_in)
    for interval, wanted in zip(found.intervals, rows_in, strict=True):
        assert {key: value for key, value in _rto(interval).items() if key in wanted} == wanted
    assert found.unexpected == RECOVERY[name].get("unexpected", found.unexpected)


def _rto(interval: Rto) -> dict[str, Any]:
    return {
        "unavail": interval.unavailable,
        "recovered": interval.recovered,
        "start": interval.start_ms,
        "end": interval.end_ms,
        "rto": interval.rto_ms,
    }


@pytest.mark.parametrize("name", sorted(RECOVERY))
def test_openchaos_recovery_checker(name: str) -> None:
    found = openchaos_verdict.recovery(rows(RECOVERY[name]["h"]))
    assert [[one.start_ms, one.end_ms, one.took_ms] for one in found] == RECOVERY[name]["REC"]


def test_a_drain_that_crashed_makes_total_queue_unknown() -> None:
    rows_in = QUEUE["Q7"]["h"][:-1]
    crashed = rows([*rows_in, [5, 2, "drain", "info"]])
    found = jepsen_verdict.verdict(crashed)
    assert found["total-queue"]["valid?"] == "unknown"


def test_a_failure_outside_of_every_fault_is_unexpected_to_openchaos() -> None:
    listed = [row(10, 1, "enqueue", "fail", "1", None, 5)]
    assert openchaos_verdict.rto(listed).unexpected
    unknown = [row(10, 1, "enqueue", "info", "1", None, 5)]
    assert not openchaos_verdict.rto(unknown).unexpected


def test_a_fifo_queue_gives_out_its_head() -> None:
    sent = [[0, 1, "enqueue", "invoke", "a"], [1, 1, "enqueue", "invoke", "b"]]
    in_order = rows([*sent, [2, 2, "dequeue", "ok", "a"], [3, 2, "dequeue", "ok", "b"]])
    assert jepsen_verdict.fifo_queue(in_order) is None
    swapped = rows([*sent, [2, 2, "dequeue", "ok", "b"], [3, 2, "dequeue", "ok", "a"]])
    assert jepsen_verdict.fifo_queue(swapped) == "b"
    assert jepsen_verdict.unordered_queue(swapped) is None


def test_a_quantile_of_perf_is_one_of_the_values() -> None:
    four = [10.0, 20.0, 30.0, 40.0]
    assert [jepsen_verdict.quantile(q, four) for q in (0.5, 0.95)] == [30, 40]
    hundred = [float(n) for n in range(1, 101)]
    wanted = [51, 96, 100, 100]
    assert [jepsen_verdict.quantile(q, hundred) for q in (0.5, 0.95, 0.99, 1)] == wanted
    assert jepsen_verdict.quantile(0.5, []) is None


def test_stats_ask_each_operation_for_one_success() -> None:
    rows_in = rows([[0, 1, "enqueue", "ok", "a"], [1, 2, "dequeue", "fail"]])
    found = jepsen_verdict.stats(rows_in)
    assert not found["valid?"]
    assert found["by-f"]["enqueue"]["valid?"]
    assert not found["by-f"]["dequeue"]["valid?"]


def test_one_delivery_before_its_confirm_cancels_one_duplicate() -> None:
    rows_in = rows(
        [
            [0, 1, "enqueue", "invoke", "a"],
            [1, 2, "dequeue", "ok", "a"],
            [2, 2, "dequeue", "ok", "a"],
            [3, 1, "enqueue", "ok", "a"],
        ]
    )
    found = openchaos_verdict.queue(rows_in)
    assert (found.lost, found.duplicates) == ((), Counter({"a": 1}))
