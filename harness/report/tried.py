"""What the runs of a cell come to together, tabulated once for every page, terminal and file; and
why claims could not be judged: a reason that many of them share is given once.

1. Each line says of how many runs it is; runs that could not be judged are never in them.
2. A cell in which more than a fifth of the runs could not be judged says so before anything else.
3. A reason is what stood in the way, without the condition that a claim asks. Runs whose reasons
   differ only in a leading number share one, with the range: `1 to 3 more …`.
4. Promises alone keep an experiment undecided; warnings come after them, and no claim about some
   cases comes at all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.claims.judge import ClaimOutcome, ClaimVerdict
from harness.compare.rates import Tried, too_many
from harness.judging.result import Report, RunReport
from harness.plan.model import Cell
from harness.report.lines import CONDITION, cell_name, is_expected, standing_of
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


_NUMBER = re.compile(r"^((?:fault \d+: )?(?:all )?)([\d,]+)(?= )")  # `3 more are possible: …`


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
    reasons: tuple[str, ...]
    advice: tuple[str, ...] = ()
    expected: bool = False
    warns: bool = False
    whole: tuple[str, ...] = ()


def reasons(verdict: ClaimVerdict) -> tuple[str, ...]:
    """Return why a claim could not be judged, without the conditions that it asks. A condition
    that makes no sense in the run is no reason where another one is undecided."""
    undecided = [one for one in verdict.reasons if not one.inapplicable]
    return tuple(dict.fromkeys(one.why for one in undecided or verdict.reasons))


def undecided(report: Report) -> Iterator[Undecided]:
    """Yield what kept promises open, then warnings, the reason with most claims first."""
    groups = by_key(
        _open_claims(report),
        lambda each: (tuple(map(_masked, each.reasons)), *each[3:6]),
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
    return tuple(map(_with_range, zip(*(each.reasons for each in found), strict=True)))


def _open_claims(report: Report) -> Iterator[_OpenClaim]:
    for run in report.runs:
        if not run.verdicts:
            yield _OpenClaim(run, "", (run.failure or "the run was not judged",))
        for one in run.verdicts:
            if not one.some and one.outcome is ClaimOutcome.INCONCLUSIVE:
                expected = is_expected(standing_of(one, run, report))
                whole = tuple(CONDITION.sub("", text) for text in one.undecided)
                why = reasons(one)
                yield _OpenClaim(run, one.claim, why, one.advice, expected, one.warns, whole)


def _masked(reason: str) -> str:
    return _NUMBER.sub(r"\1#", reason)


def _with_range(same: Sequence[str]) -> str:
    """Return a reason with the range of its number: `same` differ in that only."""
    found = _NUMBER.match(same[0])
    if found is None:
        return same[0]
    texts = {match[2] for match in map(_NUMBER.match, same) if match}
    numbers = sorted(texts, key=lambda text: int(text.replace(",", "")))
    several = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else numbers[0]
    return f"{found[1]}{several}{same[0][found.end() :]}"
