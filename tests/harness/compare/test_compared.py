"""Layouts beside each other: what may be said of how a measure falls, and what may not."""

import pytest

from harness.claims.judge import ClaimOutcome
from harness.compare.compared import falls

ORDER = ("none", "one", "two")


@pytest.mark.parametrize(
    ("one", "outcome"),
    [
        ((70.0, 75.0, 79.0), ClaimOutcome.PASS),
        (
            (70.0, 75.0, 91.0),
            ClaimOutcome.INCONCLUSIVE,
        ),  # one run is as fast as one without a mirror
        ((70.0, 75.0), ClaimOutcome.INCONCLUSIVE),  # too few
        ((), ClaimOutcome.INCONCLUSIVE),
        ((101.0, 110.0, 100.0), ClaimOutcome.FAIL),  # mirrors made it faster
        ((59.0, 55.0, 40.0), ClaimOutcome.FAIL),  # the second one did
    ],
)
def test_a_measure_falls_where_no_run_lies_among_those_before(
    one: tuple[float, ...], outcome: ClaimOutcome
) -> None:
    values = {"none": (90.0, 95.0, 100.0), "one": one, "two": (59.0, 60.0, 62.0)}
    assert falls(ORDER, values).outcome is outcome


def test_without_any_run_nothing_is_said() -> None:
    assert falls(ORDER, {"another": (1.0, 2.0, 3.0)}).outcome is None


def test_deciding_numbers_are_reported_with_ranges_and_run_counts() -> None:
    text = falls(ORDER, {"none": (1_000.0, 1_200.0, 900.0), "one": (800.0,)}).text
    assert text == (
        "none 1,000 (900 to 1,200; 3 runs); one 800 (800 to 800; 1 runs); two not run: "
        "3 runs of each are needed"
    )
