"""What tables of published pages have in common: cells in their order, fields, medians."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from harness.campaigns.packed import Packed
from harness.compare.medians import Time, median
from harness.judging.result import RunReport
from harness.report.page import formats
from harness.report.page.totals import Cell, worst_of
from harness.view.summary import Summary

NONE = "-"
Fields = Sequence[str]
ToText = Callable[[float], str]


def cells_of(packs: Sequence[Packed]) -> Iterator[tuple[Cell, list[RunReport]]]:
    cells: dict[Cell, list[RunReport]] = {}
    for run in (run for pack in packs for run in pack.runs):
        cells.setdefault(run.cell, []).append(run)
    scenarios = list(dict.fromkeys(cell[0] for cell in cells))
    places = list(dict.fromkeys(cell[1:] for cell in cells))
    order = sorted(cells, key=lambda cell: (scenarios.index(cell[0]), places.index(cell[1:])))
    yield from ((cell, cells[cell]) for cell in order)


def middle(times: Sequence[Time], to_text: ToText) -> str:
    """`11.2 s (9.0 s to 12.1 s)`, or `11.2 s [9.0 s; 11.2 s; ≥ 12.1 s]` of few."""
    if not times:
        return NONE
    found = median(times)
    middle = f"{'' if found.reached else '≥ '}{to_text(found.median)}"
    if math.isfinite(found.high):
        unknown = f", {found.censored} did not recover" if found.censored else ""
        return f"{middle} ({to_text(found.low)} to {to_text(found.high)}{unknown})"
    ordered = sorted(times, key=lambda time: time.value)
    each = "; ".join(f"{'≥ ' if one.censored else ''}{to_text(one.value)}" for one in ordered)
    return f"{middle} [{each}]"


def middle_of(values: Iterable[float | None], to_text: ToText) -> str:
    """The median of those that are known."""
    known = [Time(one) for one in values if one is not None]
    return to_text(median(known).median) if known else NONE


def never_or(values: Sequence[float | None], never: str) -> str:
    """The median and each value of few; how many of them there were none of."""
    known = [Time(one) for one in values if one is not None]
    without = len(values) - len(known)
    if not known:
        return never
    text = middle(known, formats.seconds) if len(known) > 1 else formats.seconds(known[0].value)
    return f"{text}; {never} in {without} of {len(values)}" if without else text


def timed(run: RunReport) -> Summary | None:
    """Where the instrument stood still, or the records are doubted, no time is known."""
    one = run.summary
    return one if one and one.outage_proved and one.out_s.least is not None else None


def out_of(runs: Iterable[RunReport]) -> list[Time]:
    """Return the total downtime of each run in which it is known."""
    return [time_of(one.out_s.least, one.out_s.exact) for one in map(timed, runs) if one]


def silences(runs: Iterable[RunReport]) -> list[Time]:
    """The longest silence of each, likewise."""
    longest = (worst_of(one, "silence_s") for one in map(timed, runs) if one)
    return [time_of(one.least, one.exact) for one in longest if one is not None]


def time_of(least: float | None, exact: bool) -> Time:
    assert least is not None, "only what is known is counted"
    return Time(least, censored=not exact)


def head(*names: str) -> Iterator[str]:
    yield row(names)
    yield row(["---"] * len(names))


def row(fields: Fields) -> str:
    """What a run or a file was called is no mark-up."""
    cells = (one.replace("\u00a0", " ").replace("|", "\\|").replace("<", "&lt;") for one in fields)
    return f"| {' | '.join(cells)} |"
