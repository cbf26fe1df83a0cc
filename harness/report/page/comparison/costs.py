"""What the steady state cost, place beside place: of the load that most of them had.

1. Only runs of one load stand together; other loads stand in the cost part of the page.
2. The numbers name the deployment: processes and containers do not compare.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.report.page.comparison.places import DEPLOYMENTS, Place
from harness.report.page.costs import COLUMNS, Figure, Format, Measure, as_bytes, figure
from harness.view.costs import BROKERS, Cost

_LEFT_OUT = ("memory, median", "memory, peak", "network a second", "disk a second")


@dataclass(frozen=True, slots=True)
class CostLine:
    """`figures`: of each place; None where it had no run of this load."""

    name: str
    meaning: str
    figures: tuple[tuple[str, Figure | None], ...]


@dataclass(frozen=True, slots=True)
class CostsSideBySide:
    load: str
    runs: tuple[tuple[str, str], ...]  # letter, `12 runs, containers`
    lines: tuple[CostLine, ...]


def costs_side_by_side(compared: Sequence[Place]) -> CostsSideBySide | None:
    """None where no run has a steady state."""
    by_load: dict[str, dict[str, list[Cost]]] = {}
    for place in compared:
        for cost in (run.cost for run in place.runs):
            if cost is not None and (cost.seconds or cost.hosts):
                by_load.setdefault(cost.load, {}).setdefault(place.letter, []).append(cost)
    if not by_load:
        return None
    load = max(by_load, key=lambda name: (len(by_load[name]), _runs(by_load[name])))
    own = by_load[load]
    return CostsSideBySide(
        load=load or "load not recorded",
        runs=tuple((place.letter, _how(own.get(place.letter, ()))) for place in compared),
        lines=tuple(_line(*column, own, compared) for column in _columns()),
    )


def _columns() -> tuple[tuple[str, str, Measure, Format], ...]:
    kept = tuple(column for column in COLUMNS if column[0] not in _LEFT_OUT)
    return (*kept, ("memory, all brokers", "of all hosts of brokers, median", _memory, as_bytes))


def _line(
    name: str,
    meaning: str,
    measure: Measure,
    form: Format,
    own: dict[str, list[Cost]],
    compared: Sequence[Place],
) -> CostLine:
    letters = [place.letter for place in compared]
    return CostLine(
        name,
        meaning,
        tuple(
            (letter, figure(own[letter], measure, form) if letter in own else None)
            for letter in letters
        ),
    )


def _memory(cost: Cost) -> float | None:
    return cost.sum_of(BROKERS, "memory_median_bytes")


def _runs(own: dict[str, list[Cost]]) -> int:
    return sum(map(len, own.values()))


def _how(own: Sequence[Cost]) -> str:
    if not own:
        return "no run of this load"
    how = dict.fromkeys(DEPLOYMENTS.get(cost.deployment, cost.deployment) for cost in own)
    return f"{len(own)} run{'' if len(own) == 1 else 's'}, {' and '.join(how)}"
