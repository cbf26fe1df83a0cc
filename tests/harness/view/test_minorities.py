"""When overlapping faults left no majority of the nodes, as the records show it."""

from dataclasses import replace
from typing import Any

import pytest

from harness.run_folder.replica_looks import ReplicaLook
from harness.view.minorities import minorities
from harness.view.timeline import FaultSpan
from spark_analysis.schema.service import RUN, SYSTEM, Outage
from tests.rigs.runs.manifests import manifest

S = 1_000_000_000
HOSTS = ("a", "b", "c")


def span(number: int, kind: str, host: str, from_s: int, until_s: int | None) -> FaultSpan:
    ended_ns = None if until_s is None else until_s * S
    return FaultSpan(
        number=number,
        kind=kind,
        target="master of orders",
        resolved=host,
        role="master",
        mechanism="",
        requested_from_ns=None,
        requested_until_ns=None,
        issued_ns=from_s * S - 1,
        returned_ns=from_s * S,
        ended_ns=ended_ns,
        held=None,
        gone=None,
        verified=True,
        doubt="",
        stages=(),
        stages_doubt="",
        undo_issued_ns=ended_ns,
    )


CUT, KILL = span(1, "partition", "b", 10, 40), span(2, "kill", "a", 20, 28)
LOOK = ReplicaLook("orders", 8 * S, 9 * S, "a", ("b", "c"), None)


def found(
    *faults: FaultSpan, look: ReplicaLook = LOOK, shape: str = "one", **state: Any
) -> list[str]:
    run = manifest()
    run.state = {"copies": 3, "masters": 1, "elects_by_majority": True} | state
    windows = [
        {
            "number": one.number,
            "fault": {"options": {"shape": shape} if one.kind == "partition" else {}},
        }
        for one in faults
    ]
    run.schedule = {"windows": windows}
    return [
        f"{one} ({one.from_ns // S} to {one.until_ns // S:.0f} s)"
        for one in minorities(run, faults, (look,))
    ]


def test_two_of_three_nodes_away_leave_no_majority() -> None:
    assert found(CUT, KILL) == [
        "while faults 1 and 2 were active together, 1 of 3 nodes was reachable: no majority "
        "(20 to 28 s)"
    ]


@pytest.mark.parametrize(
    "faults",
    [
        (CUT,),  # one fault
        (CUT, replace(KILL, resolved="b")),  # on one host
        (CUT, replace(KILL, verified=False)),
        (replace(CUT, ended_ns=20 * S, undo_issued_ns=20 * S), KILL),  # one after the other
        (replace(CUT, kind="packet_delay"), KILL),
        (CUT, replace(KILL, resolved="d")),  # a host without a copy
    ],
)
def test_what_leaves_a_majority_is_not_mentioned(faults: tuple[FaultSpan, ...]) -> None:
    assert found(*faults) == []


def test_what_is_unknown_is_not_mentioned() -> None:
    assert found(CUT, KILL, copies=None) == []
    assert found(CUT, KILL, elects_by_majority=None) == []
    assert found(CUT, KILL, elects_by_majority=False, partition_handling="ignore") == []
    assert found(CUT, KILL, look=replace(LOOK, serving="")) == []
    assert found(CUT, KILL, look=replace(LOOK, copies=("b",))) == []
    assert found(CUT, KILL, shape="one_way_in") == []


def test_nodes_that_pause_without_a_majority_count_too() -> None:
    pausing = {"partition_handling": "pause_minority", "mirrored_on": "all"}
    assert found(CUT, KILL, elects_by_majority=False, **pausing)


def test_an_outage_outside_that_time_is_not_mentioned_with_it() -> None:
    run = manifest()
    run.state = {"copies": 3, "masters": 1, "elects_by_majority": True}
    run.schedule = {"windows": [{"number": n, "fault": {}} for n in (1, 2)]}
    (time,) = minorities(run, (CUT, KILL), (LOOK,))

    def meets(from_s: int, until_s: int) -> bool:
        return time.meets(Outage("r", RUN, "", from_s * S, until_s * S, SYSTEM, 1, 1, "1"))

    assert [meets(12, 20), meets(12, 21), meets(28, 30)] == [False, True, False]
