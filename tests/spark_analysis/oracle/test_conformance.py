"""Histories whose verdicts by Jepsen and OpenChaos are known, judged by our own rules.

1. The files say what the peers say (docs/behaviour/peers.md 5); each test says where we agree and
   differ.
2. Their values become our sequences. They reuse one value for a retry; we tell the attempts apart.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.words import Outcome, Redelivered, Via
from tests.oracle.judge import judge
from tests.rigs.histories.by_hand import History, counts

_FOLDER = Path(__file__).parents[2] / "conformance"
_OUTCOMES = {"ok": Outcome.CONFIRMED, "fail": Outcome.REFUSED, "info": Outcome.UNKNOWN}


def _histories(name: str) -> dict[str, dict[str, Any]]:
    document: dict[str, dict[str, Any]] = json.loads((_FOLDER / f"{name}.json").read_text())
    return document


QUEUE = _histories("queue_histories")
ORDER = _histories("order_histories")
RECOVERY = _histories("recovery_histories")


class _Translation:
    """One of the peers' queue histories, row by row, as ours."""

    def __init__(self, redelivered: Redelivered) -> None:
        self.history = History()
        self.sequences: dict[str, int] = {}
        self._redelivered = redelivered
        self._attempts: dict[str, int] = {}
        self._copies: dict[str, int] = {}

    def row(self, at_ms: int, _client: int, f: str, event: str, value: Any = None) -> None:
        match f, event:
            case "enqueue", "invoke":
                self._attempts[value] = self._attempts.get(value, 0) + 1
                self.history.publish(
                    self._sequence(value), at_ms=at_ms, attempt=self._attempts[value]
                )
            case "enqueue", "ok":
                attempt = self._attempts[value]
                self.history.confirm(self._sequence(value), at_ms=at_ms, attempt=attempt)
            case "enqueue", outcome:
                attempt = self._attempts[value]
                self.history.settle(
                    self._sequence(value), _OUTCOMES[outcome], at_ms=at_ms, attempt=attempt
                )
            case "dequeue", "ok":
                self._deliver(value, at_ms, Via.LOAD)
            case "drain", "ok":
                for each in value:
                    self._deliver(each, at_ms, Via.DRAIN)

    def _deliver(self, value: str, at_ms: int, via: Via) -> None:
        copies = self._copies[value] = self._copies.get(value, 0) + 1
        self.history.deliver(
            self._sequence(value),
            at_ms=at_ms,
            attempt=max(1, min(copies, self._attempts.get(value, 1))),
            via=via,
            redelivered=Redelivered.NO if copies == 1 else self._redelivered,
        )

    def _sequence(self, value: str) -> int:
        return self.sequences.setdefault(value, len(self.sequences))


def _translated(name: str, redelivered: Redelivered = Redelivered.NO) -> _Translation:
    translation = _Translation(redelivered)
    for row in QUEUE[name]["h"]:
        translation.row(*row)
    return translation


def _verdict(history: History) -> Mapping[str, int]:
    return counts(
        judge(*history.build()),
        "lost",
        "lost_indeterminate",
        "revived",
        "refused_but_delivered",
        "unexpected",
        "duplicated",
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Q1", {"revived": 1}),
        (
            "Q2",
            {
                "lost_indeterminate": 1,
                "lost replicated": 1,
                "duplicated stored_twice": 1,
                "unexpected never_sent": 1,
            },
        ),
        ("Q3", {}),
        ("Q4", {"duplicated stored_twice": 1}),
        ("Q5", {"refused_but_delivered refused": 1}),
        ("Q6", {"duplicated stored_twice": 2}),
        ("Q7", {}),
        ("Q8", {"duplicated publisher_retry": 1}),
    ],
)
def test_one_class_of_other_checkers_maps_to_five(name: str, expected: dict[str, int]) -> None:
    assert _verdict(_translated(name).history) == expected


