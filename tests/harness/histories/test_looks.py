"""Faults of histories: records of looks that contradict the facts, and near misses."""

import json
from typing import Any

import pytest

from harness.histories import neutral
from harness.histories.history import History
from spark_analysis.schema.facts import Window
from tests.rigs.histories.neutral import WORDS, S, document

# The fault begins at 2 s, its undo is issued at 4 s, and has returned at 5 s.
Step = tuple[str, float, int]
UNDONE: Step = ("undo_issued", 4, 1)


def parsed(*steps: Step, **fields: Any) -> History:
    columns = {
        "window": 1,
        "event": [event for event, _, _ in steps],
        "at_ns": [round(at_s * S) for _, at_s, _ in steps],
        "ok": [ok for _, _, ok in steps],
    }
    changes = {"tables.faults": {"rows": len(steps), "columns": columns}}
    changes |= {f"facts.windows.0.{name}": value for name, value in fields.items()}
    text = json.dumps(document(changes))
    return neutral.parse(text, "h.json", WORDS)


def window(*steps: Step, **fields: Any) -> Window:
    return parsed(*steps, **fields).facts.windows[0]


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (UNDONE,),
        (("verified", 3, 1), UNDONE, ("gone", 6, 1)),
        (("verified", 2.5, 0), ("verified", 3, 1), UNDONE),  # it was looked at again
        (UNDONE, ("verified", 5, 1)),  # by what its filter had dropped until it was removed
        (UNDONE, ("undo_returned", 4.5, 0), ("undo_returned", 5, 1), ("gone", 6, 1)),
        (("verified", 3, 1), ("gone", 4, 1)),
    ],
)
def test_a_fault_counts_whose_looks_bear_it_out(steps: tuple[Step, ...]) -> None:
    found = window(*steps)
    assert (found.verified, found.gone, found.unverified_reason) == (True, True, "")


@pytest.mark.parametrize(
    ("steps", "verified", "gone", "why"),
    [
        ((("verified", 1, 1), UNDONE), False, True, "no look within its window"),
        ((("verified", 5.1, 1), UNDONE), False, True, "no look within its window"),
        ((("verified", 3, 0), UNDONE), False, True, "no look within its window"),
        ((("returned", 2, 0), UNDONE), False, True, "its action failed"),
        ((UNDONE, ("gone", 4, 0)), True, False, "no look after its undo"),
        ((("verified", 3, 1), ("gone", 3, 1), UNDONE), True, False, "no look after its undo"),
        ((UNDONE, ("undo_returned", 5, 0)), True, False, "its undo failed"),
        ((("undo_issued", 6, 1),), True, False, "its undo was issued after it had returned"),
    ],
)
def test_a_fault_does_not_count_against_its_looks(
    steps: tuple[Step, ...], verified: bool, gone: bool, why: str
) -> None:
    found = window(*steps)
    assert (found.verified, found.gone) == (verified, gone)
    assert why in found.unverified_reason


def test_a_fault_that_is_said_not_to_be_verified_does_not_count() -> None:
    found = window(UNDONE, unverified_reason="its port answered")
    assert not found.verified
    assert found.unverified_reason.startswith("its port answered")


def test_only_a_look_that_succeeded_after_the_undo_shows_an_end() -> None:
    looks: tuple[Step, ...] = (("gone", 3, 1), UNDONE, ("gone", 5.5, 0), ("gone", 8, 1))
    steps = parsed(*looks).tables["faults"]
    assert [*zip(steps["event"], steps["at_ns"], strict=True)] == [
        ("undo_issued", 4 * S),
        ("gone", 8 * S),
    ]


def test_a_fault_that_never_ends_was_never_undone() -> None:
    assert window(ended_ns=None).gone
    assert not window(UNDONE, ended_ns=None).gone


def test_a_fault_in_force_may_cause_something() -> None:
    assert window(UNDONE, over_ns=3 * S).over_ns == 5 * S
    assert window(UNDONE, over_ns=9 * S).over_ns == 9 * S
