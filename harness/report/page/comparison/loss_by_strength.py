"""Loss by strength: what each place confirmed with which promise, and what became of it.

1. Sums over all judged runs of a place. Places may have had different runs, so each sum stands
   with what it is of; only the shares compare.
2. A strength that a place never gave has no number there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.page import formats
from harness.report.page.comparison.places import Place
from harness.report.page.tally import loss_rate
from harness.view.summary import Promised
from spark_analysis.schema.words import Strength

STRENGTHS = {
    "replicated": "held by every broker that had to copy it just then, on disk or only in memory",
    "stored": "on one disk",
    "buffered": "in the memory of one broker",
    "flush_disk_timeout": "the disk had not answered in time",
    "flush_slave_timeout": "the slave had not answered in time",
    "slave_not_available": "there was no slave to copy to",
    "unrouted_possible": "perhaps no queue took it",
}


@dataclass(frozen=True, slots=True)
class Told:
    """`tone`: fail, open, pass, or absent where nothing was confirmed so."""

    letter: str
    tone: str
    text: str
    of: str


@dataclass(frozen=True, slots=True)
class StrengthRow:
    name: str
    meaning: str
    fields: tuple[Told, ...]


@dataclass(frozen=True, slots=True)
class StrengthTable:
    rows: tuple[StrengthRow, ...]
    ends: tuple[StrengthRow, ...]  # of all strengths together: what is not known, what it was of


def loss_by_strength(compared: Sequence[Place]) -> StrengthTable:
    given = [{one.strength: one for one in place.tally.promised} for place in compared]
    names = [name for name in (s.name.lower() for s in Strength) if any(name in g for g in given)]
    rows = tuple(
        StrengthRow(
            name.replace("_", " "),
            STRENGTHS.get(name, ""),
            tuple(_told(place, own.get(name)) for place, own in zip(compared, given, strict=True)),
        )
        for name in names
    )
    ends = (
        StrengthRow(
            "cannot be told",
            "missing, and a place that may hold it was not read; or a log is incomplete",
            tuple(_untold(place) for place in compared),
        ),
        StrengthRow("runs", "judged for loss", tuple(_runs(place) for place in compared)),
    )
    return StrengthTable(rows, ends)


def _told(place: Place, promised: Promised | None) -> Told:
    if promised is None:
        text = "none so confirmed" if place.tally.judged else "not judged"
        return Told(place.letter, "absent", text, "")
    parts = [f"{formats.count(promised.lost)} lost"]
    parts += [f"{formats.count(promised.stranded)} stranded"] if promised.stranded else []
    parts += [f"{formats.count(promised.unreachable)} unreachable"] if promised.unreachable else []
    of = f"of {formats.count(promised.confirmed)}"
    text = ", ".join(parts)
    bad = promised.lost or promised.stranded
    undecided = place.tally.loss_proved < place.tally.judged
    tone = "fail" if bad else "open" if promised.unreachable or undecided else "pass"
    if undecided:
        text = f"≥ {text}" if bad else "none found lost"
    return Told(place.letter, tone, text, of)


def _untold(place: Place) -> Told:
    told = place.tally
    if not told.judged:
        return Told(place.letter, "open" if told.runs else "absent", "not judged", "")
    of = f"of {formats.count(told.confirmed)}"
    tone = "open" if told.untold or told.loss_proved < told.judged else "pass"
    return Told(place.letter, tone, formats.count(told.untold), of)


def _runs(place: Place) -> Told:
    told = place.tally
    if not told.runs:
        return Told(place.letter, "absent", "none", "")
    tone = "pass" if told.loss_proved == told.runs else "open"
    of = f"of {formats.plural(told.runs, 'run')}"
    of += f"; {loss_rate(told).told('lost')}" if told.loss_judged else ""
    return Told(place.letter, tone, str(told.loss_proved), of)
