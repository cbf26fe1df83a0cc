"""Places side by side: a verdict each, then every fault over all of them, then the detail.

1. A column is a place, a row a scenario or a measure of it. A field that was not requested is
   blank, one that does not apply has its reason, one that was not judged says so. None is a 0.
2. Sums and shares stand with what they are of, medians with how many runs were judged.
3. Bars of one table have one scale; they repeat what the words beside them say.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.judging.result import Report
from harness.report.page import formats
from harness.report.page.cells import CellView
from harness.report.page.comparison.costs import CostsSideBySide, costs_side_by_side
from harness.report.page.comparison.grids import Grid, grids
from harness.report.page.comparison.headline import headline, sure
from harness.report.page.comparison.loss_by_strength import StrengthTable, loss_by_strength
from harness.report.page.comparison.places import (
    PLACES_MAX,
    RETURNED,
    Place,
    VerdictView,
    edge,
    glance,
    places,
    scenarios_of,
    verdict,
)
from harness.report.page.outs import (
    history_text,
    is_out,
    late_text,
    out_phrase,
    rate_text,
    silent_text,
    spread_text,
    worst_text,
)
from harness.report.page.totals import Cell, RunTotals, loss_rate


@dataclass(frozen=True, slots=True)
class Field:
    """One scenario on one place. `edge`: its tone as a whole, as in VerdictView. `number` 0: there
    is no such cell; `reason` says why, or it was not requested. `left` and `width`: the
    median, and from there to the longest, in per cent of the longest of all; `late`: the share
    that was not confirmed in time from the fault on; `returned`: that every host which failed
    came back with its disk, where that is so."""

    letter: str
    tone: str
    number: int = 0
    edge: str = ""
    sign: str = ""
    loss: str = ""
    of: str = ""
    returned: str = ""
    out: str = ""
    often: str = ""
    median: str = ""
    worst: str = ""
    silent: str = ""
    late: str = ""
    proved: str = ""
    whole: bool = False  # all of it is proved
    claims: str = ""
    drawn: bool = False  # there is a time to draw
    left: float = 0.0
    width: float = 0.0
    bound: bool = False
    reason: int = 0


@dataclass(frozen=True, slots=True)
class SideBySideRow:
    scenario: str
    title: str
    fields: tuple[Field, ...]  # one a place, in their order


@dataclass(frozen=True, slots=True)
class SideBySideView:
    headline: str
    lead: str
    sure: str  # whether the largest difference is more than chance
    verdicts: tuple[VerdictView, ...]
    rows: tuple[SideBySideRow, ...]
    reasons: tuple[str, ...]
    loss_by_strength: StrengthTable
    grids: tuple[Grid, ...]
    zero: tuple[str, ...]  # measures that are 0 in every judged run of every place
    costs: CostsSideBySide | None


def side_by_side(
    report: Report, views: Sequence[CellView], total: RunTotals
) -> SideBySideView | None:
    """None where there is nothing to compare, or too much for columns. `total`: of all runs."""
    compared = places(report)
    if sum(bool(place.runs) for place in compared) < 2 or len(compared) > PLACES_MAX:
        return None
    scenarios = len({run.cell[0] for run in report.runs})
    verdicts = tuple(verdict(place, scenarios) for place in compared)
    shown, zero = grids(report, compared)
    skipped = {one.cell: one.reason for one in report.skipped}
    reasons = tuple(dict.fromkeys(skipped.values()))
    return SideBySideView(
        headline=headline(verdicts),
        lead=_lead(report, compared, total),
        sure=sure(compared, scenarios_of(compared)),
        verdicts=verdicts,
        rows=tuple(_rows(views, compared, skipped, reasons)),
        reasons=reasons,
        loss_by_strength=loss_by_strength(compared),
        grids=shown,
        zero=zero,
        costs=costs_side_by_side(compared),
    )


def _lead(report: Report, compared: Sequence[Place], total: RunTotals) -> str:
    scenarios = len({run.cell[0] for run in report.runs})
    head = formats.plural(scenarios, "scenario")
    titles = dict.fromkeys(title.scenario for title in report.titles.values())
    if scenarios == 1 and len(titles) == 1:
        (head,) = titles
    systems = list(dict.fromkeys(place.system for place in compared))
    on = f" All on {systems[0]}." if len(systems) == 1 else ""
    broken = "each injects faults under load"
    if scenarios == 1:
        broken = "this happens under load"
    if not total.faults_of:
        broken = "a load without faults"
    judged = formats.of(total.judged, total.runs, "run")
    confirmed = formats.plural(total.confirmed, "confirmed message")
    same = all(place.scenarios == scenarios for place in compared)
    uneven = "" if same else (
        " Not every layout ran each scenario equally often: compare layouts only within one "
        "scenario."
    )  # fmt: skip
    return f"{head}: {broken}.{on} Recorded and analysed: {judged}, {confirmed}.{uneven}"


def _rows(
    views: Sequence[CellView],
    compared: Sequence[Place],
    skipped: Mapping[Cell, str],
    reasons: Sequence[str],
) -> Iterable[SideBySideRow]:
    cells = {view.cell: view for view in views}
    titles = {view.cell[0]: view.title.scenario for view in views}
    longest_s = max(
        (v.totals.out.maximum_s for v in views if v.totals.out is not None), default=0.0
    )
    for scenario in scenarios_of(compared, skipped):
        fields = []
        for place in compared:
            cell: Cell = (scenario, *place.key)
            if cell in cells:
                fields.append(_field(place.letter, cells[cell], longest_s))
            else:
                reason = reasons.index(skipped[cell]) + 1 if cell in skipped else 0
                tone = "not_applicable" if reason else "absent"
                fields.append(Field(place.letter, tone, reason=reason))
        yield SideBySideRow(scenario, titles.get(scenario, ""), tuple(fields))


def _field(letter: str, view: CellView, longest_s: float) -> Field:
    totals = view.totals
    tone, sign, loss = glance(totals)
    spread = totals.out
    share = 100 / longest_s if longest_s else 0.0
    return Field(
        letter=letter,
        number=view.number,
        tone=tone,
        edge=edge(tone, totals),
        sign=sign,
        loss=loss,
        of=_of(totals),
        returned=RETURNED if totals.hosts_returned else "",
        out=_out(totals),
        often=rate_text(totals) if totals.faults_of else "",
        median=spread_text(totals),
        worst=worst_text(totals.worst),
        silent=silent_text(totals),
        late=late_text(totals),
        proved=_proved(totals),
        whole=totals.whole,
        claims=_claims(totals),
        drawn=spread is not None and bool(spread.maximum_s),
        left=round(share * spread.median_s, 2) if spread else 0.0,
        width=round(share * (spread.maximum_s - spread.median_s), 2) if spread else 0.0,
        bound=bool(spread and spread.bound),
    )


def _of(totals: RunTotals) -> str:
    """What the number is of: messages, and runs."""
    if not totals.confirmed:
        return ""
    runs = f", {loss_rate(totals).describe('')}" if totals.loss_judged else ""
    return f"of {formats.count(totals.confirmed)}{runs}"


def _out(totals: RunTotals) -> str:
    if not totals.judged or not (totals.faults_of or is_out(totals)):
        return ""
    return f"{out_phrase(totals)}{history_text(totals)}"


def _proved(totals: RunTotals) -> str:
    """Return `loss and downtime proved in 2 of 2 runs`, or what was decided."""
    runs = formats.plural(totals.runs, "run")
    if not totals.judged:
        return f"0 of {runs} judged"
    if totals.whole:
        return f"loss and downtime proved in {totals.runs} of {runs}"
    parts = [f"decided: loss in {totals.loss_proved}"]
    parts += [f"outage in {totals.outage_proved}"] if totals.faults_of else []
    seen = ""
    if totals.faults_seen < totals.faults_of:
        seen = f"; {totals.faults_seen} of {formats.plural(totals.faults_of, 'fault')} seen"
    return f"{', '.join(parts)} of {runs}{seen}"


def _claims(totals: RunTotals) -> str:
    if not totals.judged:
        return ""
    parts = [f"{len(totals.broken)} failed"] if totals.broken else []
    parts += [formats.untrue(len(totals.unfulfilled))] if totals.unfulfilled else []
    parts += [f"{totals.held} held"] if totals.held else []
    parts += [f"{totals.open_claims} not decided"] if totals.open_claims else []
    return f"claims: {', '.join(parts)}" if parts else "no claim applies"
