"""Places side by side: a verdict each, then every fault over all of them, then the detail.

1. A column is a place, a row a scenario or a measure of it; what nobody asked for is blank, what
   does not apply has its reason, and what was not judged says so: none of them is a 0.
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
from harness.report.page.tally import Cell, Tally, loss_rate


@dataclass(frozen=True, slots=True)
class Field:
    """One scenario on one place. `edge`: its tone as a whole, as in VerdictView. `number` 0: there
    is no such cell; then `reason` says why, or nobody asked for it. `left` and `width`: the
    median, and from there to the longest, in per cent of the longest of all; `late`: the share
    that was not confirmed in time from the fault on; `returned`: that every host which failed
    came back with its disk, where that is so."""

    letter: str
    number: int
    tone: str
    edge: str
    sign: str
    loss: str
    of: str
    returned: str
    out: str
    often: str
    median: str
    worst: str
    silent: str
    late: str
    proved: str
    whole: bool  # all of it is proved
    claims: str
    drawn: bool  # there is a time to draw
    left: float
    width: float
    bound: bool
    reason: int


@dataclass(frozen=True, slots=True)
class Row:
    scenario: str
    title: str
    fields: tuple[Field, ...]  # one a place, in their order


@dataclass(frozen=True, slots=True)
class SideBySideView:
    headline: str
    lead: str
    sure: str  # whether the largest difference is more than chance
    verdicts: tuple[VerdictView, ...]
    rows: tuple[Row, ...]
    reasons: tuple[str, ...]
    loss_by_strength: StrengthTable
    grids: tuple[Grid, ...]
    zero: tuple[str, ...]  # measures that are 0 in every judged run of every place
    costs: CostsSideBySide | None


def side_by_side(report: Report, views: Sequence[CellView], total: Tally) -> SideBySideView | None:
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


def _lead(report: Report, compared: Sequence[Place], total: Tally) -> str:
    scenarios = len({run.cell[0] for run in report.runs})
    head = formats.plural(scenarios, "scenario")
    titles = dict.fromkeys(title.scenario for title in report.titles.values())
    if scenarios == 1 and len(titles) == 1:
        (head,) = titles
    systems = list(dict.fromkeys(place.system for place in compared))
    on = f" All on {systems[0]}." if len(systems) == 1 else ""
    broken = "each breaks something on purpose while clients send and receive"
    if scenarios == 1:
        broken = "that is done while clients send and receive"
    if not total.faults_of:
        broken = "clients send and receive, and nothing is broken"
    judged = f"{total.judged} of {formats.plural(total.runs, 'run')}"
    confirmed = formats.plural(total.confirmed, "confirmed message")
    same = all(place.scenarios == scenarios for place in compared)
    uneven = "" if same else (
        " Not each had every scenario or as many runs: compare numbers within a row of the table "
        "below, not the worst of one with the worst of another."
    )  # fmt: skip
    return f"{head}: {broken}.{on} Judged: {judged}, {confirmed}.{uneven}"


def _rows(
    views: Sequence[CellView],
    compared: Sequence[Place],
    skipped: Mapping[Cell, str],
    reasons: Sequence[str],
) -> Iterable[Row]:
    cells = {view.cell: view for view in views}
    titles = {view.cell[0]: view.title.scenario for view in views}
    longest_s = max((v.tally.out.most_s for v in views if v.tally.out is not None), default=0.0)
    for scenario in scenarios_of(compared, skipped):
        fields = []
        for place in compared:
            cell: Cell = (scenario, *place.key)
            if cell in cells:
                fields.append(_field(place.letter, cells[cell], longest_s))
            else:
                reason = reasons.index(skipped[cell]) + 1 if cell in skipped else 0
                fields.append(_empty(place.letter, reason))
        yield Row(scenario, titles.get(scenario, ""), tuple(fields))


def _field(letter: str, view: CellView, longest_s: float) -> Field:
    told = view.tally
    tone, sign, loss = glance(told)
    spread = told.out
    share = 100 / longest_s if longest_s else 0.0
    return Field(
        letter=letter,
        number=view.number,
        tone=tone,
        edge=edge(tone, told),
        sign=sign,
        loss=loss,
        of=_of(told),
        returned=RETURNED if told.hosts_returned else "",
        out=_out(told),
        often=rate_text(told) if told.faults_of else "",
        median=spread_text(told),
        worst=worst_text(told.worst),
        silent=silent_text(told),
        late=late_text(told),
        proved=_proved(told),
        whole=_is_whole(told),
        claims=_claims(told),
        drawn=spread is not None and bool(spread.most_s),
        left=round(share * spread.median_s, 2) if spread else 0.0,
        width=round(share * (spread.most_s - spread.median_s), 2) if spread else 0.0,
        bound=bool(spread and spread.bound),
        reason=0,
    )


def _of(told: Tally) -> str:
    """What the number is of: messages, and runs."""
    if not told.confirmed:
        return ""
    runs = f", {loss_rate(told).told('').strip()}" if told.loss_judged else ""
    return f"of {formats.count(told.confirmed)}{runs}"


def _empty(letter: str, reason: int) -> Field:
    return Field(
        letter=letter,
        number=0,
        tone="moot" if reason else "absent",
        edge="",
        sign="",
        loss="",
        of="",
        returned="",
        out="",
        often="",
        median="",
        worst="",
        silent="",
        late="",
        proved="",
        whole=False,
        claims="",
        drawn=False,
        left=0.0,
        width=0.0,
        bound=False,
        reason=reason,
    )


def _out(told: Tally) -> str:
    if not told.judged or not (told.faults_of or is_out(told)):
        return ""
    return f"{out_phrase(told)}{history_text(told)}"


def _is_whole(told: Tally) -> bool:
    decided = told.runs == told.judged == told.loss_proved == told.outage_proved
    return decided and told.faults_seen == told.faults_of


def _proved(told: Tally) -> str:
    """`proved in 2 of 2 runs`; where less is proved, what of it."""
    runs = formats.plural(told.runs, "run")
    if not told.judged:
        return f"0 of {runs} judged"
    if _is_whole(told):
        return f"proved in {told.runs} of {runs}"
    parts = [f"proved: loss {told.loss_proved}"]
    parts += [f"outage {told.outage_proved}"] if told.faults_of else []
    seen = ""
    if told.faults_seen < told.faults_of:
        seen = f"; {told.faults_seen} of {formats.plural(told.faults_of, 'fault')} seen"
    return f"{', '.join(parts)} of {runs}{seen}"


def _claims(told: Tally) -> str:
    if not told.judged:
        return ""
    parts = [f"{len(told.broken)} failed"] if told.broken else []
    parts += [formats.untrue(len(told.unfulfilled))] if told.unfulfilled else []
    parts += [f"{told.held} held"] if told.held else []
    parts += [f"{told.undecided} open"] if told.undecided else []
    return f"claims: {', '.join(parts)}" if parts else "no claim applies"
