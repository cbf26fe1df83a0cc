"""Places side by side: a verdict each, then every fault over all of them, then the detail.

1. A column is a place, a row a scenario or a measure of it. A field that was not requested is
   blank, one that does not apply has its reason, one that was not judged says so. None is a 0.
2. Sums and shares stand with what they are of, medians with how many runs were judged. Places may
   have had different runs: compare only shares.
3. Bars of one table have one scale; they repeat what the words beside them say.
4. Systems declare what a confirm level means (`Level.meaning`). A level that a place never
   confirmed at has no number there.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.judging.result import Report
from harness.plan.model import Cell
from harness.report.page import formats, outs, places
from harness.report.page.cells import CellView
from harness.report.page.columns import are_side_by_side
from harness.report.page.grids import grid
from harness.report.page.headline import conditions, headline, sure
from harness.report.page.totals import RunTotals, deadline_text, loss_rate, often_text
from harness.view.summary import Promised
from spark_analysis.schema.words import level_text

_UNEVEN = (
    " Not every layout ran each scenario equally often: compare layouts only within one scenario."
)


class Field:
    """One scenario on one place. `edge`: its tone as a whole, as in VerdictView. `left` and
    `width`: the median downtime, and from there to the longest, in per cent of the longest of
    all."""

    reason = 0

    def __init__(self, letter: str, view: CellView, longest_s: float) -> None:
        totals, spread = view.totals, view.totals.total_downtime
        share = 100 / longest_s if longest_s else 0.0
        self.letter, self.number, self.label = letter, view.number, view.label
        self.tone, self.sign, self.loss = places.glance(totals)
        self.edge = places.edge(self.tone, totals)
        rate = f"; {loss_rate(totals).brief('loss')}" if totals.loss_judged else ""
        of = f"of {totals.for_groups(formats.count(totals.confirmed))}{rate}"
        self.of = of if totals.confirmed else ""  # what the number is of: messages, and runs
        shown = totals.judged and (totals.faults or totals.is_out)
        self.out = f"{outs.out_phrase(totals)}{outs.history_text(totals)}" if shown else ""
        self.often = outs.rate_text(totals) if totals.faults else ""
        self.median, self.worst = outs.spread_text(totals), outs.worst_of_runs(totals)
        self.silent, self.late = outs.silent_text(totals), outs.late_text(totals)
        self.proved, self.whole, self.claims = _proved(totals), totals.whole, _claims(totals)
        self.drawn = spread is not None and bool(spread.maximum_s)
        self.left = round(share * spread.median_s, 2) if spread else 0.0
        self.width = round(share * (spread.maximum_s - spread.median_s), 2) if spread else 0.0
        self.bound = bool(spread and spread.bound)


class NoField(NamedTuple):
    """There is no such cell. `reason`: the number of the reason; 0: it was not requested."""

    letter: str
    tone: str
    reason: int
    number: int = 0
    edge: str = ""


class SideBySideRow(NamedTuple):
    scenario: str
    title: str
    deadline: str  # of its messages: `deadline 1 s`
    fields: tuple[Field | NoField, ...]  # one a place, in their order


class LossText(NamedTuple):
    """`tone`: fail, open, pass, or absent where nothing was confirmed so."""

    letter: str
    tone: str
    text: str
    of: str


class StrengthRow(NamedTuple):
    name: str
    meanings: tuple[str, ...]  # a line each; if systems differ, each with its columns
    fields: tuple[LossText, ...]


class StrengthTable:
    """What each place confirmed at each confirm level, and how much is lost. `ends`: of
    all levels together what is not known, and what it was of."""

    def __init__(self, compared: Sequence[places.Place]) -> None:
        given = [{one.strength: one for one in place.totals.by_strength} for place in compared]
        ranks = sorted({(one.rank, one.strength) for own in given for one in own.values()})
        self.rows = tuple(
            StrengthRow(
                level_text(name).replace("_", " "),
                _meanings(compared, name),
                tuple(_loss_text(*one, name) for one in zip(compared, given, strict=True)),
            )
            for name in dict.fromkeys(name for _, name in ranks)
        )
        why = "not delivered, and a place that may hold it was not read; or a log is incomplete"
        self.ends = (
            StrengthRow("not decided", (why,), tuple(map(_undecided, compared))),
            StrengthRow("runs", ("judged for loss",), tuple(map(_runs, compared))),
        )


class SideBySideView:
    def __init__(
        self,
        report: Report,
        views: Sequence[CellView],
        total: RunTotals,
        compared: Sequence[places.Place],
    ) -> None:
        skipped = {one.cell: one.reason for one in report.skipped}
        scenarios = len({run.cell[0] for run in report.runs})
        self.reasons = tuple(dict.fromkeys(skipped.values()))
        self.verdicts = tuple(places.VerdictView(place, scenarios) for place in compared)
        self.headline = headline(self.verdicts)
        self.conditions = conditions(compared)  # "": columns had the same detection timeout
        self.lead = _lead(report, compared, total, scenarios)
        # Whether the largest difference is more than chance.
        self.sure = sure(compared, places.scenarios_of(compared))
        self.rows = tuple(_rows(views, compared, skipped, self.reasons))
        self.numbered = scenarios > 1  # the numbers of scenarios are part of the names of cells
        self.loss_by_strength = StrengthTable(compared)
        self.measures = grid(report, compared)


def side_by_side(
    report: Report, views: Sequence[CellView], total: RunTotals
) -> SideBySideView | None:
    """None where there is nothing to compare, or too much for columns. `total`: of all runs."""
    if not are_side_by_side(report):
        return None
    return SideBySideView(report, views, total, places.places(report))


def _lead(
    report: Report, compared: Sequence[places.Place], total: RunTotals, scenarios: int
) -> str:
    titles = [*dict.fromkeys(title.scenario for title in report.titles.values())]
    alone = scenarios == 1 and len(titles) == 1
    head = titles[0] if alone else formats.plural(scenarios, "scenario")
    systems = list(dict.fromkeys(place.system for place in compared))
    on = f" System: {systems[0]}." if len(systems) == 1 else ""
    broken = "this happens under load" if scenarios == 1 else "each injects faults under load"
    broken = broken if total.faults else "a load without faults"
    judged = formats.of(total.judged, total.runs, "run")
    confirmed = formats.plural(total.confirmed, "confirmed message")
    same = all(len(place.scenarios) == scenarios for place in compared)
    tail = "" if same else _UNEVEN
    return f"{head}: {broken}.{on} Recorded and analysed: {judged}, {confirmed}.{tail}"


def _rows(
    views: Sequence[CellView],
    compared: Sequence[places.Place],
    skipped: Mapping[Cell, str],
    reasons: Sequence[str],
) -> Iterable[SideBySideRow]:
    cells = {view.cell: view for view in views}
    titles = {view.cell[0]: view.title.scenario for view in views}
    longest_s = max((view.totals.longest_out_s for view in views), default=0.0)
    for scenario in places.scenarios_of(compared, skipped):
        fields: list[Field | NoField] = []
        for place in compared:
            cell: Cell = (scenario, *place.key)
            if cell in cells:
                fields.append(Field(place.letter, cells[cell], longest_s))
            else:
                reason = reasons.index(skipped[cell]) + 1 if cell in skipped else 0
                tone = "not_applicable" if reason else "absent"
                fields.append(NoField(place.letter, tone, reason))
        deadline = deadline_text(run for place in compared for run in place.of(scenario))
        yield SideBySideRow(scenario, titles.get(scenario, ""), deadline, tuple(fields))


def _proved(totals: RunTotals) -> str:
    """Return `loss and downtime decided in 2 of 2 runs`, or what of them was."""
    runs = formats.plural(totals.runs, "run")
    if not totals.judged:
        return f"0 of {runs} judged"
    if totals.whole:
        return f"loss and downtime decided in {totals.runs} of {runs}"
    outage = f", outage in {totals.outage_decided_runs}" if totals.faults else ""
    seen = ""
    if totals.faults_seen < totals.faults:
        seen = f"; {totals.faults_seen} of {formats.plural(totals.faults, 'fault')} seen"
    return f"decided: loss in {totals.loss_decided_runs}{outage} of {runs}{seen}"


def _claims(totals: RunTotals) -> str:
    if not totals.judged:
        return ""
    broken = f"{formats.plural(len(totals.broken), 'promise')} broken" if totals.broken else ""
    kept = formats.kept(totals.held) if totals.held else ""
    untrue = formats.untrue(len(totals.unfulfilled)) if totals.unfulfilled else ""
    texts = (broken, kept, untrue, totals.open_text)
    return "; ".join(filter(None, texts)) or "no claim applies"


def _meanings(compared: Iterable[places.Place], name: str) -> tuple[str, ...]:
    """Return what a level means; if systems differ, each meaning with its columns."""
    letters: dict[str, list[str]] = {}
    for place in compared:
        text = place.totals.meanings.get(name, "")
        if text and any(one.strength == name for one in place.totals.by_strength):
            letters.setdefault(text, []).append(place.letter)
    if len(letters) < 2:
        return tuple(letters)
    return tuple(f"{', '.join(own)}: {text}" for text, own in letters.items())


def _loss_text(place: places.Place, given: Mapping[str, Promised], name: str) -> LossText:
    promised = given.get(name)
    if promised is None:
        text = "none so confirmed" if place.totals.judged else "not judged"
        return LossText(place.letter, "absent", text, "")
    counts = (promised.stranded, "stranded"), (promised.unreachable, "unreachable")
    parts = [f"{formats.count(number)} {word}" for number, word in counts if number]
    text = ", ".join([f"{formats.count(promised.lost)} lost", *parts])
    bad, undecided = promised.lost or promised.stranded, place.totals.loss_open
    tone = "open" if promised.unreachable or undecided else "pass"
    if bad:
        tone = "fail"
    if undecided:
        text = f"≥ {text}" if bad else "no loss found"
    of = f"of {place.totals.for_groups(formats.count(promised.confirmed))}"
    return LossText(place.letter, tone, text, of)


def _undecided(place: places.Place) -> LossText:
    totals = place.totals
    if not totals.judged:
        return LossText(place.letter, "open" if totals.runs else "absent", "not judged", "")
    tone = "open" if totals.undecided_messages or totals.loss_open else "pass"
    of = f"of {totals.for_groups(formats.count(totals.confirmed))}"
    return LossText(place.letter, tone, formats.count(totals.undecided_messages), of)


def _runs(place: places.Place) -> LossText:
    totals = place.totals
    if not totals.runs:
        return LossText(place.letter, "absent", "none", "")
    tone = "pass" if totals.loss_decided_runs == totals.runs else "open"
    rate = f"; {often_text(loss_rate(totals), 'lost', totals)}" if totals.loss_judged else ""
    of = f"of {formats.plural(totals.runs, 'run')}{rate}"
    return LossText(place.letter, tone, str(totals.loss_decided_runs), of)
