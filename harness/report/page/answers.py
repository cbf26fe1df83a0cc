"""The first screen: a headline and four answers, for somebody who knows none of the brokers.

1. Which promise was broken, were messages lost, how long was it out, are faults verified and
   logs complete: always these four, in this order, answered even if the answer is "unknown".
2. A claim that fails where it is known to fail comes after the unexpected ones.
3. A claim that predicts harm and fails is a warning that did not come true: no promise was broken.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.claims.judge import ClaimOutcome
from harness.judging.exits import Exit, Judge
from harness.judging.result import Report
from harness.plan.model import Cell
from harness.report.lines import to_do
from harness.report.page import formats, outs
from harness.report.page.columns import labels
from harness.report.page.places import listed
from harness.report.page.totals import Failed, RunTotals, loss_rate, often_text
from harness.report.tried import undecided

CLAIMS_MAX = 2  # quoted
FOUND_MAX = 3  # values of a warning that came true, one a run
REASONS_MAX, NAMES_MAX = 4, 6  # of what is not decided
PLACES_MAX = 5  # cells called by their names


class PageAnswer(NamedTuple):
    """`tone`: fail, open, pass or plain."""

    question: str
    value: str
    tone: str
    lines: tuple[str, ...]


class OpenLine(NamedTuple):
    """Why claims are not decided, or what else is not. Pages link each of `claims`."""

    before: str
    claims: tuple[str, ...] = ()
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{listed(self.claims) if self.claims else ''}{self.after}"


class FirstScreen(NamedTuple):
    tone: str
    badge: str
    headline: str
    lead: str
    answers: tuple[PageAnswer, ...]
    broken: tuple[str, ...] = ()  # promises, quoted, and where
    undecided: tuple[OpenLine, ...] = ()  # why it is NOT DECIDED, and by which claims


def first_screen(report: Report, total: RunTotals) -> FirstScreen:
    """What a report says before anybody scrolls. `total`: of all its runs."""
    tone, badge = _badge(report)
    four = (_which(report, total), _lost(report, total), _out(report, total), _proved(total))
    is_open = report.exit_code in (Exit.NOT_DECIDED, Exit.BAD_INPUT)
    refused = (OpenLine(str(one)) for one in report.refused)
    lines = (*refused, *_undecided(report)) if is_open else ()
    head, lead, broken = _headline(report, total), _lead(report, total), _quotes(report, total)
    return FirstScreen(tone, badge, head, lead, four, tuple(broken), lines)


def _undecided(report: Report) -> Iterator[OpenLine]:
    """Yield a line for each reason: the claims that it keeps open, and what to do."""
    groups = list(undecided(report))
    several = len({run.cell for run in report.runs}) > 1
    for one in groups[:REASONS_MAX]:
        runs = formats.plural(one.runs, "run")
        shown = tuple(one.claims[:NAMES_MAX])
        more = len(one.claims) - len(shown)
        what = "" if shown else runs
        what = f" and {more} more" if more > 0 else what
        places = [f"in {runs}"] if one.claims and one.runs > 1 else []
        places += [f"in {_places(report, one.cells)}"] if several else []
        where = f" ({', '.join(places)})" if places else ""
        advice = to_do(one.advice, expected=one.expected)
        why = ". ".join(filter(None, ("; ".join(one.reasons), advice)))
        yield OpenLine("warning " if one.warns else "", shown, f"{what}{where}: {why}.")
    if len(groups) > REASONS_MAX:
        yield OpenLine(f"{len(groups) - REASONS_MAX} more reasons are below, with the claims.")


def _badge(report: Report) -> tuple[str, str]:
    expecting = report.judge is Judge.EXPECTATIONS
    return {
        Exit.INTERRUPTED: ("open", "INTERRUPTED"),
        Exit.PASSED: ("pass", "AS EXPECTED" if expecting else "PASSED"),
        Exit.FAILED: ("fail", "NOT AS EXPECTED" if expecting else "FAILED"),
    }.get(report.exit_code, ("open", "NOT DECIDED"))


def _headline(report: Report, total: RunTotals) -> str:
    if report.interrupted:
        return "The experiment was interrupted"
    if not total.judged:
        return "Nothing was judged"
    alone = len({run.cell[1:] for run in report.runs}) == 1  # of several, `it` is ambiguous
    tail = _did(total) if alone else []
    if not total.failed:
        kept = formats.kept(total.held)
        kept = kept if total.undecided else f"All {kept}"
        return "; ".join(filter(None, [kept, total.open_text, *_warned(total), *tail]))
    parts = ["No promise was broken", *filter(None, [total.open_text])]
    if total.broken:
        parts = [_broken(report, total)]
    parts += _warned(total)
    parts += [formats.untrue(len(total.unfulfilled))] if total.unfulfilled else []
    return "; ".join([*parts, *tail])


def _warned(total: RunTotals) -> list[str]:
    """Return `a warning came true in 2 of 2 runs: messages lose their order`; of several
    `2 warnings came true`. Empty: none did."""
    if len(total.came_true) != 1:
        number = len(total.came_true)
        return [f"{formats.plural(number, 'warning')} came true"] if number else []
    one = total.came_true[0]
    where = f" in {formats.of(one.runs, total.judged, 'run')}" if total.judged > 1 else ""
    if total.cells > 1:
        where = f" in {formats.of(len(one.cells), total.cells, 'cell')}"
    return [f"a warning came true{where}: {formats.clause(one.verdict.meaning)}"]


def _did(totals: RunTotals) -> list[str]:
    """Yield `it lost 37 confirmed messages and had at least 21.5 s of downtime`."""
    done = outs.lost_parts(totals, formats.plural(totals.lost, "confirmed message"))
    out = outs.out_text(totals, outs.AT_LEAST)
    worst = " in its worst run" if outs.has_several(totals) else ""
    done += [f"had {out} of downtime{worst}"] if totals.is_out else []
    return [f"it {listed(done)}"] if done else []


def _broken(report: Report, total: RunTotals) -> str:
    cells = {cell for one in total.broken for cell in one.cells}
    where = "" if total.cells == 1 else f" in {len(cells)} of {total.cells} cells"
    as_known = ", as expected" if all(known(report, one) for one in total.broken) else ""
    were = "was" if len(total.broken) == 1 else "were"
    return f"{formats.plural(len(total.broken), 'promise')} {were} broken{where}{as_known}"


def _lead(report: Report, total: RunTotals) -> str:
    if not total.judged:
        return f"{formats.plural(total.runs, 'run')} planned, none judged; the reasons are below."
    judged = formats.plural(total.judged, "run")
    if total.judged < total.runs:
        judged = formats.of(total.judged, total.runs, "run")
    confirmed = f"{formats.count(total.confirmed)} confirmed messages"
    lead = f"Judged: {judged} of {formats.plural(total.cells, 'cell')}, with {confirmed}."
    if report.judge is Judge.EXPECTATIONS:
        lead += " The badge says whether every cell behaves as known."
    return lead


def _which(report: Report, totals: RunTotals) -> PageAnswer:
    question = "Which promise was broken?"
    if not totals.judged:
        return PageAnswer(question, "unknown", "open", ("no run was judged",))
    undecided = formats.plural(totals.undecided, "promise")
    open_claims = f"{undecided} not decided" if totals.undecided else ""
    untrue = formats.untrue(len(totals.unfulfilled)) if totals.unfulfilled else ""
    warned = _came_true(report, totals)
    if not totals.broken:
        lines = _lines(formats.kept(totals.held), *warned, untrue, open_claims)
        value = "none proven" if totals.undecided else "none"
        return PageAnswer(question, value, "open" if lines[1:] else "pass", lines)
    value = f"{len(totals.broken)} of {len(totals.failed) + totals.held + totals.undecided}"
    lines = _lines(*_quotes(report, totals), *warned, untrue, open_claims)
    return PageAnswer(question, value, "fail", lines)


def _quotes(report: Report, totals: RunTotals) -> list[str]:
    """Return the promises that were broken, and where; those that are known to break come last."""
    ordered = sorted(totals.broken, key=lambda one: known(report, one))
    quoted = [_quote(report, one, totals) for one in ordered[:CLAIMS_MAX]]
    more = len(ordered) - CLAIMS_MAX
    return [*quoted, f"and {more} more, below"] if more > 0 else quoted


def _came_true(report: Report, totals: RunTotals) -> list[str]:
    """Return `a warning came true: “Messages lose …” (in 2 of 2 runs: 14 of 90; 37 of 90)`."""
    lines = []
    for one in totals.came_true[:CLAIMS_MAX]:
        place = formats.of(one.runs, totals.judged, "run") if totals.judged > 1 else "the run"
        place = f"in {_places(report, one.cells) if totals.cells > 1 else place}"
        shown = totals.cells == 1 and len(one.found) <= FOUND_MAX and all(one.found)
        numbers = f": {'; '.join(one.found)}" if shown else ""
        lines.append(f"a warning came true: “{one.verdict.meaning}” ({place}{numbers})")
    more = len(totals.came_true) - CLAIMS_MAX
    return [*lines, f"{formats.plural(more, 'more warning')} came true"] if more > 0 else lines


def _quote(report: Report, failed: Failed, totals: RunTotals) -> str:
    place = f"in {formats.of(failed.runs, totals.judged, 'run')}" if totals.judged > 1 else ""
    if totals.cells > 1:
        place = f"in {_places(report, failed.cells)}"
    as_known = "expected to fail there" if known(report, failed) else ""
    tail = ", ".join(part for part in (place, as_known) if part)
    return f"“{failed.verdict.meaning}”{f' ({tail})' if tail else ''}"


def _lost(report: Report, totals: RunTotals) -> PageAnswer:
    question = "Were messages lost?"
    if not totals.confirmed:
        why = "nothing was confirmed" if totals.judged else "no run was judged"
        return PageAnswer(question, "unknown", "open", (why,))
    undecided = totals.judged - totals.loss_decided_runs
    lines = [f"of {totals.for_groups(f'{formats.count(totals.confirmed)} confirmed')}"]
    if totals.loss_judged:
        lines.append(often_text(loss_rate(totals), "lost", totals))
    if totals.runs_with_loss and totals.cells > 1:
        lines.append(f"in {_places(report, totals.cells_with_loss)}")
    if totals.stranded:
        lines.append(f"{formats.count(totals.stranded)} stranded: only the audit found them")
    if undecided:
        lines.append(f"perhaps more: not decided in {formats.of(undecided, totals.judged, 'run')}")
    lines += filter(None, [outs.backlog_text(totals)])
    if totals.lost + totals.stranded:
        number = f"{'≥ ' if undecided else ''}{formats.count(totals.lost)} lost"
        return PageAnswer(question, number, "fail", tuple(lines))
    if undecided:
        return PageAnswer(question, "none found", "open", tuple(lines))
    return PageAnswer(question, "0 lost", "pass", tuple(lines))


def _out(report: Report, totals: RunTotals) -> PageAnswer:
    question = "How much downtime was there?"
    if not totals.judged:
        return PageAnswer(question, "unknown", "open", ("no run was judged",))
    if not totals.faults and totals.total_downtime is not None and not totals.is_out:
        return PageAnswer(question, "no fault", "plain", ("these runs break nothing",))
    unknown = totals.judged - totals.outage_decided_runs
    tail = f"not decided in {formats.of(unknown, totals.judged, 'run')}" if unknown else ""
    if totals.total_downtime is None:
        why = tail or "publishers ask for no confirms, and only confirms show it"
        return PageAnswer(question, "unknown", "open", (why,))
    lines = [outs.rate_text(totals) if totals.faults or totals.is_out else ""]
    lines += [outs.spread_text(totals)] if totals.cells == 1 else []
    if totals.is_out:
        where = f"longest in {_places(report, filter(None, [totals.out_cell]))}"
        lines += [_meaning(totals), where if totals.cells > 1 else ""]
    elif totals.silence is not None and totals.silence.maximum_s:
        lines.append(f"longest time without a confirm: {outs.silent_text(totals)}")
    tone = "pass" if totals.is_fine and totals.worst is None else "plain"
    if unknown:
        tone = "open"
    said = _lines(*lines, outs.worst_of_runs(totals), tail)
    value = outs.out_text(totals)
    value += " in the worst run" if totals.is_out and outs.has_several(totals) else ""
    return PageAnswer(question, value, tone, said)


def _meaning(totals: RunTotals) -> str:
    """What the number is made of; a bound is no length."""
    history = outs.history_text(totals)
    if totals.total_downtime is not None and totals.total_downtime.bound:
        why = totals.out_bound or "it is not decided"
        return f"or longer{history}: {why}"
    return f"all of it{history}" if history else ""


def _proved(totals: RunTotals) -> PageAnswer:
    question = "Faults verified, logs complete?"
    if not totals.judged:
        return PageAnswer(question, "no", "open", (totals.main_doubt or "no run was judged",))
    lines = [_seen(totals), _logs(totals)]
    if totals.whole and totals.recorded:
        return PageAnswer(question, "yes", "pass", _lines(*lines))
    loss = f"loss decided in {totals.loss_decided_runs} of {formats.plural(totals.runs, 'run')}"
    lines += [f"{loss}, outage in {totals.outage_decided_runs}"]
    lines += [f"not certain: {totals.main_doubt}"] if totals.doubts else []
    value = "in part" if (totals.faults_seen if totals.faults else totals.logs_closed) else "no"
    value = "yes" if totals.recorded else value
    return PageAnswer(question, value, "open", _lines(*lines))


def _logs(totals: RunTotals) -> str:
    if totals.logs_of == 1:
        return f"the log of the only client is {'' if totals.logs_closed else 'not '}complete"
    number = _all(totals.logs_closed, totals.logs_of)
    return f"{number} logs of publishers and consumers are complete"


def _seen(totals: RunTotals) -> str:
    if not totals.faults:
        return ""
    if totals.faults == 1:
        seen = "" if totals.faults_seen else "not "
        return f"the fault was {seen}verified from outside, at its beginning and its end"
    number = _all(totals.faults_seen, totals.faults)
    return f"{number} faults were verified from outside, at their beginning and their end"


def _all(number: int, of: int) -> str:
    if number < of:
        return f"{number} of {of}"
    return "both" if of == 2 else f"all {of}"


def known(report: Report, failed: Failed) -> bool:
    """Whether every cell in which this claim failed is known to fail it, if only now and then."""
    found = [report.known_of(cell, failed.verdict.claim) for cell in failed.cells]
    return all(one is not None and one.allows(ClaimOutcome.FAIL) for one in found)


def _places(report: Report, cells: Iterable[Cell]) -> str:
    """Return `cell 2`, `cells A1 and B1`, `9 cells`: as the page calls them."""
    wanted = frozenset(cells)
    names = [name for cell, name in labels(report).items() if cell in wanted]
    if len(names) > PLACES_MAX:
        return f"{len(names)} cells"
    return f"cell{'s' if len(names) > 1 else ''} {listed(names)}"


def _lines(*lines: str) -> tuple[str, ...]:
    return tuple(line for line in lines if line)
