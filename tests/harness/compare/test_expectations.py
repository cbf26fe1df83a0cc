"""Cells against what is known of them."""

import pytest

from harness.claims.claims import shipped as shipped_claims
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.expectations import (
    CellResult,
    Standing,
    read_expectations,
    shipped,
)
from harness.judging.exits import of_expectations
from harness.plan.problems import PlanError

CELL = ("crash", "rabbitmq-mirrored", "all-automatic@T=10", "pika")
KNOWN = read_expectations(
    """
    [[cell]]
    layout = "all-*@T=10"
    why = "measured"
    claims = { a = "PASS", b = "FAIL" }
    [[cell]]
    why = "elsewhere"
    claims = { a = "FAIL", c = "PASS", e = ["PASS", "FAIL"] }
    """,
    "mine.toml",
    "abcde",
)


def run(**outcomes: ClaimOutcome) -> list[ClaimVerdict]:
    return [ClaimVerdict(claim, outcome, "", "", "") for claim, outcome in outcomes.items()]


PASS, FAIL = ClaimOutcome.PASS, ClaimOutcome.FAIL
INCONCLUSIVE, NOT_APPLICABLE = ClaimOutcome.INCONCLUSIVE, ClaimOutcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("runs", "standing"),
    [
        ([run(a=PASS, b=FAIL, c=PASS)], Standing.AS_EXPECTED),
        ([run(a=PASS, d=NOT_APPLICABLE)], Standing.AS_EXPECTED),
        ([run(a=PASS, b=FAIL), run(a=PASS, b=PASS)], Standing.DIFFERS),
        ([run(a=NOT_APPLICABLE)], Standing.DIFFERS),
        ([run(a=INCONCLUSIVE, b=FAIL)], Standing.NOT_JUDGED),
        ([run(a=INCONCLUSIVE, c=NOT_APPLICABLE)], Standing.NOT_JUDGED),  # it broke off
        ([run(a=PASS, b=INCONCLUSIVE, c=NOT_APPLICABLE)], Standing.DIFFERS),
        ([run(a=PASS), []], Standing.NOT_JUDGED),
        ([run(a=PASS, d=PASS)], Standing.NEW),
        ([run(a=FAIL, d=PASS)], Standing.DIFFERS),
        ([run(a=PASS, e=PASS), run(a=PASS, e=FAIL)], Standing.AS_EXPECTED),
        ([run(a=PASS, e=NOT_APPLICABLE)], Standing.DIFFERS),
        ([run(a=PASS, e=INCONCLUSIVE)], Standing.NOT_JUDGED),
        ([], Standing.NOT_JUDGED),
    ],
)
def test_every_repeat_must_do_as_its_entry_says(
    runs: list[list[ClaimVerdict]], standing: Standing
) -> None:
    assert KNOWN.compare(CELL, runs).standing is standing


def test_the_first_entry_that_matches_counts_for_each_claim() -> None:
    result = KNOWN.compare(CELL, [run(a=FAIL, b=FAIL, c=PASS)])
    assert result.lines == ("a: FAIL, expected PASS",)
    assert result.differing == {"a"}
    assert {claim: str(known) for claim, known in result.known.items()} == {
        "a": "PASS",
        "b": "FAIL",
        "c": "PASS",
    }


def test_difference_of_a_warning_has_the_words_of_warnings() -> None:
    warning = ClaimVerdict("a", FAIL, "", "", "", warns=True)
    result = KNOWN.compare(CELL, [[warning]])
    assert result.lines == ("a: WARNING NOT SEEN, expected WARNING CONFIRMED",)


def test_a_chance_expectation_lists_all_known_outcomes() -> None:
    result = KNOWN.compare(CELL, [run(e=NOT_APPLICABLE)])
    assert result.lines == ("e: NOT APPLICABLE, expected PASS or FAIL",)


def test_a_cell_without_an_entry_is_new_not_passed() -> None:
    nothing = read_expectations("cell = []", "mine.toml", "a")
    result = nothing.compare(CELL, [run(a=NOT_APPLICABLE)])
    assert result.standing is Standing.NEW
    assert result.lines == ("no expectation covers this cell",)


