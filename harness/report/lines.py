"""Verdicts as lines: what was judged, what was not and why, what to do.

1. A FAIL names the claim, its source, one story, and whether expected in this cell.
2. A line stands by itself: it can be quoted without the table above it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from harness.claims.articles import Article, article_of
from harness.claims.judge import VERDICT_WORDS, ClaimOutcome, ClaimVerdict
from harness.compare.expectations import Deviation, Known, Standing
from harness.judging import brought_claims
from harness.judging.exits import Exit, Judge
from harness.judging.result import ClaimsFile, Report, RunReport
from harness.plan.model import Cell
from harness.report.page.formats import plural
from harness.systems.registry import registry
from harness.view.grouping import by_key

_URGENCY = (  # of promises, and of others
    (True, ClaimOutcome.FAIL),
    (True, ClaimOutcome.INCONCLUSIVE),
    (False, ClaimOutcome.PASS),
    (False, ClaimOutcome.INCONCLUSIVE),
    (False, ClaimOutcome.FAIL),
    (True, ClaimOutcome.PASS),
    (True, ClaimOutcome.NOT_APPLICABLE),
    (False, ClaimOutcome.NOT_APPLICABLE),
)
_MEANING = {
    Exit.PASSED: "passed",
    Exit.FAILED: "failed",
    Exit.NOT_DECIDED: "not decided",
    Exit.INTERRUPTED: "interrupted",
    Exit.BAD_INPUT: "not decided, because a run was refused as bad input",
    Exit.CRASH: "not decided, because of a defect of mqproof itself",
}

NO_COMPARISON = "expectations not decided"
WARNINGS_MAX = 3  # named in the verdict line
_EXPECTED = "expected in this cell"


class InCell(NamedTuple):
    """What is known of a cell about a verdict. `expected`: whether the cell is known to have this
    verdict; None: nothing is known, or the verdict decides nothing."""

    text: str = ""
    expected: bool | None = None

    @property
    def is_known(self) -> bool:
        """Return whether the cell is known to have this verdict."""
        return self.expected is True


NOT_COMPARED = InCell()


def cell_name(cell: Cell) -> str:
    """`master-crash on rabbitmq-mirrored all-automatic@T=10 with pika`."""
    scenario, system, layout, client = cell
    return f"{scenario} on {system} {layout} with {client}"


def verdict_line(verdict: ClaimVerdict, standing: InCell = NOT_COMPARED) -> str:
    """One claim of one run. `standing`: what is known of this cell about it."""
    text = "; ".join(verdict.not_judged)
    if verdict.outcome is ClaimOutcome.PASS:
        text = "; ".join(verdict.judged)
    elif verdict.outcome is ClaimOutcome.FAIL:
        text = _fail(verdict, standing.text)
    elif verdict.outcome is ClaimOutcome.INCONCLUSIVE:
        text += f"; judged: {'; '.join(verdict.judged)}" if verdict.judged else ""
        known = standing.is_known
        advice = to_do(verdict.advice, expected=known, standing=standing.text if known else "")
        text += f". {advice}" if advice else ""
    return f"{verdict.word} {verdict.claim}: {text}"


def to_do(advice: Iterable[str], *, expected: bool, standing: str = "") -> str:
    """Return `To do: run it again …`; "" without advice. `expected`: this cell is known to have
    this verdict, so that there is no need to act. `standing`: the same in words, if there are more
    than these."""
    text = "; ".join(advice)
    if not text:
        return ""
    if expected:
        return f"This verdict is {standing or _EXPECTED}. To decide the claim nevertheless: {text}"
    return f"To do: {text}"


def by_urgency(verdicts: Iterable[ClaimVerdict]) -> list[ClaimVerdict]:
    """What was broken first, then what could not be judged, then the harm that warnings foretold;
    what does not apply last. Of equals as the claims stand."""
    return sorted(verdicts, key=lambda one: _URGENCY.index((one.is_promise, one.outcome)))


def standing_of(verdict: ClaimVerdict, run: RunReport, report: Report) -> InCell:
    """Whether this cell is known to do what it did about this claim."""
    if report.result_of(run.cell) is None:
        return NOT_COMPARED
    expected = report.known_of(run.cell, verdict.claim)
    if expected is None:
        return InCell("new: no expectation covers it")
    if expected.allows(verdict.outcome):
        others = tuple(one for one in expected.outcomes if one is not verdict.outcome)
        also = f", as is {Known(others).describe(warns=verdict.warns)}" if others else ""
        return InCell(f"{_EXPECTED}{also}", expected=True)
    wanted = expected.describe(warns=verdict.warns)
    if verdict.outcome is ClaimOutcome.INCONCLUSIVE:
        return InCell(f"not decided here, expected {wanted}")
    text = f"unexpected in this cell: expected {wanted}, found {verdict.word}"
    return InCell(text, expected=False)


def skipped_lines(report: Report, whole: bool = False) -> Iterator[str]:
    """The cells that were asked for and cannot be; several are one line, but in the `whole`."""
    if len(report.skipped) > 1 and not whole:
        cells = f"{len(report.skipped)} more cells do not apply"
        yield f"{ClaimOutcome.NOT_APPLICABLE}: {cells} (--all lists each with its reason)"
        return
    for skip in report.skipped:
        yield f"{ClaimOutcome.NOT_APPLICABLE} {cell_name(skip.cell)}: {skip.reason}"


def cell_lines(report: Report) -> Iterator[str]:
    """Yield a text a cell: how it stands to its expectations, and a line for each deviation.
    `--judge claims`: only what contradicts an expectation; the other claims stand above."""
    for result in report.cells:
        found = result.deviations
        if report.judge is Judge.CLAIMS:
            found = tuple(one for one in found if one.claim in result.known)
        if found or report.judge is not Judge.CLAIMS:
            head = f"{_word(result.standing)}: {cell_name(result.cell)}"
            yield "\n".join([head, *_alike(found)])


def _word(standing: Standing) -> str:
    """Return it as people read it: most claims of a cell that is `not judged` may be decided."""
    return NO_COMPARISON if standing is Standing.NOT_JUDGED else standing.value


def _alike(deviations: Iterable[Deviation]) -> Iterator[str]:
    """Yield what claims have in common: `PASS, …: a, b` of `a: PASS, …` and `b: PASS, …`."""
    for text, found in by_key(deviations, lambda one: one.text).items():
        names = ", ".join(one.claim for one in found if one.claim)
        yield f"{text}: {names}" if names else text


def last_lines(report: Report, files: Iterable[Path] = ()) -> list[str]:
    """Verdict, results folder, what to open in it, the command that replays it."""
    neither = ": neither passed nor failed" if report.exit_code is Exit.NOT_DECIDED else ""
    return [
        f"verdict: {_verdict(report)} (exit code {report.exit_code}{neither})",
        f"results: {report.folder}",
        *(f"  {path.name}: {path}" for path in files),
        *claims_lines(report.claims_files),
        f"replay: {report.replay}",
    ]


def claims_lines(files: Iterable[ClaimsFile]) -> list[str]:
    """Return `claims file own.toml: back-in-time, loses-nothing` for each file of own claims."""
    return [f"claims file {one.file}: {', '.join(one.claims)}" for one in files]


def _verdict(report: Report) -> str:
    code = report.exit_code
    if report.judge is Judge.EXPECTATIONS and code is not Exit.INTERRUPTED:
        standings = [result.standing for result in report.cells]
        counts = [f"{standings.count(one)} {_word(one)}" for one in Standing if one in standings]
        cells = f"cells: {', '.join(counts) or 'none was judged'}"
        return f"{'as expected' if code is Exit.PASSED else _MEANING[code]}, {cells}"
    found = counted_text(run.verdicts for run in report.runs)
    summary = f"{_MEANING[code]}, {_counted(report)}: {found}"
    unjudged = sum(1 for run in report.runs if not run.verdicts)
    of = f"; {unjudged} of {plural(len(report.runs), 'run')} not judged"
    return f"{summary}{of if unjudged else ''}{_came_true(report)}"


def _came_true(report: Report) -> str:
    """Return `; harm that a warning predicted occurred: order-breaks (2 of 2 runs)`; "" if none
    came true."""
    judged = sum(1 for run in report.runs if run.verdicts)
    found = Counter(one.claim for run in report.runs for one in run.verdicts if one.came_true)
    places = [f"{claim} ({runs} of {plural(judged, 'run')})" for claim, runs in found.items()]
    more = len(places) - WARNINGS_MAX
    names = [*places[:WARNINGS_MAX], *([f"{more} more"] if more > 0 else [])]
    return f"; harm that a warning predicted occurred: {', '.join(names)}" if names else ""


def expected_lines(report: Report) -> Iterator[str]:
    """Yield why the exit code is that of NOT DECIDED though every cell is as expected. Of a cell
    that was not compared nothing is known."""
    standings = {result.standing for result in report.cells}
    verdicts = [one for run in report.runs for one in run.verdicts if one.is_promise]
    if (
        report.judge is Judge.CLAIMS
        and report.exit_code is Exit.NOT_DECIDED
        and standings == {Standing.AS_EXPECTED}
        and all(report.result_of(run.cell) for run in report.runs)
        and any(one.outcome is ClaimOutcome.INCONCLUSIVE for one in verdicts)
    ):
        code = int(Exit.NOT_DECIDED)
        yield (
            f"every verdict is as expected, but a promise is INCONCLUSIVE: with `--judge claims` "
            f"the exit code is {code} all the same, with `--judge expectations` it is 0"
        )


def counted_text(runs: Iterable[Iterable[ClaimVerdict]]) -> str:
    """Return `2 FAIL, 3 PASS`: the verdicts of all runs, the gravest first."""
    words = Counter(verdict.word for verdicts in runs for verdict in verdicts)
    counts = [f"{words[word]} {word}" for word in VERDICT_WORDS if words[word]]
    return ", ".join(counts) or "none was judged"


def _counted(report: Report) -> str:
    """Return what the counts of verdicts count: `claims` of one run, `184 verdicts (92 claims in 2
    runs)` of several."""
    judged = [run.verdicts for run in report.runs if run.verdicts]
    if len(judged) < 2:
        return "claims"
    claims = {verdict.claim for verdicts in judged for verdict in verdicts}
    places = f"{plural(len(claims), 'claim')} in {plural(len(judged), 'run')}"
    return f"{plural(sum(map(len, judged)), 'verdict')} ({places})"


@cache
def _articles() -> dict[str, Article]:
    return {article.name: article for article in brought_claims.articles()}


def source_text(source: str) -> str:
    """Return who claims it: an article by its title and section, without an address. Other sources
    are words already."""
    article = _articles().get(article_of(source))
    return source if article is None else article.cited(source)


def _fail(verdict: ClaimVerdict, standing: str) -> str:
    said = verdict.meaning
    if verdict.sentence != verdict.meaning:
        said = f"{verdict.meaning.rstrip('.')} ({verdict.sentence})"
    not_judged = f"not judged: {'; '.join(verdict.not_judged)}" if verdict.not_judged else ""
    known = f"known: {verdict.known}" if verdict.known else ""
    claimed = f"Claim: {said.rstrip('.')}. Source: {source_text(verdict.source)}"
    parts = ("; ".join(verdict.judged), claimed, verdict.story, standing, known, not_judged)
    return ". ".join(part.rstrip(".") for part in parts if part)


NONE = "none"  # what a broker reports that lacks a part, such as Erlang
_OWN_VERSION = "version of the brokers"
_OF_PROTOCOL = "protocol that the Python brokers speak"  # it is no version of what they imitate
_PACKAGES = ("docker", "toxiproxy-python")  # of Python, called as other programs are
_OF_AGENT = "agent "  # a name of the manifest: `agent pika`


def unseen_lines(verdict: ClaimVerdict, standing: InCell) -> str:
    """Return a warning whose harm did not occur: the claim, what was seen instead, what is known
    and what was not judged. Its source and the times of the fault stand elsewhere."""
    seen = "; ".join(verdict.seen)
    known = [f"known: {verdict.known}"] if verdict.known else []
    not_judged = [f"not judged: {'; '.join(verdict.not_judged)}"] if verdict.not_judged else []
    head = f"{verdict.word} {verdict.claim}, {standing.text}"
    return "\n".join([head, f"warning: {verdict.meaning}", f"seen: {seen}", *known, *not_judged])


def of_brokers(system: str) -> str:
    """Return whose version brokers of a system report: their own, or that of their protocol."""
    return _OF_PROTOCOL if _imitates(system) else _OWN_VERSION


def versions(report: Report) -> Iterator[tuple[str, str]]:
    """Yield each name and version, by name: `rabbitmq`, `none; Python brokers speak …`."""
    real, imitated = set[str](), set[str]()
    for system in {run.cell[1] for run in report.runs}:
        if name := _versioned_as(system):
            (imitated if _imitates(system) else real).add(name)
    found = {name: text for name, text in report.versions.items() if text != NONE}
    for name, text in sorted(found.items()):
        if name.startswith(_OF_AGENT):
            package = name.removeprefix(_OF_AGENT)
            yield f"{package} (of mqproof's agent, which queries the brokers)", text
        elif name in _PACKAGES:
            yield f"{name} (Python package)", text
        elif name not in imitated:
            yield name, text
        elif name in real:
            yield (
                name,
                _apart(report, name) or f"{text} (brokers; Python brokers speak its protocol)",
            )
        else:
            yield name, f"none; Python brokers speak the protocol of {text}"


def _apart(report: Report, name: str) -> str:
    """Return the versions of brokers, and those whose protocol Python brokers speak; "" if they
    do not differ, or one is unknown."""
    runs = [run for run in report.runs if _versioned_as(run.cell[1]) == name]
    sides = by_key(filter(attrgetter("broker_version"), runs), lambda run: _imitates(run.cell[1]))
    own, imitated = (
        "; ".join(dict.fromkeys(run.broker_version for run in sides.get(side, ())))
        for side in (False, True)
    )
    if not own or not imitated or own == imitated:
        return ""
    return f"{own} (brokers); {imitated} (protocol that the Python brokers speak)"


def _versioned_as(system: str) -> str | None:
    known = registry().systems.get(system)
    return known.versioned_as if known is not None else None


def _imitates(system: str) -> bool:
    known = registry().systems.get(system)
    # Only our own nodes can be asked to misbehave, and these imitate a broker.
    return known is not None and bool(known.misbehaves)
