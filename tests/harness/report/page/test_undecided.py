"""The first screen of a report that is NOT DECIDED: by which claims, and why."""

from dataclasses import replace

from harness.claims.answers import Reason
from harness.claims.fact_labels import UNSURE
from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.claims.values import Why, why_of
from harness.compare.expectations import Expectations, ExpectedCell, Known
from harness.judging.assemble import compare
from harness.judging.exits import Exit, Judge
from harness.judging.result import Report
from harness.report import html
from harness.report.lines import expected_lines
from harness.report.page.answers import NAMES_MAX, FirstScreen, first_screen
from harness.report.page.cells import cells
from harness.report.page.claims import Seen, claims
from harness.report.page.runs import runs
from harness.report.page.totals import RunTotals
from harness.report.tried import undecided
from tests.rigs.runs.findings import Story
from tests.rigs.runs.reports import CELL, report, run

BESIDE = "fault 2: fault 1 was in force at the same time"
ADVICE = "let one fault end before the next begins"
STALLED = "publisher 1 stalled 126 ms at +66.5 s (host busy)"


def verdict(claim: str, *why: str | Why | Reason, **more: object) -> ClaimVerdict:
    reasons = tuple(one if isinstance(one, Reason) else Reason(why_of(one)) for one in why)
    made = ClaimVerdict(claim, ClaimOutcome.INCONCLUSIVE, claim, claim, "a source")
    return replace(made, reasons=reasons, advice=(ADVICE,), **more)  # type: ignore[arg-type]


def senseless(window: int) -> Reason:
    condition = "consumption_resumes == true"
    return Reason(Why("the run has none"), "", condition, window, inapplicable=True)


def shown(made: Report) -> FirstScreen:
    return first_screen(made, RunTotals(made.runs))


def lines(screen: FirstScreen) -> tuple[str, ...]:
    return tuple(one.text for one in screen.undecided)


def test_a_reason_stands_once_with_its_claims() -> None:
    first = run(Story(), verdicts=tuple(verdict(f"claim-{n}", BESIDE) for n in (1, 2, 3)))
    screen = shown(report(first))
    assert screen.badge == "NOT DECIDED"
    assert lines(screen) == (f"claim-1, claim-2 and claim-3: {BESIDE}. To do: {ADVICE}.",)


def test_claims_that_are_not_decided_lead_to_their_evidence() -> None:
    page = html.text(report(run(Story(), verdicts=(verdict("claim-1", BESIDE),))))
    assert '<a href="#claim-1" title="claim-1">claim-1</a>: ' in page


def test_reason_with_most_claims_comes_first_and_warnings_last() -> None:
    stalled = verdict("served", f"fault 2: {STALLED}")
    others = [verdict(f"claim-{n}", BESIDE) for n in range(NAMES_MAX + 2)]
    warning = verdict("foretold", "fault 9: no probe ran", warns=True)
    made = report(run(Story(), verdicts=(stalled, warning, *others)))
    assert [(one.reasons, len(one.claims)) for one in undecided(made)] == [
        ((BESIDE,), NAMES_MAX + 2),
        ((f"fault 2: {STALLED}",), 1),
        (("fault 9: no probe ran",), 1),
    ]
    assert lines(shown(made))[2].startswith("warning foretold: fault 9")
    assert " and 2 more: fault 2" in lines(shown(made))[0]


def test_reasons_name_their_cell_if_there_are_several() -> None:
    other = ("another", *CELL[1:])
    open_ = run(Story(), cell=other, verdicts=(verdict("claim-1", BESIDE),))
    screen = shown(
        report(run(Story(), verdicts=(verdict("claim-0", outcome=ClaimOutcome.PASS),)), open_)
    )
    assert lines(screen) == (f"claim-1 (in cell 2): {BESIDE}. To do: {ADVICE}.",)


def test_a_run_that_was_not_judged_is_a_reason() -> None:
    made = report(run(Story(), verdicts=(), failure="the cluster did not come up"))
    assert lines(shown(made)) == ("1 run: the cluster did not come up.",)


