"""Consumers that keep their own offsets: what they may have wanted to read again."""

from typing import Any

import pytest

from harness.histories.history import History
from harness.histories.policies import wanted
from tests.rigs.histories.by_hand import History as ByHand

Read = tuple[str, int, int]  # place, offset and connection


def excused(*deliveries: Read) -> bool:
    facts, _ = ByHand(load_ms=(0, 1_000)).build()
    places, offsets, connections = zip(*deliveries, strict=True)
    same: dict[str, Any] = {"consumer": [2] * len(deliveries), "queue": ["logs"] * len(deliveries)}
    columns = same | {"broker": [*places], "offset": [*offsets], "connection": [*connections]}
    return bool(wanted(History(facts, {}, {}, {"deliveries": columns})))


@pytest.mark.parametrize(
    ("deliveries", "expected"),
    [
        ([("a", 7, 1), ("a", 8, 1)], False),
        ([("a", 7, 1), ("a", 7, 2)], True),
        ([("a", 7, 1), ("a", 7, 1)], False),
        ([("a", 7, 1), ("b", 7, 1), ("a", 7, 2)], True),
        ([("a", 7, 1), ("a", 7, 2), ("a", 8, 2), ("a", 8, 2)], False),
        ([("a", -1, 1), ("a", -1, 2)], False),
    ],
)
def test_only_what_comes_again_on_a_later_connection_was_perhaps_wanted(
    deliveries: list[Read], expected: bool
) -> None:
    assert excused(*deliveries) is expected
