"""The times in which a queue may have changed its master, and when they are over."""

import json
from dataclasses import replace

import pytest

from spark_analysis.schema.facts import Facts, LeadershipChange
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, counts, ns

NANOSECOND_MS = 0.000001
STORED_TWICE = {"duplicated stored_twice": 1}
AMBIGUOUS = {"duplicated ambiguous": 1}


def duplicated(history: History) -> dict[str, int]:
    return dict(counts(judge(*history.build()), "duplicated"))


def delivered_at_100() -> History:
    return History().publish(1, at_ms=10).confirm(1).deliver(1, at_ms=100, tag=5)


def never_returns(
    served_ms: float | None, consumed_ms: float | None, **window: float | bool
) -> History:
    """A host is killed at 50 ms and stays away; what was sent at 60 ms shows who is back."""
    expected = {"never_ended": True, **window}
    history = delivered_at_100().window(50, **expected)  # type: ignore[arg-type]
    history.publish(7, at_ms=60)
    if served_ms is not None:
        history.confirm(7, at_ms=served_ms)
    return history if consumed_ms is None else history.deliver(7, at_ms=consumed_ms)


def copied_at_200(history: History) -> dict[str, int]:
    """A second message is given out at 150 ms and, unflagged, at 200 ms."""
    history.publish(8, at_ms=10).confirm(8, at_ms=20).deliver(8, at_ms=150)
    return duplicated(history.deliver(8, at_ms=200))


@pytest.mark.parametrize(
    ("served_ms", "consumed_ms", "found"),
    [
        (120, 150, STORED_TWICE),
        (150, 120, STORED_TWICE),
        (120, 150 + NANOSECOND_MS, AMBIGUOUS),
        (150 + NANOSECOND_MS, 120, AMBIGUOUS),
        (120, None, AMBIGUOUS),
        (None, 120, AMBIGUOUS),
    ],
)
def test_without_the_host_resumed_service_and_consumption_end_a_change(
    served_ms: float | None, consumed_ms: float | None, found: dict[str, int]
) -> None:
    assert copied_at_200(never_returns(served_ms, consumed_ms)) == found


def test_a_verified_or_recorded_end_bounds_the_leadership_change() -> None:
    assert copied_at_200(never_returns(120, 130, over_ms=160)) == AMBIGUOUS
    assert copied_at_200(never_returns(120, 130, never_ended=False, ended_ms=140)) == AMBIGUOUS


@pytest.mark.parametrize(
    ("origin_ms", "over_ms", "expected"),
    [
        (150, 160, "ambiguous"),
        (50, 99, "stored_twice"),
        (50, None, "ambiguous"),
        (201, None, "stored_twice"),
    ],
)
def test_a_leadership_change_between_deliveries_makes_them_ambiguous(
    origin_ms: float, over_ms: float | None, expected: str
) -> None:
    facts, *events = delivered_at_100().deliver(1, at_ms=200).build()
    leadership_change = LeadershipChange(ns(origin_ms), None if over_ms is None else ns(over_ms))
    findings = judge(replace(facts, leadership_changes=(leadership_change,)), *events)
    assert counts(findings, "duplicated") == {f"duplicated {expected}": 1}


def test_facts_with_operations_survive_as_json() -> None:
    facts = replace(
        History().facts, leadership_changes=(LeadershipChange(5, None), LeadershipChange(7, 9))
    )
    assert Facts.from_json(json.loads(json.dumps(facts.to_json()))) == facts
