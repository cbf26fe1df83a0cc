"""Loss by acknowledgement level: what each place confirmed at each level, and how much is lost.

1. Sums cover all judged runs of a place. Places may have had different runs, so each sum has its
   total beside it; compare only the shares.
2. A level that a place never confirmed at has no number there.
3. docs/verdicts.md, section 1, says what a level means. The texts here say the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.page import formats
from harness.report.page.comparison.places import Place
from harness.report.page.totals import loss_rate
from harness.view.summary import Promised

STRENGTHS = {
    "replicated": "other replicas had it, too: all available ones, or as many as the layout "
    "requires; on disk or only in memory",
    "stored": "one broker had it on its disk",
    "buffered": "one broker had it in memory",
    "flush_disk_timeout": "the disk had not answered in time",
    "flush_slave_timeout": "the slave had not answered in time",
    "slave_not_available": "there was no slave to copy to",
    "unrouted_possible": "perhaps it was routed to no queue",
}


@dataclass(frozen=True, slots=True)
class LossText:
    """`tone`: fail, open, pass, or absent where nothing was confirmed so."""

    letter: str
    tone: str
    text: str
    of: str


@dataclass(frozen=True, slots=True)
class StrengthRow:
    name: str
    meaning: str
    fields: tuple[LossText, ...]


@dataclass(frozen=True, slots=True)
class StrengthTable:
    rows: tuple[StrengthRow, ...]
    ends: tuple[StrengthRow, ...]  # of all strengths together: what is not known, what it was of


def loss_by_strength(compared: Sequence[Place]) -> StrengthTable:
    given = [{one.strength: one for one in place.totals.promised} for place in compared]
    ranks = sorted({(one.rank, one.strength) for own in given for one in own.values()})
    names = list(dict.fromkeys(name for _, name in ranks))
    rows = tuple(
        StrengthRow(
            name.replace("_", " "),
            STRENGTHS.get(name, ""),
            tuple(
                _loss_text(place, own.get(name))
                for place, own in zip(compared, given, strict=True)
            ),
        )
        for name in names
    )
    ends = (
        StrengthRow(
            "unknown",
            "not delivered, and a place that may hold it was not read; or a log is incomplete",
            tuple(_untold(place) for place in compared),
        ),
        StrengthRow("runs", "judged for loss", tuple(_runs(place) for place in compared)),
    )
    return StrengthTable(rows, ends)


def _loss_text(place: Place, promised: Promised | None) -> LossText:
    if promised is None:
        text = "none so confirmed" if place.totals.judged else "not judged"
        return LossText(place.letter, "absent", text, "")
    parts = [f"{formats.count(promised.lost)} lost"]
    parts += [f"{formats.count(promised.stranded)} stranded"] if promised.stranded else []
    parts += [f"{formats.count(promised.unreachable)} unreachable"] if promised.unreachable else []
    of = f"of {formats.count(promised.confirmed)}"
    text = ", ".join(parts)
    bad = promised.lost or promised.stranded
    undecided = place.totals.loss_proved < place.totals.judged
    tone = "fail" if bad else "open" if promised.unreachable or undecided else "pass"
    if undecided:
        text = f"≥ {text}" if bad else "no loss found"
    return LossText(place.letter, tone, text, of)


def _untold(place: Place) -> LossText:
    totals = place.totals
    if not totals.judged:
        return LossText(place.letter, "open" if totals.runs else "absent", "not judged", "")
    of = f"of {formats.count(totals.confirmed)}"
    tone = "open" if totals.untold or totals.loss_proved < totals.judged else "pass"
    return LossText(place.letter, tone, formats.count(totals.untold), of)


def _runs(place: Place) -> LossText:
    totals = place.totals
    if not totals.runs:
        return LossText(place.letter, "absent", "none", "")
    tone = "pass" if totals.loss_proved == totals.runs else "open"
    of = f"of {formats.plural(totals.runs, 'run')}"
    of += f"; {loss_rate(totals).describe('lost')}" if totals.loss_judged else ""
    return LossText(place.letter, tone, str(totals.loss_proved), of)
