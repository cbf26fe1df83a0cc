"""Which items fit into a night: what matters most first, and what is omitted with the reason.

1. First what alarmed in its last night, then what was never judged, then what changed since it
   was, then the rest: by the nights since, times the item's risk.
2. Of an item as many plays are chosen as fit. The others are left out, and a shorter item that is
   less urgent may still fit.
3. Callers pass the estimates and what is known of each item.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import msgspec

from harness.nightly.suite import Cell, Item


class Urgency(IntEnum):
    """The lower, the sooner."""

    ALARMED = 0
    NEVER = 1
    CHANGED = 2
    AGE = 3


@dataclass(frozen=True, slots=True)
class Past:
    """What earlier nights know of a cell. `nights_ago`: since it was judged; None: it never was.
    `digest`: of the cell as it was judged then."""

    nights_ago: int | None
    digest: str
    alarmed: bool


class PlannedCell(msgspec.Struct, frozen=True):
    """`plays`: how often; `estimate_s`: of all of them. `digest`: suite.py, Item."""

    cell: Cell
    plays: int
    reason: str
    estimate_s: float
    digest: str


@dataclass(frozen=True, slots=True)
class Plan:
    """`chosen` in the order in which it is played; `left_out` the most urgent first."""

    chosen: tuple[PlannedCell, ...]
    left_out: tuple[PlannedCell, ...]


NOTHING = Past(None, "", alarmed=False)


def plan(
    items: Sequence[Item],
    past: Mapping[Cell, Past],
    estimates_s: Mapping[Cell, float],
    night_s: float,
    changed: Sequence[str] = (),
) -> Plan:
    """Return the plan. `estimates_s`: of one play. `changed`: systems that the user says have
    changed."""
    ranked = sorted(items, key=lambda item: _rank(item, past.get(item.cell, NOTHING), changed))
    chosen: list[PlannedCell] = []
    left_out: list[PlannedCell] = []
    left_s = night_s
    for item in ranked:
        each_s = estimates_s[item.cell]
        reason = _reason(item, past.get(item.cell, NOTHING), changed)
        fit = min(item.plays, int(left_s // each_s))
        left_s -= fit * each_s
        for listed, plays in ((chosen, fit), (left_out, item.plays - fit)):
            if plays:
                estimate_s = plays * each_s
                listed.append(PlannedCell(item.cell, plays, reason, estimate_s, item.digest))
    return Plan(tuple(chosen), tuple(left_out))


def _urgency(item: Item, past: Past, changed: Sequence[str]) -> Urgency:
    if past.alarmed:
        return Urgency.ALARMED
    if past.nights_ago is None:
        return Urgency.NEVER
    if past.digest != item.digest or item.cell[1] in changed:
        return Urgency.CHANGED
    return Urgency.AGE


def _rank(item: Item, past: Past, changed: Sequence[str]) -> tuple[int, float, Cell]:
    age = (past.nights_ago or 0) * item.weight
    return _urgency(item, past, changed), -(age or item.weight / 10), item.cell


def _reason(item: Item, past: Past, changed: Sequence[str]) -> str:
    whose = item.cell[1] if item.cell[1] in changed else "its scenario or layout"
    nights = f"{past.nights_ago} night{'' if past.nights_ago == 1 else 's'}"
    return {
        Urgency.ALARMED: "it alarmed when it was last judged",
        Urgency.NEVER: "it was never judged",
        Urgency.CHANGED: f"{whose} changed since it was judged",
        Urgency.AGE: f"it was judged {nights} ago",
    }[_urgency(item, past, changed)]
