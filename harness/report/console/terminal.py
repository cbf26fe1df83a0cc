"""What people see: a live display on a terminal, plain lines without one, tables at the end.

1. Every step shows its name, its seconds and the seconds that it was expected to take.
2. Without a terminal nothing is redrawn: a line a change of phase, and one every PLAIN_EVERY_S.
   The line of a phase under load waits RATES_WITHIN_S for the first rates of that phase.
3. It prints through the console that it was given; words in brackets are never markup, and what
   comes from outside commands nothing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.rule import Rule
from rich.text import Text

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.rates import BOUNDS_FROM, SHORT
from harness.judging.result import Report, RunReport
from harness.outside.text import one_line, visible
from harness.report import failing, lines
from harness.report.console import tables
from harness.report.console.live_panel import LivePanel, what_next
from harness.report.console.tables import grouped
from harness.report.page import formats, outs
from harness.report.page.answers import first_screen
from harness.report.page.cells import CellView, cells
from harness.report.page.columns import are_side_by_side
from harness.report.page.headline import headline
from harness.report.page.matrix import weight
from harness.report.page.measures import measure_title
from harness.report.page.outs import BOUND
from harness.report.page.places import VerdictView, places
from harness.report.page.totals import RunTotals, loss_rate
from harness.report.tried import rate_lines, reasons, tabulated
from harness.run.core.view import LiveCounts
from harness.view.grouping import by_key
from harness.view.observations import Observation
from harness.view.routes import SENTENCE as ROUTE_CHANGE

PLAIN_EVERY_S = 10.0
RATES_WITHIN_S = 3.0
CELLS_MAX = 24
THE_SAME = "the same reason"
_STYLES = {str(outcome): style for outcome, style in tables.STYLES.items()}


class Terminal:
    """A Display on a console. `close` ends the live part; it may be called again."""

    def __init__(self, console: Console, clock: Callable[[], float], whole: bool = False) -> None:
        """`whole`: every claim has a line, also one that holds or does not apply."""
        self._console = console
        self._whole = whole
        self._clock = clock
        # A terminal that cannot move its cursor would show nothing until the end.
        self._redraws = console.is_terminal and not console.is_dumb_terminal
        self._live: Live | None = None
        self._step = ""
        self._phase: tuple[str, str, tuple[str, ...]] = ("", "", ())
        self._printed_s = self._changed_s = float("-inf")
        self._held: LiveCounts | None = None  # a phase whose line waits for its rates

    def step_began(self, name: str, expected_s: float | None) -> None:
        self._release()
        self._step = one_line(name)
        if self._redraws:
            self._draw(_step_bar(self._step, expected_s))
        else:
            self._print(f"{self._step} ...{_expected(expected_s)}")

    def step_ended(self, seconds: float) -> None:
        self.close()
        self._print(f"{self._step}: {seconds:.1f} s")

    def live(self, view: LiveCounts) -> None:
        armed, waits = tuple(map(one_line, view.armed)), tuple(map(one_line, view.waits))
        view = replace(view, armed=armed, waits=waits)
        if self._redraws:
            self._draw(LivePanel(view))
            return
        now_s = self._clock()
        phase = (view.run, view.phase, view.armed)  # waits change every second
        if phase != self._phase:
            self._release()
            self._phase, self._changed_s, self._held = phase, now_s, view
        if self._held is not None:
            self._held = view
            if not view.awaits_rates or now_s - self._changed_s >= RATES_WITHIN_S:
                self._release()
                self._printed_s = now_s
        elif now_s - self._printed_s >= PLAIN_EVERY_S:
            self._printed_s = now_s
            self._print(live_line(view))

    def _release(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._print(live_line(held))

    def message(self, text: str) -> None:
        self._release()
        self._print(text)

    def close(self) -> None:
        self._release()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def verdicts(self, report: Report) -> None:
        """Tables, every run's lines, and the verdict.

        Of more than CELLS_MAX cells one line each: the rest is in the files.
        """
        self.close()
        if len({run.cell for run in report.runs}) > CELLS_MAX:
            self._overview(report)
        else:
            self._at_length(report)
        last = [headline_of(report), *lines.last_lines(report)[:1]]
        self._lines("result", [*last, *lines.expected_lines(report)])

    def files(self, report: Report, files: Sequence[Path]) -> None:
        """The last lines: files, replay."""
        for line in lines.last_lines(report, files)[1:]:
            self._print(line)

    def _overview(self, report: Report) -> None:
        shown = list(overview(report))
        interval = " (CI: confidence interval)" if any(SHORT in text for _, text in shown) else ""
        self._heading(f"cell by cell; the files below have every claim and every run{interval}")
        for word, sentence in shown:
            self._print(f"{word} {sentence}", _STYLES.get(word, "yellow"))
        self._failing(report)
        if report.skipped:
            self._print(f"NOT APPLICABLE: {len(report.skipped)} more cells", "dim")

    def _at_length(self, report: Report) -> None:
        self._lines("verdicts", tables.legend(report))
        for table in tables.verdict_tables(report, self._whole):
            self._console.print()
            self._console.print(table)
        if (text := tables.left_out(report)) and not self._whole:
            self._print(text, "dim")
        for outcome in (ClaimOutcome.INCONCLUSIVE, ClaimOutcome.PASS):
            # A single run's own lines name them.
            claims = tables.everywhere(report, outcome) if len(report.runs) > 1 else []
            if not self._whole and claims:
                text = f"{outcome} wherever they apply: {', '.join(claims)}"
                self._print(text, _STYLES[outcome])
        most = max((len(one.runs) for one in tabulated(report)), default=0)
        if most > 1:  # of a single run, its own lines say the same
            bounds = " (CI: confidence interval)" if most >= BOUNDS_FROM else ""
            self._lines(f"in how many runs{bounds}", list(rate_lines(report)))
        empty = by_key(filter(_is_empty, report.runs), lambda run: run.failure)
        many = {failure: runs for failure, runs in empty.items() if len(runs) > 1}
        for run in report.runs:
            if not (_is_empty(run) and run.failure in many):
                self._run(run, report)
        for failure, runs in many.items():
            self._heading(f"{len(runs)} runs not judged: {failure}")
            self._print(", ".join(run.name for run in runs), "yellow")
        if report.comparison:
            self._heading(
                "numbers: median (range, runs judged); from 6 runs on: median [its 95 % interval]"
            )
        for table in tables.comparison_tables(report) if report.comparison else ():
            self._console.print(table)
        for one in tabulated(report):
            if one.totals.out_bound:
                self._print(f"cell {one.label}: {BOUND} {one.totals.out_bound}")
        if zero := tables.nowhere(report):
            self._print(
                f"0 in every run that could be judged: {'; '.join(map(measure_title, zero))}"
            )
        if never := tables.unjudged(report):
            self._print(f"not judged in any run: {'; '.join(map(measure_title, never))}")
        self._failing(report)
        self._lines("not applicable", list(lines.skipped_lines(report, self._whole)))
        self._lines("compared with expectations", list(lines.cell_lines(report)))

    def _failing(self, report: Report) -> None:
        found = failing.table(report.runs)
        if found.rows:
            self._heading("failed sends by publisher")
            self._print(failing.MEANING, "dim")
        for table in tables.failing_tables(found.rows):
            self._console.print(table)
        if found.left_out:
            self._print(f"{found.left_out:,} more rows are in verdict.json", "dim")

    def _run(self, run: RunReport, report: Report) -> None:
        self._heading(f"{run.name}: {lines.cell_name(run.cell)}, repeat {run.repeat}")
        if run.failure:
            self._print(f"not judged: {run.failure}", "yellow")
        if run.brokers:
            self._print(f"  {lines.of_brokers(run.cell[1])}: {run.brokers}", "dim")
        for note in run.notes:
            self._print(f"  {note}", "dim")
        routes = [one for one in run.observations if one.name == ROUTE_CHANGE]
        for text, observation in _once(run):
            if self._whole or observation not in routes:
                self._print(f"  {text}", "" if observation.judged else "yellow")
        if routes and not self._whole:
            changes = formats.plural(len(routes), "change")
            self._print(f"  {changes} of routes and roles observed (--all lists them)", "dim")
        for outage in outs.outage_texts(run, outs.AT_LEAST):
            self._print(f"  {outage}", "yellow")
        if run.summary is not None and run.summary.faults_of and run.summary.out_s.least:
            self._print(f"  look for the cause in the brokers' logs: {outs.logs_of_brokers(run)}")

        def standing(verdict: ClaimVerdict) -> lines.InCell:
            return lines.standing_of(verdict, run, report)

        def line_of(verdict: ClaimVerdict) -> str:
            if verdict.warns and verdict.outcome is ClaimOutcome.FAIL and not self._whole:
                return lines.unseen_lines(verdict, standing(verdict))
            return lines.verdict_line(verdict, standing(verdict))

        every = [(line_of(one), one) for one in lines.by_urgency(run.verdicts)]
        listed = tables.everywhere(report, ClaimOutcome.PASS) if len(report.runs) > 1 else []
        rest = [one for one in run.verdicts if one.claim not in listed]
        for line, verdict in every if self._whole else grouped(rest, line_of, standing):
            self._print(f"  {line}", tables.style_of(verdict))

    def _lines(self, heading: str, texts: list[str]) -> None:
        if texts:
            self._heading(heading)
        for line in texts:
            self._print(line)

    def _heading(self, text: str) -> None:
        self._console.print()
        if text:
            title = escape(one_line(text))
            self._console.print(Rule(title, align="left", style="dim"))

    def _draw(self, what: RenderableType) -> None:
        if self._live is None:
            self._live = Live(console=self._console, transient=True, refresh_per_second=4)
            self._live.start()
        self._live.update(what)

    def _print(self, text: str, style: str = "") -> None:
        """What has several lines stands in from the second on: none of them passes for ours."""
        indented = visible(text.replace(formats.GLUE, " ")).replace("\n", "\n    ")
        self._console.print(Text(indented, style), soft_wrap=True)


def _is_empty(run: RunReport) -> bool:
    """Whether there is nothing to say of a run but why it was not judged."""
    return not (run.verdicts or run.observations or run.notes or run.brokers)


def _once(run: RunReport) -> Iterator[tuple[str, Observation]]:
    """What was observed; the reason for INCONCLUSIVE stands in full where it comes first."""
    open_claims = [one for one in run.verdicts if one.outcome is ClaimOutcome.INCONCLUSIVE]
    sentences = dict.fromkeys(reason for one in open_claims for reason in reasons(one))
    known: set[str] = set()
    for observation in run.observations:
        text = observation.text
        for sentence in sentences:
            if sentence in text:
                text = text.replace(sentence, THE_SAME) if sentence in known else text
                known.add(sentence)
        yield text, observation


def headline_of(report: Report) -> str:
    """Return the first sentence of report.html: who lost messages, or was unavailable."""
    if not are_side_by_side(report):
        return first_screen(report, RunTotals(report.runs)).headline
    scenarios = len({run.cell[0] for run in report.runs})
    return headline([VerdictView(one, scenarios) for one in places(report)])


def live_line(view: LiveCounts) -> str:
    """Return a line without columns; before the load begins and after it, without rates."""
    parts = [f"{view.run} {formats.phase_title(view.phase)}"]
    rates = view.rates
    if rates is not None:
        parts.append(f"{view.sends}, confirmed {rates.confirmed:,.0f}/s, {view.deliveries}")
    elif view.phase == "baseline":
        parts.append("the load begins")
    elif view.sends:
        parts.append(view.sends)
    parts += view.late_counts if rates is None else view.counts
    parts += [f"fault: {', '.join(view.armed)}"] if view.armed else []
    return " | ".join(parts) + what_next(view).replace(", ", " | ", 1)


def _expected(expected_s: float | None) -> str:
    return "" if expected_s is None else f" (about {expected_s:.0f} s on an idle machine)"


def _step_bar(name: str, expected_s: float | None) -> Progress:
    progress = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
    )
    progress.add_task(f"{name}{_expected(expected_s)}", total=None)
    return progress


def overview(report: Report) -> Iterator[tuple[str, str]]:
    """`FAIL`, `12: master-crash on …: 37 lost (5 runs; not as expected)`."""
    for view in cells(report):
        yield view.word, f"{view.label}: {view.name}: {_cell_line(view)}"


def _cell_line(view: CellView) -> str:
    totals = view.totals
    runs = formats.plural(totals.runs, "run")
    if totals.judged < totals.runs:
        runs = f"{totals.judged} of {runs} judged"
    if totals.loss_judged:
        runs = f"{runs}; {loss_rate(totals).brief('lost')}"
    known = f"; {view.standing}" if view.standing and totals.judged else ""
    why = "" if totals.judged else totals.main_doubt
    return f"{weight(totals) or why or 'not judged'} ({runs}{known})".replace("\u00a0", " ")
