"""Takeovers: said where the records show them, in the system's words, and never as a cause."""

from dataclasses import replace

import pytest

from harness.run_folder.replica_looks import ReplicaLook
from harness.view.takeovers import Takeover, explaining, steps_of, takeovers
from harness.view.timeline import FaultSpan
from spark_analysis.schema.messages import Attribution
from tests.rigs.runs.judged_runs import crash

S = 1_000_000_000
FACTS, _ = crash().build()
FIRST = FaultSpan(
    number=1,
    kind="kill",
    target="mirror of orders",
    resolved="ref2",
    role="synchronised mirror of orders",
    mechanism="process",
    requested_from_ns=3 * S,
    requested_until_ns=4 * S,
    held=None,
    gone=None,
    verified=True,
    doubt="",
    stages=(),
    stages_doubt="",
    issued_ns=3 * S,
    returned_ns=3 * S + 1,
    undo_issued_ns=4 * S,
    ended_ns=4 * S + 1,
)
SECOND = replace(
    FIRST,
    number=2,
    resolved="ref3",
    role="master of orders (1 mirror, 0 synchronised)",
    issued_ns=5 * S,
    returned_ns=5 * S + 1,
    undo_issued_ns=8 * S,
    ended_ns=8 * S + 1,
)
STATE = {
    "windows": {
        "1": {"fault_target_role": "mirror", "promoted_mirror_rank": None},
        "2": {
            "fault_target_role": "master",
            "promoted_mirror_rank": 1,
            "mirrors_at_fault": 1,
            "synchronised_mirrors_at_fault": 0,
        },
    }
}


def look(
    at_s: float, serving: str, *copies: str, full: tuple[str, ...] | None = ()
) -> ReplicaLook:
    at_ns = round(at_s * S)
    return ReplicaLook("orders", at_ns - 1_000, at_ns, serving, copies, full)


LOOKS = (
    look(2.9, "ref3", "ref2", full=("ref2",)),
    look(4.9, "ref3", "ref1"),
    look(7.9, "ref1"),
)
WHOLE = (
    "Fault 2 (kill ref3) hit the master of orders at +5.000 s; its only mirror, ref1, was not "
    "synchronised (it had no copy when fault 1 began at +3.000 s). By +7.900 s, ref1 was the "
    "master."
)


def found(*looks: ReplicaLook, state: object = STATE, **changes: object) -> tuple[Takeover, ...]:
    second = replace(SECOND, **changes)  # type: ignore[arg-type]
    return takeovers((FIRST, second), FACTS, state, looks)  # type: ignore[arg-type]


def test_a_takeover_names_hosts_and_the_state_of_the_copy() -> None:
    (one,) = found(*LOOKS)
    assert (one.window, one.queue, one.at_ns, one.text) == (2, "orders", 7_900_000_000, WHOLE)
    ((queue, step),) = steps_of([one])
    assert (queue, step.at_ns) == ("orders", one.at_ns)
    assert step.text.startswith("ref1 is master of orders; when fault 2 began, its only mirror")


def test_an_older_run_gives_numbers_only() -> None:
    (one,) = found()
    assert one.text == (
        "Fault 2 (kill ref3) hit the master of orders at +5.000 s; its only mirror was not "
        "synchronised. By +8.000 s, that mirror was the master."
    )


def test_a_group_that_elects_by_majority_has_a_leader() -> None:
    two = (look(4.9, "ref3", "ref1", "ref2", full=None), look(7.9, "ref2", "ref1"))
    (one,) = found(*two, state={"elects_by_majority": True})
    assert "hit the leader of orders" in one.text
    assert "its followers were ref1 and ref2. By +7.900 s, ref2 was the leader." in one.text


@pytest.mark.parametrize(
    "looks",
    [
        (LOOKS[0], LOOKS[2]),  # none just before the fault
        LOOKS[:2],  # none after it
        (*LOOKS[:2], look(7.9, "")),  # no host said that it was the master
        (*LOOKS[:2], look(7.9, "ref3", "ref1")),  # the master stayed
        (*LOOKS[:2], look(7.9, "ref9")),  # a host without a copy at the fault
        (LOOKS[0], look(4.9, "ref1", "ref3"), LOOKS[2]),  # the fault hit another host
        (*LOOKS[:2], look(4.95, "ref1")),  # queried before the fault was active
    ],
)
def test_nothing_is_said_if_a_look_is_missing(looks: tuple[ReplicaLook, ...]) -> None:
    assert found(*looks) == ()


def test_nothing_is_said_of_a_fault_that_was_not_verified() -> None:
    assert found(*LOOKS, verified=False) == found(verified=False) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"promoted_mirror_rank": None},
        {"mirrors_at_fault": None},
        {"fault_target_role": "none"},
    ],
)
def test_an_older_run_without_a_number_says_nothing(changes: dict[str, object]) -> None:
    own = {"windows": {"2": {**STATE["windows"]["2"], **changes}}}
    assert found(state=own) == ()


def test_only_windows_that_may_have_lost_messages_explain_a_loss() -> None:
    seen = found(*LOOKS)
    assert explaining(seen, [Attribution("r", "lost", "", "1", 3)]) == ()
    assert explaining(seen, [Attribution("r", "duplicated", "", "2", 3)]) == ()
    (line,) = explaining(seen, [Attribution("r", "lost", "", "1,2", 3)])
    assert (line.window, line.judged, line.text) == (2, True, WHOLE)