def test_expectations_speak_of_named_scenarios_on_named_systems() -> None:
    known = shipped([claim.name for claim in shipped_claims()])
    ours = ("master-crash", "rabbitmq-mirrored", "all-automatic@T=10", "pika")
    assert known.speak_of(ours)
    assert not known.speak_of(("cutkill", *ours[1:]))
    assert not known.speak_of((ours[0], "nats", *ours[2:]))


def test_cell_without_an_entry_lists_failures_in_one_line() -> None:
    nothing = read_expectations("cell = []", "mine.toml", "abc")
    result = nothing.compare(CELL, [run(a=PASS, b=FAIL), run(a=PASS, b=FAIL, c=INCONCLUSIVE)])
    assert result.standing is Standing.NEW
    assert result.lines == ("no expectation covers this cell: b FAIL, c INCONCLUSIVE",)


@pytest.mark.parametrize(
    ("standings", "code"),
    [
        ([Standing.AS_EXPECTED, Standing.AS_EXPECTED], 0),
        ([Standing.AS_EXPECTED, Standing.NEW], 2),
        ([Standing.NOT_JUDGED, Standing.DIFFERS], 1),
        ([Standing.NOT_JUDGED], 2),
        ([], 2),
    ],
)
def test_exit_codes_of_expectations(standings: list[Standing], code: int) -> None:
    assert of_expectations(CellResult(CELL, one, (), {}) for one in standings) == code


def test_an_entry_about_an_unknown_claim_is_an_error() -> None:
    source = '[[cell]]\nwhy = "w"\nclaims = { nothing-lst = "PASS" }\n'
    with pytest.raises(PlanError, match="did you mean 'nothing-lost'"):
        read_expectations(source, "mine.toml", ["nothing-lost"])


def test_passing_claims_are_listed_by_name_only() -> None:
    source = '[[cell]]\nwhy = "w"\npasses = ["a", "b"]\nclaims = { c = "FAIL" }\n'
    known = read_expectations(source, "mine.toml", "abc")
    assert [str(known.expected(CELL, claim)) for claim in "abc"] == ["PASS", "PASS", "FAIL"]


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("", "it speaks of no claim"),
        ('passes = ["a"]\nclaims = { a = "FAIL" }', "stands in `passes` and in `claims`: a"),
        ('passes = ["z"]', "claim"),
    ],
)
def test_expectation_that_matches_nothing_or_twice_is_an_error(keys: str, why: str) -> None:
    with pytest.raises(PlanError, match=why):
        read_expectations(f'[[cell]]\nwhy = "w"\n{keys}\n', "mine.toml", "abc")


# A cut master may confirm what is lost (results/published/2026-11-23-pause-minority.md).
BY_CHANCE = ("cut-one-node", "rabbitmq-mirrored", "all-automatic@T=10")


def test_shipped_expectations_match_shipped_claims_and_every_mirrored_cell() -> None:
    known = shipped(claim.name for claim in shipped_claims())
    for scenario in ("master-crash", "cut-one-node", "client-link-hang"):
        for layout in ("all-automatic@T=10", "all-manual@T=60", "exactly-2@T=60"):
            for system in ("rabbitmq-mirrored", "reference-mirrored"):
                by_chance = (scenario, system, layout) == BY_CHANCE
                outcome = "PASS or FAIL" if by_chance else PASS
                cell = (scenario, system, layout, "pika")
                assert str(known.expected(cell, "confirmed-is-delivered")) == outcome
    knows_one = ("cut-one-node", "rabbitmq-mirrored", "all-automatic-one@T=10", "pika")
    assert str(known.expected(knows_one, "confirmed-is-delivered")) == FAIL
    crash = ("master-crash", "rabbitmq-mirrored", "unmirrored@T=10", "pika")
    assert str(known.expected(crash, "mirror-takes-over")) == NOT_APPLICABLE
    assert str(known.expected(crash, "durable-queue-returns")) == PASS
    for scenario in ("master-crash", "cut-one-node", "mirror-crash"):
        cell = (scenario, "rabbitmq-quorum", "three@T=60", "pika")
        assert str(known.expected(cell, "majority-keeps-what-was-confirmed")) == PASS
