"""What people see, with and without a terminal."""

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import starmap
from pathlib import Path

import pytest
from rich.console import Console

from harness.claims.answers import Reason
from harness.claims.judge import ClaimOutcome
from harness.claims.values import Why
from harness.compare.expectations import CellResult, Deviation, Standing
from harness.judging.exits import Judge
from harness.judging.result import Report
from harness.outside.text import visible
from harness.report.console.tables import COLUMNS_MAX, comparison_text
from harness.report.console.terminal import CELLS_MAX, Terminal, headline_of
from harness.report.lines import NOT_COMPARED, InCell, cell_lines, standing_of, unseen_lines
from harness.report.page.measures import applicable
from harness.run.core.strip import Share, Strip
from harness.run.core.view import LiveCounts, PerSecond
from harness.view.observations import Observation
from harness.view.routes import SENTENCE as ROUTE_CHANGE
from tests.rigs.runs.findings import Story
from tests.rigs.runs.judged_runs import crash, judged_run, page_of, summed
from tests.rigs.runs.reports import CELL, OTHER, SKIPPED, compared, report, run

VIEW = LiveCounts("baseline", 0, 12, (), 41.6, PerSecond(300.0, 299.4, 300.0), run="run-1")
BLOCKED = PerSecond(0.0, 0.0, 0.0)
NOTHING_YET = Strip(0, (), 0)


