"""The matrix as Markdown: scenario by layout by system, and nothing left out.

1. A cell reports what was judged, in how many runs, the 95 % bounds of the rate, and whether that
   is as expected. Where more than a fifth of its runs were not judged that comes first.
2. A PASS stands nowhere without its number of runs.
3. What has not run yet is listed below the table, and so is what means nothing, with its reason.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from harness.campaigns.cells import Cell, Matrix
from harness.campaigns.stored import CampaignRun, Knowledge
from harness.claims.judge import ClaimOutcome
from harness.compare.expectations import Standing
from harness.compare.rates import Rate, rate, too_many
from harness.report.markdown import escaped, head, row
from harness.report.page.formats import plural
from harness.view.grouping import by_key


def table(runs: Sequence[CampaignRun], whole: Matrix, knowledge: Knowledge) -> Iterator[str]:
    """Yield lines: cells with a run, then those without one, by scenario."""
    by_cell = by_key(runs, lambda one: (one.scenario, one.system, one.layout))
    sides = sorted({system for _, system, _ in (*whole.cells, *whole.reasons)})
    yield from head("scenario", "layout", *sides)
    waiting: dict[str, list[str]] = defaultdict(list)
    for name, layout in sorted({(name, layout) for name, _, layout in whole.cells}):
        cells = [(name, system, layout) for system in sides]
        if any(cell in by_cell for cell in cells):
            texts = (_cell_text(cell, by_cell.get(cell, []), whole, knowledge) for cell in cells)
            yield row((name, layout, *texts))
        else:
            waiting[name].append(layout)
    yield from _waiting(waiting)
    yield from _nowhere(whole)


def describe_cell(runs: Sequence[CampaignRun], knowledge: Knowledge) -> str:
    """What the runs of one cell were judged to be, and how sure so many make it."""
    if not runs:
        return "not run"
    judged = [one for one in runs if knowledge.of([one]).standing is not Standing.NOT_JUDGED]
    unjudged = len(runs) - len(judged)
    parts = [f"{unjudged} of {plural(len(runs), 'run')} not judged"] if unjudged else []
    if judged:
        result = knowledge.of(judged)
        standing = str(result.standing.value)
        if result.standing in (Standing.DIFFERS, Standing.NEW):
            standing = f"**{standing}**: {'; '.join(result.lines)}"
        verdicts = [_verdict(judged, knowledge), standing]
        parts = [*parts, *verdicts] if too_many(unjudged, len(runs)) else [*verdicts, *parts]
    return "; ".join(parts)


def _cell_text(
    cell: Cell, runs: Sequence[CampaignRun], whole: Matrix, knowledge: Knowledge
) -> str:
    if cell in whole.cells:
        return describe_cell(runs, knowledge)
    return f"NOT APPLICABLE: {whole.reasons.get(cell, 'no such layout')}"


def _waiting(waiting: Mapping[str, Sequence[str]]) -> Iterator[str]:
    number = sum(len(cells) for cells in waiting.values())
    yield from ("", f"Not run yet, on any system ({number} cells):", "")
    yield from (f"- {name}: {', '.join(cells)}" for name, cells in waiting.items())


def _nowhere(whole: Matrix) -> Iterator[str]:
    """What means nothing on a system, by its reason."""
    grouped: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for (name, system, layout), why in whole.reasons.items():
        grouped[system, why][name].append(layout)
    yield from ("", "NOT APPLICABLE, and why:", "")
    for (system, why), cells in sorted(grouped.items()):
        found = (f"{name} on {', '.join(layouts)}" for name, layouts in sorted(cells.items()))
        places = "; ".join(found)
        yield f"- {system}: {escaped(why)}: {places}"


def _verdict(runs: Sequence[CampaignRun], knowledge: Knowledge) -> str:
    """Return the verdict on promises; a warning that was not seen breaks none and stands apart."""
    failed = Counter(claim for one in runs for claim in one.failed.split())
    rates = {claim: _rate(runs, claim) for claim in sorted(failed)}
    broken, untrue = [], []
    for claim, found in rates.items():
        if knowledge.promised(claim):
            broken.append(found.describe(claim))
        else:
            untrue.append(found.describe(f"{claim} did not come true"))
    open_ = dict.fromkeys(claim for one in runs for claim in one.inconclusive.split())
    if broken:
        first = f"FAIL: {', '.join(broken)}"
    elif open_:
        first = f"INCONCLUSIVE: {', '.join(open_)}; {rate(0, len(runs)).describe('others broken')}"
    elif any(one.passed or untrue for one in runs):
        first = f"PASS: {rate(0, len(runs)).describe('broken')}"
    else:
        first = f"{ClaimOutcome.NOT_APPLICABLE} in {plural(len(runs), 'run')}"
    return "; ".join([first, *untrue])


def _rate(runs: Sequence[CampaignRun], claim: str) -> Rate:
    outcomes = Counter(one.outcomes.get(claim) for one in runs)
    failed = outcomes[ClaimOutcome.FAIL]
    return rate(failed, failed + outcomes[ClaimOutcome.PASS])
