"""Rates of runs: what was seen, and what so few runs cannot exclude."""

from dataclasses import replace

import pytest

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.rates import (
    decided,
    per_cent,
    rate,
    spelled_out,
    too_many,
    tried,
    violates,
)

PASS, FAIL, OPEN, NOT_APPLICABLE = (
    ClaimOutcome.PASS,
    ClaimOutcome.FAIL,
    ClaimOutcome.INCONCLUSIVE,
    ClaimOutcome.NOT_APPLICABLE,
)


def verdict(outcome: ClaimOutcome, claim: str = "stays", warns: bool = False) -> ClaimVerdict:
    return ClaimVerdict(claim, outcome, "m", "s", "an article", warns=warns)


@pytest.mark.parametrize(
    ("violated", "runs", "low", "high"),
    [
        (0, 10, 0.0, 0.2588656),  # one-sided: 1 - 0.05 ** (1 / 10)
        (0, 1, 0.0, 0.95),
        (3, 10, 0.0667395, 0.6524529),
        (1, 366, 0.0000692, 0.0151283),
        (10, 10, 0.6915029, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_the_bounds_are_clopper_and_pearsons(
    violated: int, runs: int, low: float, high: float
) -> None:
    found = rate(violated, runs)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)


def test_bound_of_ten_per_cent_needs_twenty_nine_clean_runs() -> None:
    assert rate(0, 29).high < 0.1 < rate(0, 28).high


def test_a_rate_names_its_interval_or_its_one_sided_bound() -> None:
    assert rate(0, 10).describe("lost") == (
        "lost in 0 of 10 runs (95 % one-sided bound: at most 26 %)"
    )
    assert rate(2, 5).describe("") == "in 2 of 5 runs (95 % CI: 5.3 to 85 %)"
    assert rate(10, 10).bounds == "95 % CI: 69 to 100 %"
    assert rate(3, 10).describe("lost") == "lost in 3 of 10 runs (95 % CI: 6.7 to 65 %)"
    assert rate(0, 1).describe("lost") == "lost in 0 of 1 run (95 % one-sided bound: at most 95 %)"
    assert rate(0, 0).describe("lost") == "lost: unknown, no run was judged"
    assert rate(0, 0).describe("") == "unknown, no run was judged"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.00001, "< 0.01 %"),
        (0.0081, "0.81 %"),
        (0.0981, "9.8 %"),
        (0.0999, "10 %"),
        (0.95, "95 %"),
        (0.9985, "99.9 %"),
        (0.99999, "> 99.9 %"),
        (1.0, "100 %"),
    ],
)
def test_rounding_never_turns_little_into_none_or_much_into_all(share: float, text: str) -> None:
    assert per_cent(share) == text


def test_unjudged_runs_are_a_separate_number() -> None:
    runs = [[verdict(PASS)]] * 6 + [[verdict(FAIL)]] + [[verdict(OPEN)]] * 2 + [[]]
    claim = tried(runs)["stays"]
    assert (claim.rate.violated, claim.rate.runs, claim.not_judged) == (1, 7, 3)


def test_runs_without_the_claim_are_in_no_number() -> None:
    claim = tried([[verdict(NOT_APPLICABLE)], [verdict(PASS)], [verdict(NOT_APPLICABLE)]])["stays"]
    assert (claim.rate.runs, claim.not_judged, claim.applied) == (1, 0, True)
    never = tried([[verdict(NOT_APPLICABLE)], []])["stays"]
    assert (never.rate.runs, never.not_judged, never.applied) == (0, 0, False)


def test_too_many_unjudged_means_more_than_a_fifth() -> None:
    assert not too_many(2, 10)
    assert too_many(3, 10)
    assert not too_many(0, 0)
    some = tried([[verdict(PASS)]] * 7 + [[]] * 3)["stays"]
    assert some.mostly_unjudged
    assert not replace(some, not_judged=1).mostly_unjudged


def test_a_warning_that_did_not_come_true_is_no_violation() -> None:
    assert violates(verdict(FAIL))
    assert not violates(verdict(FAIL, warns=True))
    assert not violates(verdict(OPEN))


def test_a_run_is_judged_where_one_claim_was_decided() -> None:
    assert decided([verdict(OPEN), verdict(PASS)])
    assert decided([verdict(FAIL)])
    assert not decided([verdict(OPEN), verdict(NOT_APPLICABLE)])
    assert not decided([])


def test_a_text_spells_its_first_interval_out() -> None:
    short = "in 2 of 5 runs (95 % CI: 5.3 to 85 %)"
    full = "in 2 of 5 runs (95 % confidence interval (CI): 5.3 to 85 %)"
    assert spelled_out(f"{short}; {short}") == f"{full}; {short}"
    assert spelled_out(f"{full}; {short}") == f"{full}; {short}"
    assert spelled_out("none") == "none"
