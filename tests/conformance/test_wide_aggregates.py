"""Few runs, and what they do not exclude: three of three, one of three, INCONCLUSIVE beside FAIL,
runs without data, and layouts beside each other. The numbers were computed by hand from
docs/verdicts.md 12: Clopper and Pearson, Fisher, Benjamini and Hochberg."""

from pathlib import Path

import pytest

from harness.compare.rates import Tried, tried
from harness.compare.versus import versus
from harness.judging.exits import Exit, of_claims, of_versus
from tests.rigs.histories.many_runs import recorded, verdicts


def of(runs: str) -> list[str]:
    return [one.strip() for one in runs.split("|")]


def rated(runs: str) -> Tried:
    return tried([verdicts(one) for one in of(runs)])["a"]


# Of three runs: 1 - 0.05 ** (1 / 3); 0.025 ** (1 / 3); p with 3 p² - 2 p³ = 0.025, and so on.
RATES = [
    ("a:P | a:P | a:P", "in 0 of 3 runs (95 % one-sided bound: at most 63 %)", 0),
    ("a:F | a:P | a:P", "in 1 of 3 runs (95 % CI: 0.84 to 91 %)", 0),
    ("a:F | a:F | a:P", "in 2 of 3 runs (95 % CI: 9.4 to 99.2 %)", 0),
    ("a:F | a:F | a:F", "in 3 of 3 runs (95 % CI: 29 to 100 %)", 0),
    ("a:F | a:I | a:I", "in 1 of 1 run", 2),
    ("a:F | a:I | ", "in 1 of 1 run", 2),
    ("a:P | a:I | a:N", "in 0 of 1 run", 1),
    ("a:P | a:N | a:N", "in 0 of 1 run", 0),
    ("a:F |" + " |" * 8 + " a:I", "in 1 of 1 run", 9),
    ("a:I | a:I | a:I", "unknown, no run was judged", 3),
    ("a:N | | ", "unknown, no run was judged", 0),
]


@pytest.mark.parametrize(("runs", "text", "not_judged"), RATES)
def test_few_runs_say_what_they_do_not_exclude(runs: str, text: str, not_judged: int) -> None:
    found = rated(runs)
    assert text in found.brief
    assert found.not_judged == not_judged
    assert found.mostly_unjudged is (not_judged > 0.2 * (found.rate.runs + not_judged))


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        ("a:F | a:F | a:F", Exit.FAILED),
        ("a:P | a:F | a:F", Exit.FAILED),
        ("a:F | a:I | ", Exit.FAILED),
        ("a:P | a:P | ", Exit.NOT_DECIDED),
        ("a:P | a:P | a:N", Exit.NOT_DECIDED),
        ("a:P b:N | a:P b:N | a:N b:P", Exit.PASSED),
        (" | | ", Exit.NOT_DECIDED),
        ("a:P | " * 29 + "a:F", Exit.FAILED),
        ("a:P | " * 29 + "w:F", Exit.NOT_DECIDED),
    ],
)
def test_one_broken_promise_fails_any_number_of_runs(runs: str, code: Exit) -> None:
    assert of_claims([verdicts(one) for one in of(runs)]) is code


def times(before: int, after: int, of_runs: int) -> tuple[str, str]:
    """So many of the runs of each side broke promise a."""
    sides = (before, after)
    first, second = ("|".join(["a:F"] * n + ["a:P"] * (of_runs - n)) for n in sides)
    return first, second


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        # Fisher: 0 and 3 of 3 have p = 0.1, 0 and 4 of 4 have p = 2/70. A promise that only the
        # second broke is not passed, and not shown to be worse.
        (*times(0, 3, 3), Exit.NOT_DECIDED),
        (*times(0, 4, 4), Exit.FAILED),
        (*times(4, 0, 4), Exit.PASSED),
        (*times(1, 3, 3), Exit.PASSED),
        (*times(1, 9, 10), Exit.FAILED),
        (*times(3, 6, 10), Exit.PASSED),
        # A second promise is tested, too: 2 * 2/70 is above 0.05.
        (
            "a:P b:F | a:P b:F | a:P b:P | a:P b:P",
            "a:F b:F | a:F b:F | a:F b:P | a:F b:P",
            Exit.NOT_DECIDED,
        ),
        # One that no run breaks is no test, and costs nothing.
        ("a:P b:P |" * 3 + "a:P b:P", "a:F b:P |" * 3 + "a:F b:P", Exit.FAILED),
        # What one side never decided is not compared: broken in the second, it is not passed.
        ("a:P b:I | a:P b:I", "a:P b:F | a:P b:F", Exit.NOT_DECIDED),
        ("a:P b:F | a:P b:F", "a:P b:I | a:P b:I", Exit.PASSED),
        ("a:I ? | a:I ?", "a:F | a:F", Exit.NOT_DECIDED),
    ],
)
def test_two_layouts_compare_as_computed(
    first: str, second: str, code: Exit, tmp_path: Path
) -> None:
    sides = [recorded(tmp_path, name, of(text)) for name, text in (("1", first), ("2", second))]
    assert of_versus(versus(*sides)) is code
