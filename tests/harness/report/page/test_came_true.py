"""A warning that came true: on the first screen, in its cell, its run, the verdict line."""

from dataclasses import replace

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.judging.result import Report, RunReport
from harness.report.lines import last_lines
from harness.report.page.answers import FirstScreen, first_screen
from harness.report.page.cells import cells
from harness.report.page.runs import predicted, runs
from harness.report.page.totals import RunTotals
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import summed
from tests.rigs.runs.reports import report

MEANING = "Messages lose their order when a master dies."
PART = "messages lose their order when a master dies"
HELD = ClaimVerdict("held", ClaimOutcome.PASS, "It holds.", "It holds.", "a source")


def warned(found: str, name: str = "order-breaks") -> ClaimVerdict:
    return ClaimVerdict(
        name,
        ClaimOutcome.PASS,
        MEANING,
        MEANING,
        "a source",
        judged=(f"{found} were out of order",),
        values=(found,),
        warns=True,
    )


def of_runs(*found: str) -> list[RunReport]:
    return [
        summed(Story(), repeat=number, name=f"run-{number}", verdicts=(HELD, warned(each)))
        for number, each in enumerate(found, 1)
    ]


def shown(made: Report) -> FirstScreen:
    return first_screen(made, RunTotals(made.runs))


def test_first_screen_names_a_warning_that_came_true() -> None:
    screen = shown(report(*of_runs("14 of 90", "37 of 80")))
    assert screen.badge == "PASSED"
    assert f"; a warning came true in 2 of 2 runs: {PART}" in screen.headline
    tile = screen.answers[0]
    assert (tile.value, tile.tone) == ("none", "open")
    came = f"a warning came true: “{MEANING}” (in 2 of 2 runs: 14 of 90; 37 of 80)"
    assert tile.lines == ("1 promise kept", came)


def test_warnings_without_a_single_number_are_named_without_it() -> None:
    (one,), lines = of_runs("14 of 90"), ("one", "another")
    twice = replace(warned(""), judged=lines, values=("1", "2"))
    screen = shown(report(summed(Story(), verdicts=(HELD, twice))))
    assert screen.answers[0].lines[1] == f"a warning came true: “{MEANING}” (in the run)"
    assert f"; a warning came true: {PART}" in shown(report(one)).headline


def test_several_warnings_that_came_true_are_counted_in_the_headline() -> None:
    three = tuple(warned("1 of 9", f"warning-{number}") for number in (1, 2, 3))
    made = report(summed(Story(), verdicts=(HELD, *three)))
    assert "; 3 warnings came true" in shown(made).headline
    assert shown(made).answers[0].lines[-1] == "1 more warning came true"
    assert "3 warnings came true, such as “Messages" in cells(made)[0].sentence


def test_cell_run_and_verdict_line_name_a_warning_that_came_true() -> None:
    made = report(*of_runs("14 of 90", "37 of 80"))
    (view,) = cells(made)
    assert f"1 promise kept; 1 warning came true: “{MEANING}”." in view.sentence
    first, _ = runs(made, (view,))
    assert "came true: warning order-breaks" in first.facts
    verdict = last_lines(made)[0]
    came = "; harm that a warning predicted occurred: order-breaks (2 of 2 runs)"
    assert verdict.endswith(f"{came} (exit code 0)")


def test_a_warning_that_did_not_come_true_is_not_named_as_one_that_did() -> None:
    unseen = ClaimVerdict("order-breaks", ClaimOutcome.FAIL, MEANING, warns=True)
    open_ = ClaimVerdict("copies-lost", ClaimOutcome.INCONCLUSIVE, MEANING, warns=True)
    made = report(summed(Story(), verdicts=(HELD, unseen, open_)))
    screen = shown(made)
    assert "came true" not in screen.headline
    assert "occurred" not in last_lines(made)[0]
    assert not any("came true:" in line for line in screen.answers[0].lines)


def test_a_measure_that_an_open_promise_is_about_is_not_only_predicted() -> None:
    warning = replace(warned("14 of 90"), about=("reordered",))
    promise = replace(HELD, about=("reordered.stored",))
    assert predicted((warning, promise)) == {"reordered"}
    for outcome in (ClaimOutcome.INCONCLUSIVE, ClaimOutcome.FAIL):
        assert not predicted((warning, replace(promise, outcome=outcome)))
    assert not predicted((replace(warning, outcome=ClaimOutcome.FAIL), promise))
