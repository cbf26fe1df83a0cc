"""Every claim over all cells: what it says, where it stands, and what was seen of it.

1. The sentence in plain English comes first, the source's own words below it.
2. Claims that failed come first (of these, warnings that did not come true last), then those
   that are not decided, that held, that do not apply; so do the cells of a claim. More than
   SEEN_MAX are counted: each stands with its own cell.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from harness.claims.judge import ClaimOutcome, ClaimVerdict, over_runs
from harness.judging.result import Report, RunReport
from harness.report.lines import (
    source_text,
    standing_of,
    to_do,
)
from harness.report.page import formats
from harness.report.page.cells import CellView, claim_badge

SEEN_MAX = 24
TONES = [one.tone for one in formats.BADGES.values()]
_ORDER = list(formats.BADGES)  # the gravest first


class Chip:
    """One cell's outcome about a claim. `share`: in how many of its runs, `3 of 5`; `rate`: in how
    many runs it was violated, with the 95 % bounds, "" where no run decided it; `text`: the rate,
    and the share, too, where some runs decided nothing. All three are "" in a report whose cells
    have one run each: the badge says it."""

    def __init__(self, view: CellView, claim: str, warns: bool, repeated: bool) -> None:
        one = view.claims.get(claim)
        self.number, self.label = view.number, view.label
        self.name, self.runs = view.name, view.totals.runs
        self.tone, self.badge = claim_badge(one.outcome if one else None, warns=warns).shown
        # Runs without verdicts are of the cell, too: a tick stands with all of them.
        one = one if repeated else None
        self.share = f"{len(one.same)} of {self.runs}" if one else ""
        decided = one.tried.rate.runs if one else 0
        self.rate = one.tried.brief if one and decided else ""
        parts = [self.rate] if decided == self.runs else [self.share, self.rate]
        self.text = "; ".join(filter(None, parts))


class Seen:
    """What one run showed of a claim, without what stands above it: its sentence and its source.
    `standing`: how that is to what is known; "" if it holds as expected, or nothing is known.
    `rest`: which requirements were not decided, and which do not apply, each with its heading.
    `to_do`: of a claim that is not decided in whole; "" if a decided verdict is expected."""

    def __init__(
        self, run: RunReport, verdict: ClaimVerdict, report: Report, cells: Iterable[CellView]
    ) -> None:
        outcome = verdict.outcome
        rest = (
            ("Not decided", [one.text for one in verdict.undecided]),
            ("Not applicable", [one.below_heading for one in verdict.reasons if one.inapplicable]),
        )
        self.run, self.verdict = run.name, verdict
        self.rest = tuple((heading, "; ".join(texts)) for heading, texts in rest if texts)
        # Of its cell; 0 and "": none of these.
        own = [(view.number, view.label) for view in cells if view.cell == run.cell]
        self.cell, self.label = own[0] if own else (0, "")
        self.tone, self.badge = claim_badge(outcome, warns=verdict.warns).shown
        standing = standing_of(verdict, run, report)
        needs_story = outcome in (ClaimOutcome.FAIL, ClaimOutcome.INCONCLUSIVE)
        better = outcome is ClaimOutcome.PASS and standing.expected is False
        self.standing = standing.text if needs_story or better else ""
        expected = standing.is_known
        nothing = expected and outcome is not ClaimOutcome.INCONCLUSIVE
        self.to_do = "" if nothing else to_do(verdict.advice, expected=expected)


class ClaimView:
    """`sentence`: "" where it is the meaning itself; `known`: what is known of it, whatever the
    cell; `warns`: it predicts harm; `is_promise`: it must hold in every run."""

    def __init__(self, place: int, name: str, report: Report, cells: Sequence[CellView]) -> None:
        found = [(run, one) for run in report.runs for one in run.verdicts if one.claim == name]
        first = found[0][1]
        self.name, self.anchor, self.warns = name, f"claim-{place}", first.warns
        self.is_promise = first.is_promise
        self.meaning = first.meaning
        self.sentence = first.sentence if first.sentence != first.meaning else ""
        self.is_chinese = any("\u4e00" <= letter <= "\u9fff" for letter in self.sentence)
        self.source = source_text(first.source)
        self.outcome = over_runs(verdict for _, verdict in found)
        self.tone, self.badge = claim_badge(self.outcome, warns=first.warns).shown
        self.known = next((verdict.known for _, verdict in found if verdict.known), "")
        repeated = any(view.totals.runs > 1 for view in cells)
        self.chips = tuple(Chip(view, name, first.warns, repeated) for view in cells)
        self.shares = _shares(self.chips)  # tone, `3 cells failed`: in place of too many chips
        # The first run of each cell and outcome: repeats say the same again.
        kept: dict[object, tuple[RunReport, ClaimVerdict]] = {}
        for run, one in found:
            kept.setdefault((run.cell, one.outcome), (run, one))
        shown = sorted(kept.values(), key=lambda each: _ORDER.index(each[1].outcome))
        self.seen = tuple(Seen(*each, report, cells) for each in shown[:SEEN_MAX])
        self.left_out = max(0, len(shown) - SEEN_MAX)


def claims(report: Report, cells: Sequence[CellView]) -> tuple[ClaimView, ...]:
    names = dict.fromkeys(verdict.claim for run in report.runs for verdict in run.verdicts)
    found = [ClaimView(place, name, report, cells) for place, name in enumerate(names, start=1)]
    return tuple(sorted(found, key=lambda one: (_ORDER.index(one.outcome), one.warns)))


def _shares(chips: Iterable[Chip]) -> tuple[tuple[str, str], ...]:
    numbers, runs = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for chip in chips:
        numbers[chip.tone, chip.badge] += 1
        runs[chip.tone, chip.badge] += chip.runs
    return tuple(
        (key[0], f"{formats.plural(number, 'cell')} {key[1]}, {formats.plural(runs[key], 'run')}")
        for key, number in sorted(numbers.items(), key=lambda one: TONES.index(one[0][0]))
    )