@pytest.mark.parametrize("name", sorted(QUEUE))
def test_all_checkers_agree_on_lost_messages(name: str) -> None:
    translation = _translated(name)
    lost = {
        row.sequence
        for row in judge(*translation.history.build()).affected
        if row.measure == "lost"
    }
    theirs = QUEUE[name]["JT"].get("lost", [])
    assert lost == {translation.sequences[value] for value in theirs}
    if "lost" in QUEUE[name].get("OC", {}):
        assert set(QUEUE[name]["OC"]["lost"]) == set(theirs)


@pytest.mark.parametrize("name", ["Q1", "Q5", "Q8"])
def test_openchaos_duplicates_of_unconfirmed_messages_are_no_duplicates_here(name: str) -> None:
    assert QUEUE[name]["OC"]["dup"]
    assert "duplicated stored_twice" not in _verdict(_translated(name).history)


@pytest.mark.parametrize("name", ["Q4", "Q6"])
def test_a_redelivery_is_distinguished_from_a_message_stored_twice(name: str) -> None:
    surplus = sum(QUEUE[name]["JT"]["duplicated"].values())
    verdict = _verdict(_translated(name, Redelivered.YES).history)
    assert verdict == {"duplicated redelivery": surplus}


@pytest.mark.parametrize("name", sorted(ORDER))
def test_a_loss_or_a_replay_is_never_a_reorder(name: str) -> None:
    expected_text = ORDER[name]
    history = History()
    for sequence in expected_text["acknowledged"]:
        history.publish(sequence).confirm(sequence)
    for sequence in expected_text["delivered"]:
        history.deliver(sequence)
    verdict = counts(judge(*history.build()), "reordered", "lost")
    assert (verdict.get("reordered", 0) == 0) == expected_text["fifo"]
    lost = set(expected_text["acknowledged"]) - set(expected_text["delivered"])
    assert verdict.get("lost replicated", 0) == len(lost)


def _recovery(name: str) -> list[tuple[str, bool, int]]:
    """Stages of all windows as (stage, reached, after_ms), of first and sustained success."""
    rows = RECOVERY[name]["h"]
    ends = [row[0] for row in rows if row[2:4] == ["fault", "end"]]
    history = History(load_ms=(0, 130_000))
    for at_ms, _client, f, event, value, *rest in rows:
        if f == "enqueue":
            history.publish(int(value), at_ms=at_ms - rest[1])
            history.settle(int(value), _OUTCOMES[event], at_ms=at_ms)
        elif event == "start":
            history.window(at_ms, ended_ms=ends.pop(0))
    stages = sorted(judge(*history.build()).stages)
    return [_brief(row) for row in stages if row.stage.endswith("success")]


def _brief(row: Stage) -> tuple[str, bool, int]:
    return row.stage, row.reached, row.after_ns // 1_000_000


def test_openchaos_recovery_is_a_first_success_and_ends_no_outage() -> None:
    assert RECOVERY["R1"]["RTO"][0]["rto"] == 8_500
    assert _recovery("R1") == [
        ("first_success", True, 8_500),
        ("sustained_success", False, 8_000),
    ]


def test_a_success_between_two_failures_ends_no_outage() -> None:
    assert RECOVERY["R2"]["RTO"][0]["rto"] == 2_000
    assert _recovery("R2") == [
        ("first_success", True, 2_000),
        ("sustained_success", False, 1_500),
    ]


def test_a_recovery_after_the_fault_was_undone_is_a_recovery() -> None:
    assert not RECOVERY["R3"]["RTO"][0]["recovered"]
    assert _recovery("R3") == [
        ("first_success", True, 31_000),
        ("sustained_success", False, 30_800),
    ]


def test_one_windows_outage_does_not_leak_into_the_next() -> None:
    assert RECOVERY["R4"]["RTO"][1]["rto"] == 95_000
    assert _recovery("R4") == [
        ("first_success", False, 60_000),
        ("sustained_success", False, 60_000),
        ("first_success", True, 5_000),
        ("sustained_success", False, 4_800),
    ]
