"""One run's verdicts on a terminal: a reason that many claims share stands once."""

from harness.claims.answers import PredicateAnswer, Reason
from harness.claims.claims import parse_condition
from harness.claims.fact_labels import UNSURE
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.claims.values import Unknown, Value, Why, at_least
from harness.report.console.tables import grouped
from harness.report.lines import InCell

BESIDE = "fault 2: fault 1 was in force at the same time"
ADVICE = ("let one fault end before the next begins",)


def verdict(claim: str, outcome: ClaimOutcome, *why: str, **more: bool) -> ClaimVerdict:
    reasons = tuple(Reason(Why(one)) for one in why)
    advice = ADVICE if outcome is ClaimOutcome.INCONCLUSIVE else ()
    return ClaimVerdict(
        claim, outcome, claim, claim, "a source", reasons=reasons, advice=advice, **more
    )


def lines(*verdicts: ClaimVerdict) -> list[str]:
    return [line for line, _ in grouped(verdicts, lambda one: f"{one.outcome} {one.claim} alone")]


def test_claims_that_one_fault_keeps_open_share_its_reason() -> None:
    open_ends = [verdict(f"claim-{n}", ClaimOutcome.INCONCLUSIVE, BESIDE) for n in range(25)]
    (line,) = lines(*open_ends)
    reason, names = line.split("\n")
    assert reason == f"INCONCLUSIVE, 25 claims: {BESIDE}. To do: {ADVICE[0]}"
    assert names.split(", ") == [f"claim-{n}" for n in range(25)]


def test_claims_expected_to_stay_open_have_their_own_line() -> None:
    open_ends = [verdict(f"claim-{n}", ClaimOutcome.INCONCLUSIVE, BESIDE) for n in range(4)]
    expected = InCell("expected in this cell", expected=True)
    known = {"claim-0": expected, "claim-2": expected}
    shown = [
        line for line, _ in grouped(open_ends, str, lambda one: known.get(one.claim, InCell()))
    ]
    assert [line.split("\n")[1] for line in shown] == ["claim-0, claim-2", "claim-1, claim-3"]
    assert "To do" not in shown[0]
    assert shown[0].startswith(f"INCONCLUSIVE, 2 claims: {BESIDE}. This verdict is expected")
    assert f"To do: {ADVICE[0]}" in shown[1]


def test_neither_the_condition_nor_what_was_found_is_part_of_the_reason() -> None:
    stalled = "publisher 1 stalled 126 ms at +66.5 s (host busy)"

    def doubt(condition: str, value: Value) -> Reason:
        return PredicateAnswer(parse_condition(condition), 2, value, "", predicted=False).doubt

    unknown = doubt("available_after_fault == true", Unknown(stalled))
    wide = doubt("silence_s <= 30", at_least(3, "3 s", stalled))
    assert unknown.text == f"fault 2: {stalled} (`available_after_fault == true`)"
    assert wide.text.endswith(f": 3 s{UNSURE}{stalled} (`silence_s <= 30`)")
    assert unknown.cause == wide.cause == Why(stalled, window=2)
    unverified = Why("not verified", window=1)
    assert doubt("silence_s <= 30", Unknown(unverified)).cause == unverified


def test_other_reasons_and_claim_kinds_have_their_own_lines() -> None:
    promise = verdict("a", ClaimOutcome.INCONCLUSIVE, BESIDE)
    warning = verdict("b", ClaimOutcome.INCONCLUSIVE, BESIDE, warns=True)
    other = verdict("c", ClaimOutcome.INCONCLUSIVE, "fault 1: its undo failed")
    assert len(lines(promise, warning, other)) == 3


def test_failures_and_confirmed_warnings_stand_alone_and_first() -> None:
    printed = lines(
        verdict("held", ClaimOutcome.PASS),
        verdict("held-too", ClaimOutcome.PASS),
        verdict("broken", ClaimOutcome.FAIL),
        verdict("broken-too", ClaimOutcome.FAIL),
        verdict("foretold", ClaimOutcome.PASS, warns=True),
        verdict("elsewhere", ClaimOutcome.NOT_APPLICABLE, "no mirror"),
    )
    assert printed == [
        "FAIL broken alone",
        "FAIL broken-too alone",
        "PASS foretold alone",
        "PASS, 2 claims: held, held-too",
    ]
