"""What the runs of a cell come to together, tabulated once for every page, terminal and file; and
why claims could not be judged: a reason that many of them share is given once.

1. Each line says of how many runs it is; runs that could not be judged are never in them.
2. A cell in which more than a fifth of the runs could not be judged says so before anything else.
3. A reason is what stood in the way, without the condition that a claim asks. Runs whose reasons
   differ only in their number share one, with the range: `1 to 3 more …`.
4. Promises alone keep an experiment undecided; warnings come after them, and no claim about some
   cases comes at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.claims.values import Why
from harness.compare.rates import Tried, too_many
from harness.judging.result import Report, RunReport
from harness.plan.model import Cell
from harness.report.lines import cell_name, standing_of
from harness.report.page import formats
from harness.report.page.columns import labels
from harness.report.page.totals import ClaimOfCell, RunTotals, loss_rate
from harness.view.grouping import by_key


@dataclass(frozen=True, slots=True)
class CellTable:
    """`number`: of the cell, by the order of first runs; `label`: what pages call it."""

    number: int
    label: str
    cell: Cell
    runs: tuple[RunReport, ...]
    totals: RunTotals

    @property
    def claims(self) -> Mapping[str, ClaimOfCell]:
        return self.totals.claims


def tabulated(report: Report) -> tuple[CellTable, ...]:
    """Return the cells in the order of their first run."""
    by_cell, names = by_key(report.runs, lambda run: run.cell), labels(report)
    return tuple(
        CellTable(number, names[cell], cell, tuple(runs), RunTotals(runs))
        for number, (cell, runs) in enumerate(by_cell.items(), start=1)
    )


def unjudged_words(totals: RunTotals) -> str:
    """Of a cell, where it is more than a fifth; else nothing."""
    if not too_many(totals.unjudged, totals.runs):
        return ""
    return f"{formats.of(totals.unjudged, totals.runs, 'run')} could not be judged"


def rate_lines(report: Report) -> Iterator[str]:
    """What was lost, and which promises were broken, in how many runs of each cell."""
    for one in tabulated(report):
        lines = [unjudged_words(one.totals)]
        lines += [loss_rate(one.totals).brief("lost")] if one.totals.confirmed else []
        found = ((name, each.tried) for name, each in one.claims.items())
        shown = (each for each in found if each[1].rate.violated or each[1].mostly_unjudged)
        # What may be said of several claims alike is a line, with their names.
        for words, alike in by_key(shown, lambda each: _words(each[1])).items():
            lines.append(f"{', '.join(name for name, _ in alike)}: {words}")
        if any(lines):
            yield f"{one.label}: {cell_name(one.cell)}"
            yield from (f"   {line}" for line in lines if line)


def _words(one: Tried) -> str:
    of = formats.of(one.not_judged, one.rate.runs + one.not_judged, "run")
    unjudged = f"not decided in {of}"
    if one.mostly_unjudged:
        return f"{unjudged}; {one.brief if one.rate.runs else 'so there is no rate'}"
    return one.brief + (f"; {unjudged}" if one.not_judged else "")


class Undecided(NamedTuple):
    """`claims`: by name, in their order. `runs`: in how many of them one was not judged for it.
    `cells`: of these runs. `expected`: these cells are known to leave the claims undecided."""

    reasons: tuple[str, ...]
    advice: tuple[str, ...]
    claims: tuple[str, ...]
    runs: int
    cells: tuple[Cell, ...] = ()
    expected: bool = False
    warns: bool = False


class _OpenClaim(NamedTuple):
    """A claim that a run leaves open; without a name: all claims of the run. `whole`: the reasons
    with what was found."""

    run: RunReport
    claim: str
    causes: tuple[Why, ...]
    advice: tuple[str, ...] = ()
    expected: bool = False
    warns: bool = False
    whole: tuple[str, ...] = ()


def reasons(verdict: ClaimVerdict) -> tuple[str, ...]:
    """Return why a claim could not be judged, without the conditions that it asks. A condition
    that makes no sense in the run is no reason where another one is undecided."""
    return tuple(map(str, _causes(verdict)))


def _causes(verdict: ClaimVerdict) -> tuple[Why, ...]:
    return tuple(dict.fromkeys(one.cause for one in verdict.undecided or verdict.reasons))


def undecided(report: Report) -> Iterator[Undecided]:
    """Yield what kept promises open, then warnings, the reason with most claims first."""
    groups = by_key(
        _open_claims(report),
        lambda each: (tuple(map(_numberless, each.causes)), *each[3:6]),
    )
    made = [
        Undecided(
            _common(found),
            advice,
            tuple(dict.fromkeys(each.claim for each in found if each.claim)),
            len({each.run.name for each in found}),
            tuple(dict.fromkeys(each.run.cell for each in found)),
            expected,
            warns,
        )
        for (_, advice, expected, warns), found in groups.items()
    ]
    yield from sorted(made, key=lambda one: (one.warns, -len(one.claims)))


def _common(found: Sequence[_OpenClaim]) -> tuple[str, ...]:
    """Return the reasons that they share; of one claim in one run with what was found."""
    if len(found) == 1 and found[0].whole:
        return found[0].whole
    return tuple(map(_with_range, zip(*(each.causes for each in found), strict=True)))


def _open_claims(report: Report) -> Iterator[_OpenClaim]:
    for run in report.runs:
        if not run.verdicts:
            yield _OpenClaim(run, "", (Why(run.failure or "the run was not judged"),))
        for one in run.verdicts:
            if not one.some and one.outcome is ClaimOutcome.INCONCLUSIVE:
                expected = standing_of(one, run, report).is_known
                whole = tuple(each.brief for each in one.undecided)
                causes = _causes(one)
                yield _OpenClaim(run, one.claim, causes, one.advice, expected, one.warns, whole)


def _numberless(cause: Why) -> Why:
    """Return what causes have in common that differ in their number only."""
    return cause if cause.number is None else replace(cause, number=0)


def _with_range(same: Sequence[Why]) -> str:
    """Return a reason with the range of its number: `same` differ in that only."""
    first, numbers = same[0], [one.number for one in same if one.number is not None]
    if len(set(numbers)) < 2:
        return str(first)
    return f"{first.head}{min(numbers):,} to {max(numbers):,}{first.text}"
