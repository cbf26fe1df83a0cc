"""Takeovers: said where the records show them, in the system's words, and never as a cause."""

from dataclasses import replace

import pytest

from harness.run_folder.replica_looks import ReplicaLook
from harness.view.takeovers import (
    Takeover,
    explaining,
    replica_steps,
    steps_of,
    taken_over,
    takeovers,
)
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
    "Fault 2 (kill ref3) hit the master of orders 2.00 s after the first fault began; the only "
    "mirror of orders was ref1, not synchronised (ref1 had no copy when fault 1 began). mqproof "
    "saw ref1 as master when it next queried the brokers, 4.90 s after the first fault began."
)


def found(*looks: ReplicaLook, state: object = STATE, **changes: object) -> tuple[Takeover, ...]:
    second = replace(SECOND, **changes)  # type: ignore[arg-type]
    return takeovers((FIRST, second), FACTS, state, looks)  # type: ignore[arg-type]


def test_a_takeover_names_hosts_and_the_state_of_the_copy() -> None:
    (one,) = found(*LOOKS)
    assert (one.window, one.queue, one.at_ns, one.text) == (2, "orders", 7_900_000_000, WHOLE)
    ((queue, step),) = steps_of([one])
    assert (queue, step.at_ns) == ("orders", one.at_ns)
    assert step.text == (
        "mqproof saw ref1 as master of orders (the query before, at +4.900 s, showed ref3); when "
        "fault 2 began, the only mirror of orders was ref1, not synchronised (ref1 had no copy "
        "when fault 1 began)"
    )


def test_an_older_run_gives_numbers_only() -> None:
    (one,) = found()
    assert one.text == (
        "Fault 2 (kill ref3) hit the master of orders 2.00 s after the first fault began; orders "
        "had 1 mirror, 0 synchronised. mqproof saw that mirror as master at the latest 5.00 s "
        "after the first fault began."
    )


def test_a_group_that_elects_by_majority_has_a_leader() -> None:
    two = (look(4.9, "ref3", "ref1", "ref2", full=None), look(7.9, "ref2", "ref1"))
    (one,) = found(*two, state={"elects_by_majority": True})
    assert "hit the leader of orders" in one.text
    assert "the followers of orders were ref1 and ref2. mqproof saw ref2 as leader" in one.text


def test_a_change_that_a_later_query_showed_is_not_of_the_next_one() -> None:
    (one,) = found(*LOOKS[:2], look(6.0, "ref3", "ref1"), LOOKS[2])
    assert one.text.endswith("mqproof saw ref1 as master 4.90 s after the first fault began.")


def test_replicas_are_steps_where_brokers_reported_a_change() -> None:
    every = (*LOOKS[:2], look(4.95, "ref3", "ref1"), LOOKS[2], look(8.5, "ref1"), look(9.0, ""))
    steps = [step for _, step in replica_steps(every, found(*LOOKS), STATE)]
    assert [(step.sort, step.at_ns / S) for step in steps] == [
        ("fault", 7.9),
        ("replicas", 2.9),
        ("replicas", 4.9),
        ("replicas", 8.5),
        ("replicas", 9.0),
    ]
    said = "mqproof queried the brokers: "
    assert [step.text for step in steps[1:]] == [
        f"{said}ref3 was master of orders; the only mirror of orders was ref2, synchronised",
        f"{said}ref3 was master of orders; the only mirror of orders was ref1, not synchronised",
        f"{said}ref1 was master of orders; orders had no mirror",
        f"{said}none was master of orders",
    ]


def test_a_claim_says_between_which_queries_another_host_took_over() -> None:
    origin_s = FACTS.windows[0].origin_ns / S
    before, after = look(origin_s - 0.2, "ref3", "ref1"), look(origin_s + 60, "ref1")
    assert taken_over(FACTS, (before, after)) == {
        1: f"ref1; seen at +{origin_s + 60:.2f} s, the query before was at +{origin_s - 0.2:.2f} s"
    }
    assert taken_over(FACTS, (before,)) == taken_over(FACTS, ()) == {}
    assert taken_over(FACTS, (before, replace(after, queue="refunds"))) == {}


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
