"""Every claim over all cells: what it says, where it stands, and what was seen of it.

1. The sentence in plain English comes first, the source's own words below it.
2. Claims that failed come first (of these, warnings that did not come true last), then those
   that are not decided, that held, that do not apply; so do the cells of a claim. More than
   SEEN_MAX are counted: each stands with its own cell.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from harness.claims.judge import ClaimOutcome, ClaimVerdict, over_runs
from harness.judging.result import Report, RunReport
from harness.report.lines import source_text, standing_of
from harness.report.page import formats
from harness.report.page.cells import CellView, claim_badge

SEEN_MAX = 24
_ORDER = (
    ClaimOutcome.FAIL,
    ClaimOutcome.INCONCLUSIVE,
    ClaimOutcome.PASS,
    ClaimOutcome.NOT_APPLICABLE,
)


@dataclass(frozen=True, slots=True)
class Chip:
    """One cell's outcome about a claim. `share`: in how many of its runs, `3 of 5`; `rate`: in how
    many runs it was violated, with the 95 % bounds, "" where no run decided it; `told`: the rate,
    and the share, too, where some runs decided nothing."""

    number: int
    name: str
    tone: str
    badge: str
    share: str
    rate: str
    text: str
    runs: int


@dataclass(frozen=True, slots=True)
class Seen:
    """What one run showed of a claim. `standing`: how that is to what is known, if it is open or
    broken."""

    run: str
    cell: int
    tone: str
    badge: str
    verdict: ClaimVerdict
    standing: str


@dataclass(frozen=True, slots=True)
class ClaimView:
    name: str
    meaning: str
    sentence: str  # "" where it is the meaning itself
    source: str
    tone: str
    badge: str
    chips: tuple[Chip, ...]
    known: str  # what is known of it, whatever the cell
    seen: tuple[Seen, ...]
    anchor: str
    shares: tuple[tuple[str, str], ...]  # tone, `3 cells failed`: in place of too many chips
    left_out: int  # of what was seen
    warns: bool  # it predicts harm


def claims(report: Report, views: Iterable[CellView]) -> tuple[ClaimView, ...]:
    cells = tuple(views)
    names = dict.fromkeys(verdict.claim for run in report.runs for verdict in run.verdicts)
    claim_views = [_claim(place, name, report, cells) for place, name in enumerate(names, start=1)]
    claim_views.sort(key=lambda one: (_ORDER.index(one[0]), one[1].warns))
    return tuple(view for _, view in claim_views)


def seen(run: RunReport, verdict: ClaimVerdict, report: Report, cells: Iterable[CellView]) -> Seen:
    """One verdict, without what stands above it: the claim's sentence and its source."""
    tone, badge = claim_badge(verdict.outcome, warns=verdict.warns)
    needs_story = verdict.outcome in (ClaimOutcome.FAIL, ClaimOutcome.INCONCLUSIVE)
    return Seen(
        run=run.name,
        cell=next((view.number for view in cells if view.cell == run.cell), 0),
        tone=tone,
        badge=badge,
        verdict=verdict,
        standing=standing_of(verdict, run, report) if needs_story else "",
    )


def _claim(
    place: int, name: str, report: Report, cells: tuple[CellView, ...]
) -> tuple[ClaimOutcome, ClaimView]:
    found = [(run, one) for run in report.runs for one in run.verdicts if one.claim == name]
    first = found[0][1]
    outcome = over_runs(verdict for _, verdict in found)
    tone, badge = claim_badge(outcome, warns=first.warns)
    chips = tuple(_chip(view, name, first.warns) for view in cells)
    shown = sorted(_one_a_cell(found), key=lambda one: _ORDER.index(one[1].outcome))
    return outcome, ClaimView(
        name=name,
        meaning=first.meaning,
        sentence=first.sentence if first.sentence != first.meaning else "",
        source=source_text(first.source),
        tone=tone,
        badge=badge,
        chips=chips,
        known=next((verdict.known for _, verdict in found if verdict.known), ""),
        seen=tuple(seen(run, one, report, cells) for run, one in shown[:SEEN_MAX]),
        anchor=f"claim-{place}",
        shares=_shares(chips),
        left_out=max(0, len(shown) - SEEN_MAX),
        warns=first.warns,
    )


def _chip(view: CellView, claim: str, warns: bool) -> Chip:
    one, runs = view.claims.get(claim), view.totals.runs
    tone, badge = claim_badge(one.outcome if one else None, warns=warns)
    if one is None:
        return Chip(view.number, view.name, tone, badge, "", "", "", runs)
    # Runs without verdicts are of the cell, too: a tick stands with all of them.
    share = f"{len(one.same)} of {runs}"
    decided = one.tried.rate.runs
    rate = one.tried.described if decided else ""
    text = rate if decided == runs else "; ".join(part for part in (share, rate) if part)
    return Chip(view.number, view.name, tone, badge, share, rate, text, runs)


def _shares(chips: tuple[Chip, ...]) -> tuple[tuple[str, str], ...]:
    numbers = Counter((chip.tone, chip.badge) for chip in chips)
    runs: Counter[tuple[str, str]] = Counter()
    for chip in chips:
        runs[chip.tone, chip.badge] += chip.runs
    order = [tone for tone, _, _ in formats.BADGES.values()]
    return tuple(
        (
            tone,
            f"{formats.plural(numbers[tone, badge], 'cell')} {badge}, "
            f"{formats.plural(runs[tone, badge], 'run')}",
        )
        for tone, badge in sorted(numbers, key=lambda one: order.index(one[0]))
    )


def _one_a_cell(
    found: list[tuple[RunReport, ClaimVerdict]],
) -> list[tuple[RunReport, ClaimVerdict]]:
    """The first run of each cell and outcome: repeats say the same again."""
    kept: dict[tuple[tuple[str, ...], ClaimOutcome], tuple[RunReport, ClaimVerdict]] = {}
    for run, verdict in found:
        kept.setdefault((run.cell, verdict.outcome), (run, verdict))
    return list(kept.values())