class Screen:
    """A terminal display on paper, and a clock that is moved by hand."""

    def __init__(self, is_terminal: bool = False, whole: bool = False, **environ: str) -> None:
        self.paper = io.StringIO()
        self.now_s = 0.0
        self.console = Console(
            file=self.paper,
            force_terminal=is_terminal,
            width=120,
            highlight=False,
            _environ={"TERM": "xterm", **environ},
        )
        self.display = Terminal(self.console, lambda: self.now_s, whole)

    def report(self, report: Report, files: Sequence[Path] = ()) -> None:
        self.display.verdicts(report)
        self.display.files(report, files)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.paper.getvalue().splitlines()]

    @property
    def seen(self) -> str:
        """Without what commands the terminal."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.paper.getvalue())


def test_step_shows_its_name_elapsed_and_expected_seconds() -> None:
    screen = Screen()
    screen.display.step_began("start containers", 8.0)
    screen.display.step_ended(7.34)
    screen.display.step_began("something new", None)
    screen.display.step_ended(0.5)
    assert screen.lines == [
        "start containers ... (about 8 s on an idle machine)",
        "start containers: 7.3 s",
        "something new ...",
        "something new: 0.5 s",
    ]


def test_words_of_brokers_and_commands_are_shown_and_not_obeyed() -> None:
    screen = Screen(is_terminal=True)
    screen.display.message("RabbitMQ \x1b[2J\x1b]0;mine\x07\u202e3.10.8,\u00a0well")
    assert "RabbitMQ \\x1b[2J\\x1b]0;mine\\x07\\u202e3.10.8, well" in screen.paper.getvalue()


def test_without_a_terminal_lines_come_per_phase_and_ten_seconds() -> None:
    screen = Screen()
    for now_s in range(21):
        screen.now_s = float(now_s)
        screen.display.live(VIEW)
    assert len(screen.lines) == 3
    blocked = LiveCounts("windows", 7, 40, ("kill master = rmq1",), 30.0, BLOCKED, run="run-1")
    screen.display.live(replace(blocked, strip=NOTHING_YET, awaits_undo=True))
    assert screen.lines[3] == (
        "run-1 faults | sent 0/s, confirmed 0/s, delivered 0/s | unconfirmed 40 | late 7 | "
        "fault: kill master = rmq1 | at least 30 s left and the time to undo faults"
    )


def test_a_line_before_or_after_the_load_has_no_rates() -> None:
    begins = LiveCounts("baseline", 0, 0, (), 41.6, strip=NOTHING_YET, run="run-1")
    ends = replace(begins, phase="drain", strip=None, left_s=0.0, waits=("draining: 0 s so far",))
    screen = Screen()
    screen.display.live(begins)
    screen.display.live(ends)
    assert screen.lines == [
        "run-1 steady state | the load begins | late 0 | at least 42 s left",
        "run-1 drain | draining: 0 s so far",
    ]


def test_the_line_of_a_phase_waits_for_its_first_rates() -> None:
    view = replace(VIEW, phase="windows", rates=None, armed=("kill rmq1",), strip=NOTHING_YET)
    screen = Screen()
    screen.display.live(view)
    assert screen.lines == []
    screen.display.live(replace(view, rates=BLOCKED))
    assert screen.lines[0].startswith("run-1 faults | sent 0/s, confirmed 0/s, ")
    screen.display.live(replace(view, phase="recovery", armed=()))
    screen.display.live(replace(view, phase="drain", armed=(), left_s=0.0))
    recovery, drain = screen.lines[1:]
    assert recovery == "run-1 recovery | late 0 | at least 42 s left"
    assert drain == "run-1 drain | late 0"


def test_terminal_display_is_redrawn_and_leaves_nothing_behind() -> None:
    screen = Screen(is_terminal=True)
    screen.display.live(VIEW)
    screen.display.message("said in between")
    screen.display.close()
    screen.display.close()
    assert "said in between" in screen.paper.getvalue()
    assert "\x1b[" in screen.paper.getvalue()


HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def test_the_cursor_returns_however_a_run_ends() -> None:
    screen = Screen(is_terminal=True)

    def broken_off() -> None:
        try:
            screen.display.live(VIEW)
            raise KeyboardInterrupt
        finally:  # as every command does
            screen.display.close()

    with pytest.raises(KeyboardInterrupt):
        broken_off()
    text = screen.paper.getvalue()
    assert text.count(HIDE) == text.count(SHOW) == 1
    assert text.rindex(SHOW) > text.rindex(HIDE)


def test_a_terminal_that_cannot_move_its_cursor_gets_lines() -> None:
    screen = Screen(is_terminal=True, TERM="dumb")
    screen.display.live(VIEW)
    assert screen.lines[0].startswith("run-1 steady state | sent 300/s")


def test_a_terminal_may_become_narrower_while_it_is_drawn_on() -> None:
    screen = Screen(is_terminal=True)
    strip = Strip(0, (Share(9, 9),) * 200, 5)
    screen.display.live(replace(VIEW, strip=strip))
    screen.console.width = 40
    screen.display.live(replace(VIEW, strip=strip))
    screen.display.close()
    assert "  90 s " + "█" * 30 in screen.seen


def test_no_color_is_respected() -> None:
    screen = Screen(is_terminal=True, NO_COLOR="1")
    screen.display.live(replace(VIEW, strip=Strip(0, (Share(9, 0), Share(9, 9)), 1)))
    screen.display.close()
    assert "×█░" in screen.seen
    assert "\x1b[3" not in screen.paper.getvalue()


def test_broker_names_cannot_send_escapes_to_the_terminal() -> None:
    screen = Screen(is_terminal=True)
    screen.display.live(replace(VIEW, armed=("kill rmq\x1b[2J",)))
    screen.display.close()
    assert "kill rmq\\x1b[2J" in screen.paper.getvalue()


def test_brackets_in_messages_are_no_markup() -> None:
    screen = Screen()
    screen.display.message("[red]no[/red] [TIMEOUT_CLEAN_QUEUE]")
    assert screen.lines == ["[red]no[/red] [TIMEOUT_CLEAN_QUEUE]"]


def test_the_last_three_lines_are_verdict_folder_and_replay() -> None:
    screen = Screen()
    one = run(Story())
    screen.report(report(one))
    verdict = "verdict: passed, claims: 17 PASS, 1 WARNING NOT SEEN"
    assert screen.lines[-3:] == [
        f"{verdict}, {len(one.verdicts) - 18} NOT APPLICABLE (exit code 0)",
        "results: results/e",
        "replay: mqproof run master-crash --seed 7",
    ]


def test_the_counts_of_several_runs_say_what_they_count() -> None:
    screen, one = Screen(), run(Story())
    screen.report(report(one, run(Story(), "master-crash-2-cafe", cell=OTHER)))
    claims, passed = len(one.verdicts), 2 * 17
    counted = f"{2 * claims} verdicts ({claims} claims in 2 runs): {passed} PASS, "
    assert screen.lines[-3].startswith(f"verdict: passed, {counted}")
    left = f"{claims - 18} more claims apply to no cell (--all lists each with its reason)"
    assert left in screen.lines


def test_a_known_failure_is_as_expected_to_expectations() -> None:
    screen = Screen()
    screen.report(report(run(Story()), judge=Judge.EXPECTATIONS))
    assert screen.lines[-3] == "verdict: as expected, cells: 1 as expected (exit code 0)"


def test_every_line_of_a_run_is_there_with_its_reasons() -> None:
    screen = Screen(whole=True)
    screen.report(report(run(Story(), notes=("fresh cluster: the first",))))
    text = screen.paper.getvalue()
    assert "fresh cluster: the first" in text
    assert "fault 1: longest time without a confirm 0.171 s" in text
    assert "PASS election-loses-nothing: 0 of 21,400 confirmed messages were lost (`lost" in text
    (fail,) = [
        line
        for line in screen.lines
        if "WARNING NOT SEEN unnotified-consumer" in line and ":" in line
    ]
    assert "Source: “RabbitMQ之镜像队列”" in fail
    assert "first delivery of a new message after 0.161 s" in fail
    assert "expected in this cell" in fail


def test_a_run_says_which_version_its_brokers_reported() -> None:
    screen = Screen()
    screen.report(report(run(Story(), brokers="rabbitmq 3.10.8")))
    assert "  version of the brokers: rabbitmq 3.10.8" in screen.lines


def test_a_warning_that_was_not_seen_is_short_without_all() -> None:
    screen = Screen()
    screen.report(report(run(Story())))
    first = next(index for index, line in enumerate(screen.lines) if "NOT SEEN unnot" in line)
    head, warning, seen, known = screen.lines[first : first + 4]
    assert head.endswith("unnotified-consumer-waits-forever, expected in this cell")
    assert warning.startswith("    warning: Without x-cancel-on-ha-failover")
    assert seen.startswith("    seen: fault 1: ")
    assert "`" not in seen
    assert known.startswith("    known: ")
    unseen = next(one for one in run(Story()).verdicts if one.warns and "FAIL" in one.outcome)
    text = unseen_lines(
        replace(unseen, reasons=(Reason(Why("unknown"), window=2),)), InCell("expected")
    )
    assert text.endswith("\nnot judged: fault 2: unknown")


def test_headline_of_the_report_stands_on_the_terminal(tmp_path: Path) -> None:
    screen, shown = Screen(), page_of(judged_run(tmp_path, crash()))
    screen.report(shown)
    assert headline_of(shown) in screen.lines


def test_claims_that_held_share_a_line_and_routes_are_counted() -> None:
    routes = (Observation(ROUTE_CHANGE, 0, True, "name server rkt1 dropped broker-a master"),) * 3
    made = run(Story(), observations=routes)
    screen, whole = Screen(), Screen(whole=True)
    screen.report(report(made))
    whole.report(report(made))
    assert any(line.startswith("  PASS, 17 claims: ") for line in screen.lines)
    assert [line.count("election-loses-nothing") for line in screen.lines].count(1) == 1
    assert "  3 changes of routes and roles observed (--all lists them)" in screen.lines
    assert not [line for line in screen.lines if "dropped" in line]
    assert len([line for line in whole.lines if "dropped" in line]) == 3
    assert len(screen.lines) < len(whole.lines) / 3


def test_an_unjudged_run_is_reported_with_its_reason() -> None:
    screen = Screen()
    screen.report(report(run(Story(), verdicts=(), failure="the cluster did not come up")))
    assert "not judged: the cluster did not come up" in screen.lines
    assert not [line for line in screen.lines if line.startswith("claim ")]
    assert "claims: none was judged; 1 of 1 run not judged" in screen.lines[-3]
    assert "(exit code 2: neither passed nor failed)" in screen.lines[-3]


def test_unjudged_runs_of_one_reason_are_reported_together() -> None:
    names = ["master-crash-2-cafe", "master-crash-3-beef"]
    never = [
        run(Story(), name, verdicts=(), observations=(), failure="it never began")
        for name in names
    ]
    alone = "the cluster did not come up"
    other = run(Story(), "master-crash-4-feed", verdicts=(), observations=(), failure=alone)
    screen = Screen()
    screen.report(report(run(Story()), *never, other))
    (heading,) = [line for line in screen.lines if "it never began" in line]
    assert heading.startswith("2 runs not judged: it never began")
    assert ", ".join(names) in screen.lines
    assert "not judged: the cluster did not come up" in screen.lines


def test_tables_have_a_column_a_cell_and_a_legend() -> None:
    screen = Screen(whole=True)
    other = run(Story().count("lost", "replicated", 2), "master-crash-2-cafe", cell=OTHER)
    screen.report(report(run(Story()), other, skipped=(SKIPPED,)))
    assert "A: master-crash on rabbitmq-mirrored all-automatic@T=10 with pika" in screen.lines
    assert "B: master-crash on rabbitmq-mirrored exactly-2@T=10 with pika" in screen.lines
    rows = {line.split()[0]: line.split()[1:] for line in screen.lines if line.strip()}
    assert rows["election-loses-nothing"] == ["PASS", "FAIL"]
    assert rows["notified-consumer-is-cancelled"] == ["n/a", "n/a"]
    broken, held = [*rows].index("election-loses-nothing"), [*rows].index("nothing-corrupt")
    assert broken < held
    assert any(line.startswith("NOT APPLICABLE mirror-crash on") for line in screen.lines)


def test_not_applicable_claims_are_one_line_unless_all_is_requested() -> None:
    screen, one = Screen(), run(Story())
    screen.report(report(one))
    left = f"{len(one.verdicts) - 18} more claims do not apply (--all lists each with its reason)"
    assert left in screen.lines
    assert not [line for line in screen.lines if "notified-consumer-is-cancelled" in line]
    whole = Screen(whole=True)
    whole.report(report(run(Story())))
    assert left not in whole.lines
    table, said = (line for line in whole.lines if "notified-consumer-is-cancelled" in line)
    assert table.split()[1:] == ["n/a"]
    assert "NOT APPLICABLE notified-consumer-is-cancelled: " in said


def test_not_applicable_cells_are_one_line_unless_all_is_requested() -> None:
    others = tuple(replace(SKIPPED, cell=(f"crash-{n}", *SKIPPED.cell[1:])) for n in range(80))
    screen, whole = Screen(), Screen(whole=True)
    screen.report(report(run(Story()), skipped=others))
    whole.report(report(run(Story()), skipped=others))
    message = "NOT APPLICABLE: 80 more cells do not apply (--all lists each with its reason)"
    assert [line for line in screen.lines if "crash-" in line and "NOT" in line] == []
    assert message in screen.lines
    assert message not in whole.lines
    assert sum(line.startswith("NOT APPLICABLE crash-") for line in whole.lines) == 80


def test_table_has_no_row_for_a_claim_without_runs() -> None:
    elsewhere = [
        run(Story(), f"run-{n}", cell=(f"scenario-{n}", *CELL[1:])) for n in range(COLUMNS_MAX)
    ]
    known, *_ = run(Story()).verdicts
    only = replace(known, claim="only-here", outcome=ClaimOutcome.FAIL)
    alone = replace(elsewhere[0], cell=OTHER, verdicts=(only,))
    screen = Screen()
    screen.report(report(*elsewhere, alone))
    rows = [line for line in screen.lines if line.startswith("only-here")]
    assert len(rows) == 1
    heads = [line for line in screen.lines if line.startswith("claim ")]
    assert len(heads) == 2
    after = screen.lines[screen.lines.index(heads[1]) + 1 :]
    assert after[0].startswith("only-here")


def test_measures_that_are_0_everywhere_are_named_in_one_line() -> None:
    rows = [compared(CELL, name, 0, unit="messages") for name in ("lost", "stranded")]
    screen = Screen()
    screen.report(report(run(Story()), comparison=(*rows, compared(CELL, "silence", 1e9))))
    assert "0 in every run that could be judged: lost; stranded" in screen.lines
    assert not [line for line in screen.lines if line.startswith("stranded")]


def test_each_cell_reports_run_counts_and_confidence_intervals() -> None:
    screen = Screen()
    runs = [summed(Story(), repeat=number) for number in range(1, 10)]
    lossy = summed(Story().count("lost", "replicated", 2), repeat=10)
    screen.report(page_of(*runs, lossy))
    assert "   lost in 1 of 10 runs (95 % CI: 0.25 to 45 %)" in screen.lines
    assert "   confirmed-stays: violated in 1 of 10 runs (95 % CI: 0.25 to 45 %)" in screen.lines


def test_mostly_unjudged_cell_says_so_first() -> None:
    """Say first that more than a fifth of the runs was not judged."""
    screen = Screen()
    judged = [summed(Story(), repeat=number) for number in (1, 2, 3)]
    screen.report(page_of(*judged, run(Story(), verdicts=(), failure="no cluster")))
    at = screen.lines.index("   1 of 4 runs could not be judged")
    assert screen.lines[at + 1] == "   lost in 0 of 3 runs (95 % one-sided bound: at most 63 %)"


def test_the_comparison_shows_median_range_and_how_many_were_judged() -> None:
    rows = (
        compared(CELL, "silence", 171e6),
        compared(OTHER, "silence", 2e9, judged=4, bounds=1),
        compared(CELL, "lost", 0, unit="messages"),
        compared(OTHER, "lost", None, unit="messages", judged=0),
    )
    screen = Screen()
    both = (run(Story()), run(Story(), "two", cell=OTHER))
    screen.report(report(*both, comparison=rows))
    text = screen.paper.getvalue()
    assert "0.171 s (0.086 s to 0.342 s, 5 of 5)" in text
    assert ">= 2.00 s (1.00 s to >= 4.00 s, 4 of 5)" in text
    assert "not decided in any of 5 runs" in text


def test_duplicates_without_a_decided_cause_stand_once() -> None:
    rows = (
        compared(CELL, "acknowledged_late", 2, unit="deliveries"),
        compared(CELL, "duplicated", 2, unit="deliveries", detail="ambiguous"),
    )
    made = report(run(Story()), comparison=rows)
    screen = Screen()
    screen.report(made)
    text = screen.paper.getvalue()
    assert "delivered more than once: cause not decided" in text
    assert "perhaps acknowledged too late" not in text
    assert [row.measure for row in applicable(made)] == ["duplicated"]


SHORT = "it was shorter than a check of 3.5 s (it lasted 0.05 s), and a proxy counts none"


def test_reason_that_one_fault_leaves_open_is_printed_once() -> None:
    screen = Screen()
    done = run(Story().unverified(SHORT))
    rows = (
        compared(CELL, "lost", None, unit="messages", judged=0),
        compared(CELL, "silence", None, judged=0),
    )
    screen.display.verdicts(report(done, comparison=rows))
    assert sum("the same reason" in line for line in screen.lines) >= 5
    of_loss = [line for line in screen.lines if line.lstrip().startswith("lost >= 0")]
    assert SHORT in of_loss[0]
    assert "not judged in any run: lost; longest time without a confirm" in screen.lines
    assert any("confirmed-is-delivered" in one for one in screen.lines)
    assert not any(line.endswith("INCONCLUSIVE") for line in screen.lines)


def test_of_several_runs_a_claim_that_always_holds_is_named_once() -> None:
    screen = Screen()
    screen.report(report(run(Story()), run(Story(), name="master-crash-2-beef", repeat=2)))
    found = [line for line in screen.lines if "election-loses-nothing" in line]
    assert [line.partition(":")[0] for line in found] == ["PASS wherever they apply"]


def test_a_report_by_claims_is_silent_on_missing_expectations() -> None:
    verdict = run(Story()).verdicts[0]
    assert standing_of(verdict, run(Story()), replace(report(), cells=())) == NOT_COMPARED
    new = Deviation("a", "PASS, no expectation covers it")
    result = CellResult(CELL, Standing.NEW, (new,), {})
    assert not list(cell_lines(replace(report(), cells=(result,), judge=Judge.CLAIMS)))


def test_claims_with_the_same_expectation_status_share_one_text() -> None:
    new, differs = "PASS, no expectation covers it", "FAIL, expected PASS"
    found = (
        ("a", new),
        ("b", differs),
        ("c", new),
        ("", "no expectation covers this cell: b FAIL"),
    )
    result = CellResult(CELL, Standing.NEW, tuple(starmap(Deviation, found)), {})
    (text,) = cell_lines(replace(report(), cells=(result,), judge=Judge.EXPECTATIONS))
    assert text.splitlines()[1:] == [
        "PASS, no expectation covers it: a, c",
        "FAIL, expected PASS: b",
        "no expectation covers this cell: b FAIL",
    ]


@pytest.mark.parametrize(
    ("median", "bounds", "text"),
    [(1e6, 5, "not measured"), (1e6, 4, ">= 0.001 s"), (2e9, 5, ">= 2.00 s")],
)
def test_a_bound_near_zero_of_all_runs_is_not_measured(
    median: float, bounds: int, text: str
) -> None:
    assert comparison_text(compared(CELL, "degraded", median, bounds=bounds)).startswith(text)


def test_a_range_of_bounds_alone_is_marked_at_both_ends() -> None:
    ends = {"minimum": 1e9, "maximum": 4e9, "runs": 3, "judged": 3}
    text = comparison_text(compared(CELL, "silence", 2e9, **ends, bounds=3))
    assert text == ">= 2.00 s (>= 1.00 s to >= 4.00 s, 3 of 3)"


def test_median_has_its_interval_and_an_open_one_says_so() -> None:
    ends = {"median_from": 1.5e9, "runs": 9, "judged": 9}
    rows = (
        compared(CELL, "silence", 2e9, **ends, median_until=2.5e9),
        compared(OTHER, "silence", 2e9, **ends, bounds=3),
    )
    screen = Screen()
    both = (run(Story()), run(Story(), "two", cell=OTHER))
    screen.report(report(*both, comparison=rows))
    text = screen.paper.getvalue()
    assert "  2.00 s [1.50 s to 2.50 s] (9 of 9)" in text
    assert "  >= 2.00 s [1.50 s or more] (9 of 9)" in text


def test_hundreds_of_cells_print_one_line_each_and_a_summary() -> None:
    runs = [
        run(Story(), name=f"run-{number}", cell=(f"scenario-{number}", *CELL[1:]))
        for number in range(CELLS_MAX + 1)
    ]
    runs[3] = replace(runs[3], verdicts=(), failure="no cluster")
    screen = Screen()
    screen.report(report(*runs, skipped=(SKIPPED,)))
    assert len(screen.lines) < CELLS_MAX + 12
    printed = "\n".join(screen.lines)
    assert (
        "NOT JUDGED 4: scenario-3 on rabbitmq-mirrored all-automatic@T=10 with pika: " in printed
    )
    assert "no cluster (0 of 1 run judged)" in printed
    assert "NOT APPLICABLE: 1 more cells" in printed
    assert screen.lines[-1].startswith("replay: ")


def test_second_line_of_foreign_text_is_indented() -> None:
    screen = Screen()
    screen.display.message("a broker said: no\nverdict: passed (exit code 0)")
    assert screen.lines == ["a broker said: no", "    verdict: passed (exit code 0)"]


def test_every_way_to_the_terminal_escapes_what_comes_from_outside() -> None:
    evil = "rmq1\x1b[2J\u202e\u200b\udcff"
    screen = Screen(whole=True)
    screen.display.step_began(f"start {evil}", None)
    screen.display.step_ended(1.0)
    screen.display.live(replace(VIEW, armed=(evil,)))
    made = run(Story(), verdicts=(), failure=evil, notes=(evil,), name=evil)
    screen.report(report(made, replay=evil), [Path(evil)])
    printed = screen.paper.getvalue()
    assert printed.count(r"rmq1\x1b[2J\u202e\u200b\udcff") >= 7
    assert printed.encode() and visible(printed) == printed


def test_run_with_an_outage_says_where_logs_of_brokers_are() -> None:
    def hints(story: Story) -> list[str]:
        screen = Screen()
        screen.display.verdicts(report(summed(story)))
        return [line for line in screen.lines if "logs: " in line]

    where = "  look for the cause in the brokers' logs: runs/master-crash-1-beef/broker_logs/"
    assert hints(Story().outage(12, 15)) == [where]
    assert hints(Story()) == []
