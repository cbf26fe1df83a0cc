"""Three-valued comparisons."""

import math

import pytest

from harness.claims.values import Interval, Unknown, at_least, exactly, holds


@pytest.mark.parametrize(
    ("value", "comparator", "wanted", "answer"),
    [
        (exactly(0), "==", 0, True),
        (exactly(3), "==", 0, False),
        (exactly(3), "!=", 0, True),
        (exactly(0), "!=", 0, False),
        (at_least(0), "==", 0, None),
        (at_least(3), "==", 0, False),
        (at_least(3), "!=", 0, True),
        (at_least(3), ">=", 1, True),
        (at_least(0), ">=", 1, None),
        (at_least(5), "<", 5, False),
        (at_least(4), "<", 5, None),
        (at_least(5), "<=", 5, None),
        (exactly(5), "<=", 5, True),
        (exactly(6), "<=", 5, False),
        (at_least(6), ">", 5, True),
        (Interval(0, 2), "<", 3, True),
        (Interval(0, math.inf), "==", 1, None),
        (True, "==", True, True),
        (False, "!=", True, True),
        (Unknown("why"), "==", 0, None),
    ],
)
def test_proved_value_stays_proved_and_open_value_stays_open(
    value: Interval | bool | Unknown, comparator: str, wanted: float, answer: bool | None
) -> None:
    assert holds(value, comparator, (wanted,)) is answer


def test_words_may_have_alternatives() -> None:
    assert holds("kill", "==", ("kill", "partition")) is True
    assert holds("hang", "==", ("kill", "partition")) is False


def test_lower_bound_has_no_upper_end_and_cites_its_source() -> None:
    assert at_least(3) == Interval(3, math.inf, "", "", "")
    assert at_least(3, "3 of 9", "why", "do") == Interval(3, math.inf, "3 of 9", "why", "do")
