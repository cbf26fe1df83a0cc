"""The times in which recorded operations may explain what clients saw."""

from typing import Any

import pytest

from harness.plan.operations import OPERATIONS
from harness.run_folder.operations import SETTLES_NS, OperationRecord, operation_times
from spark_analysis.schema.operation_times import OperationTime

S = 1_000_000_000


def done(
    kind: str, *, number: int = 1, at_s: int = 10, resolved: str = "rmq1", **named: Any
) -> OperationRecord:
    return OperationRecord(
        number, kind, resolved, resolved, at_s * S, (at_s + 4) * S, **{"ok": True, **named}
    )


def times(*records: OperationRecord, waits: str = "done") -> list[OperationTime]:
    steps = [{"number": one.number, "operation": {"options": {"waits": waits}}} for one in records]
    return [*operation_times(records, {"steps": steps})]


@pytest.mark.parametrize(
    ("kind", "over_s", "out_until_s"),
    [
        ("restart_node", 15, 45),
        ("stop_node", 15, None),
        ("start_node", 45, 45),
        ("promote", 15, None),
        ("set_policy", 45, None),
        ("reset_node", 45, None),
    ],
)
def test_an_operation_is_over_soon_after_it_returned(
    kind: str, over_s: int, out_until_s: int | None
) -> None:
    out_until_ns = None if out_until_s is None else out_until_s * S
    assert times(done(kind)) == [OperationTime(10 * S, over_s * S, out_until_ns)]


def test_stopped_hosts_are_away_until_they_are_started() -> None:
    stop = done("stop_node", resolved="rmq1, rmq2")
    all_started = done("start_node", number=2, at_s=50, resolved="rmq2, rmq1, rmq3")
    assert times(stop, all_started)[0].out_until_ns == 55 * S + SETTLES_NS
    one_started = done("start_node", number=2, at_s=50, resolved="rmq1")
    assert times(stop, one_started)[0].out_until_ns is None
    failed = done("start_node", number=2, at_s=50, resolved="rmq1, rmq2", ok=False)
    assert times(stop, failed)[0].out_until_ns is None


def test_a_synchronisation_moves_no_leader_and_blocks_until_it_returned() -> None:
    sync = done("synchronise", resolved="orders")
    assert times(sync) == [OperationTime(10 * S, 15 * S, 15 * S, moves_leader=False)]
    (unwaited,) = times(sync, waits="no")
    assert unwaited.out_until_ns is None


def test_the_end_of_a_failed_operation_is_unknown() -> None:
    for kind, operation in OPERATIONS.items():
        for one in times(done(kind, ok=False)):
            assert (one.over_ns, one.out_until_ns) == (None, None), operation
    never_began = OperationRecord(1, "stop_node", "rmq1")
    assert times(never_began) == []


def test_an_operation_that_changes_no_service_has_no_time() -> None:
    assert [*map(times, (done("wipe_node"), done("force_boot"), done("cancel_sync")))] == [[]] * 3