def test_a_decided_report_lists_no_open_claims() -> None:
    made = report(run(Story()))
    assert made.exit_code == Exit.PASSED
    assert lines(shown(made)) == ()


def test_one_uncertain_fault_is_one_reason_for_all_claims() -> None:
    doubt = Why("not verified", window=3)
    made = report(
        run(
            Story(),
            verdicts=(
                verdict("stays", Reason(doubt, f"0 of 800 were lost{UNSURE}", "lost == 0")),
                verdict("silent", Reason(doubt, window=1), doubt),
                verdict("corrupt", Reason(doubt, f"none was corrupt{UNSURE}")),
            ),
        )
    )
    assert [(one.reasons, one.claims) for one in undecided(made)] == [
        ((str(doubt),), ("stays", "silent", "corrupt"))
    ]


def test_a_condition_that_makes_no_sense_is_no_reason() -> None:
    why = "orders was not drained"
    lost = Reason(Why(why), f"0 of 800 were lost{UNSURE}", "lost == 0")
    open_ = verdict("stays", lost, senseless(1))
    (one,) = undecided(report(run(Story(), verdicts=(open_,))))
    assert one.reasons == (f"0 of 800 were lost{UNSURE}{why}",)


def test_a_requirement_that_does_not_apply_stands_apart_from_an_undecided_one() -> None:
    one = verdict("stays", "a doubt", senseless(2))
    assert one.inapplicable == (
        "fault 2: not applicable, because the run has none (`consumption_resumes == true`)",
    )
    made = report(run(Story(), verdicts=(one,)))
    (seen,) = (Seen(each, one, made, ()) for each in made.runs)
    assert seen.rest == (
        ("Not decided", "a doubt"),
        ("Not applicable", "fault 2: the run has none (`consumption_resumes == true`)"),
    )


def test_runs_differing_in_a_number_share_a_reason_with_range() -> None:
    text = " more are possible: events overlap, so the cause is not decided"
    runs = [
        run(
            Story(),
            f"run-{n}",
            verdicts=(verdict("duplicates", Reason(Why(text, n), f"none came twice{UNSURE}")),),
        )
        for n in (3, 1, 1204)
    ]
    made = report(*runs)
    assert [one.reasons for one in undecided(made)] == [(f"1 to 1,204{text}",)]
    (line,) = lines(shown(made))
    assert line == f"duplicates (in 3 runs): 1 to 1,204{text}. To do: {ADVICE}."


def test_a_number_that_all_runs_share_is_no_range() -> None:
    same = verdict("duplicates", Why(" more are possible", 3))
    made = report(run(Story(), verdicts=(same,)), run(Story(), verdicts=(same,)))
    assert [one.reasons for one in undecided(made)] == [("3 more are possible",)]


def test_advice_of_a_run_names_the_claim_unless_its_reason_is_a_caveat() -> None:
    of_run = replace(verdict("claim-1", f"fault 2: {STALLED}"), advice=("a quieter machine",))
    verdicts = (of_run, verdict("claim-2", BESIDE), verdict("claim-3", BESIDE))
    made = report(run(Story(), verdicts=verdicts, doubts=(STALLED,)))
    (shown_run,) = runs(made, cells(made))
    assert shown_run.advice == (
        "To do: a quieter machine.",
        f"claim-2 and claim-3: {BESIDE}. To do: {ADVICE}.",
    )


def knowing(outcome: ClaimOutcome, *verdicts: ClaimVerdict) -> Report:
    """Return a report of one run in a cell that is known to have this outcome of claim-1."""
    known = ExpectedCell(("*", "*", "*", "*"), {"claim-1": Known((outcome,))}, "measured")
    one = run(Story(), verdicts=verdicts)
    return report(one, cells=compare((one,), Expectations([known])))


