"""The matrix: one look over scenarios x layouts x systems, and where to read on about each cell.

1. A cell says its verdict in a word and one number: what was lost, or else how long it was out.
   Its colour says nothing that its word does not say.
2. A skipped cell stands there with its reason; one that was not requested is marked as such.
3. Systems that have layouts in common share their columns, so that they stand one below the other.
   Too many columns for one table make several of about the same width; none is dropped.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from harness.compare.expectations import Standing
from harness.judging.result import Report
from harness.plan.model import Cell
from harness.report.page import formats, outs
from harness.report.page.cells import CellView
from harness.report.page.totals import RunTotals, loss_rate

COLUMNS_MAX = 8
_SHORT = {"NOT APPLICABLE": "N/A", "INCONCLUSIVE": "OPEN"}
_TONES = ("fail", "open", "pass", "not_applicable")
System = tuple[str, str]  # and its client


class MatrixField(NamedTuple):
    """One field. `number` 0: there is no such cell; then `reason` is its number in `reasons`."""

    tone: str
    title: str
    number: int = 0
    sign: str = ""
    word: str = ""
    weight: str = ""
    runs: str = ""
    differs: bool = False  # from what is known of it
    reason: int = 0


class MatrixRow(NamedTuple):
    name: str
    entries: tuple[MatrixField, ...]


class Band(NamedTuple):
    """The rows of one scenario."""

    scenario: str
    title: str
    rows: tuple[MatrixRow, ...]


class Block(NamedTuple):
    """One table. `first` is the number of its first column."""

    first: int
    layouts: tuple[str, ...]
    bands: tuple[Band, ...]
    system: str  # where there is only one: then a scenario has one row, and needs no head


class MatrixView:
    """Scenarios, systems and layouts in the order of their first cell, skipped ones last."""

    def __init__(self, report: Report, views: Sequence[CellView]) -> None:
        cells = {view.cell: view for view in views}
        skipped = {one.cell: one.reason for one in report.skipped if one.cell not in cells}
        self.reasons = tuple(dict.fromkeys(skipped.values()))  # numbered from 1
        differing = {one.cell for one in report.cells if one.standing is Standing.DIFFERS}
        entries = {cell: _entry(view, cell in differing) for cell, view in cells.items()}
        entries |= {cell: _skipped(cell, why, self.reasons) for cell, why in skipped.items()}
        titles = {cell[0]: view.title.scenario for cell, view in cells.items()}
        blocks, first = [], 1
        for layouts, systems in _tables(entries):
            only = " with ".join(systems[0]) if len(systems) == 1 else ""
            blocks.append(Block(first, layouts, _bands(layouts, systems, entries, titles), only))
            first += len(layouts)
        found = Counter((one.tone, f"{one.sign} {one.word}") for one in entries.values())
        self.blocks = tuple(blocks)
        # Tone, sign and word, how many cells.
        self.outcomes = tuple(
            (*key, found[key]) for key in sorted(found, key=lambda key: _TONES.index(key[0]))
        )
        self.repeats = any(view.totals.runs > 1 for view in views)


def weight(totals: RunTotals, *, narrow: bool = False) -> str:
    """Return a cell's one number: `37 lost`, `downtime 0.34 s`; `downtime ?` is not decided.
    In a `narrow` field `0 s`, `0.34 s` and `?` are downtimes."""
    if not totals.judged:
        return ""
    if losses := outs.losses(totals):
        return losses[0]
    if totals.loss_open:
        return "loss ?"
    if totals.is_out or (totals.total_downtime is not None and totals.faults):
        if not narrow:
            return outs.out_phrase(totals)
        return "0 s" if totals.is_fine else outs.out_text(totals)
    if not totals.faults:
        return "0 lost"
    return "?" if narrow else "downtime ?"


def _entry(view: CellView, differs: bool) -> MatrixField:
    totals = view.totals
    runs = formats.plural(totals.runs, "run")
    if 0 < totals.judged < totals.runs:
        runs = f"{totals.judged} of {totals.runs} judged"
    unexpected = ", not as it is known to be" if differs else ""
    loss = f"; {loss_rate(totals).brief('lost')}" if totals.loss_judged else ""
    title = f"{view.name}: {view.word}{unexpected}{loss}"
    word, text = _SHORT.get(view.word, view.word), weight(totals, narrow=True)
    return MatrixField(view.tone, title, view.number, view.sign, word, text, runs, differs)


def _skipped(cell: Cell, why: str, reasons: tuple[str, ...]) -> MatrixField:
    title = f"{cell[0]} on {cell[1]} {cell[2]}: not applicable: {why}"
    reason = reasons.index(why) + 1
    return MatrixField("not_applicable", title, sign="–", word="N/A", reason=reason)


def _absent(cell: Cell) -> MatrixField:
    return MatrixField("absent", f"{cell[0]} on {cell[1]} {cell[2]}: not requested")


def _tables(every: Iterable[Cell]) -> Iterable[tuple[tuple[str, ...], tuple[System, ...]]]:
    """Layouts and systems of each table."""
    layouts: dict[System, dict[str, None]] = {}
    for _, system, layout, client in every:
        layouts.setdefault((system, client), {})[layout] = None
    groups: list[dict[System, dict[str, None]]] = []
    for name, own in layouts.items():
        together = [group for group in groups if any(own.keys() & one for one in group.values())]
        joined = {other: one for group in together for other, one in group.items()} | {name: own}
        groups = [group for group in groups if group not in together] + [joined]
    order = list(layouts)
    for group in sorted(groups, key=lambda group: min(map(order.index, group))):
        columns = tuple(dict.fromkeys(layout for own in group.values() for layout in own))
        for some in _evenly(columns):
            yield some, tuple(name for name, own in group.items() if own.keys() & set(some))


def _evenly(columns: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    tables = -(-len(columns) // COLUMNS_MAX)
    width = -(-len(columns) // tables)
    return (columns[start : start + width] for start in range(0, len(columns), width))


def _bands(
    layouts: tuple[str, ...],
    systems: tuple[System, ...],
    entries: Mapping[Cell, MatrixField],
    titles: Mapping[str, str],
) -> tuple[Band, ...]:
    """Only rows in which there is something."""
    clients = {client for _, client in systems}
    bands = []
    for scenario in dict.fromkeys(cell[0] for cell in entries):
        rows = []
        for system, client in systems:
            cells: list[Cell] = [(scenario, system, layout, client) for layout in layouts]
            if any(cell in entries for cell in cells):
                name = f"{system}, {client}" if len(clients) > 1 else system
                rows.append(MatrixRow(name, tuple(entries.get(c) or _absent(c) for c in cells)))
        if rows:
            bands.append(Band(scenario, titles.get(scenario, ""), tuple(rows)))
    return tuple(bands)