def test_an_expected_inconclusive_verdict_needs_no_action() -> None:
    made = knowing(
        ClaimOutcome.INCONCLUSIVE, verdict("claim-1", BESIDE), verdict("claim-2", BESIDE)
    )
    expected = "This verdict is expected in this cell. To decide the claim nevertheless: "
    assert lines(shown(made)) == (
        f"claim-1: {BESIDE}. {expected}{ADVICE}.",
        f"claim-2: {BESIDE}. To do: {ADVICE}.",
    )
    (shown_run,) = runs(made, cells(made))
    assert shown_run.advice == (
        f"claim-1: {BESIDE}. {expected}{ADVICE}.",
        f"claim-2: {BESIDE}. To do: {ADVICE}.",
    )
    texts = {view.name: view.seen[0].to_do for view in claims(made, cells(made))}
    assert texts == {"claim-1": f"{expected}{ADVICE}", "claim-2": f"To do: {ADVICE}"}


def test_an_expected_violation_has_no_advice() -> None:
    broken = verdict("claim-1", BESIDE, outcome=ClaimOutcome.FAIL)
    for outcome, advice in ((ClaimOutcome.FAIL, ""), (ClaimOutcome.PASS, f"To do: {ADVICE}")):
        made = knowing(outcome, broken)
        assert claims(made, cells(made))[0].seen[0].to_do == advice
        assert bool(runs(made, cells(made))[0].advice) is bool(advice)


def test_a_better_verdict_names_what_was_expected_and_found() -> None:
    held = verdict("claim-1", outcome=ClaimOutcome.PASS)
    made = knowing(ClaimOutcome.FAIL, replace(held, advice=()))
    found = "unexpected in this cell: expected FAIL, found PASS"
    assert claims(made, cells(made))[0].seen[0].standing == found
    (cell,) = cells(made)
    assert cell.standing == "1 claim differs from the expectation: expected FAIL, found PASS"
    same = knowing(ClaimOutcome.PASS, replace(held, advice=()))
    assert claims(same, cells(same))[0].seen[0].standing == ""


def test_backticks_of_advice_are_code_on_pages() -> None:
    advised = replace(verdict("claim-1", BESIDE), advice=("extend it (`recovery`), `rate`",))
    odd = replace(verdict("claim-2", "a lone ` of <b>"), advice=())
    page = html.text(report(run(Story(), verdicts=(advised, odd))))
    assert page.count("extend it (<code>recovery</code>), <code>rate</code>") == 2
    assert "`recovery`" not in page
    assert "a lone ` of &lt;b&gt;" in page


def test_an_expected_undecided_promise_explains_its_exit_code() -> None:
    undecided_one = verdict("claim-1", BESIDE)
    made = knowing(ClaimOutcome.INCONCLUSIVE, undecided_one)
    assert made.exit_code is Exit.NOT_DECIDED
    (line,) = expected_lines(made)
    assert line == (
        "every verdict is as expected, but a promise is INCONCLUSIVE: with `--judge claims` the "
        "exit code is 2 all the same, with `--judge expectations` it is 0"
    )
    by_expectations = replace(made, judge=Judge.EXPECTATIONS)
    assert (by_expectations.exit_code, list(expected_lines(by_expectations))) == (0, [])
    assert not list(expected_lines(knowing(ClaimOutcome.PASS, undecided_one)))
    held = replace(undecided_one, outcome=ClaimOutcome.PASS)
    assert not list(expected_lines(knowing(ClaimOutcome.PASS, held)))


def test_with_a_cell_not_compared_no_exit_code_is_explained() -> None:
    made = knowing(ClaimOutcome.INCONCLUSIVE, verdict("claim-1", BESIDE))
    (one,) = made.runs
    own = replace(one, name="own", cell=("mine", *one.cell[1:]))
    assert not list(expected_lines(replace(made, runs=(one, own))))


def test_a_standing_names_the_other_outcomes_that_are_expected() -> None:
    both = Known((ClaimOutcome.INCONCLUSIVE, ClaimOutcome.PASS))
    for known, standing in (
        (both, "expected in this cell, as is PASS"),
        (Known((ClaimOutcome.INCONCLUSIVE,)), "expected in this cell"),
    ):
        one = run(Story(), verdicts=(verdict("claim-1", BESIDE),))
        entry = ExpectedCell(("*", "*", "*", "*"), {"claim-1": known}, "measured")
        made = report(one, cells=compare((one,), Expectations([entry])))
        assert claims(made, cells(made))[0].seen[0].standing == standing
