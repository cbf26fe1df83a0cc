"""The page by which somebody chooses a layout: cost against loss against outage, of all played.

1. Every number is of runs that were judged, and says how many.
2. As report.html: no script, no address, whatever others said is text; the same runs make the same
   bytes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median as middle

from harness.compare.frontier import Offer, Place, Standing, standings
from harness.compare.medians import Median, Time, median
from harness.compare.rates import rate
from harness.judging.verdict_file import RunEntry
from harness.report.html import template
from harness.report.page import formats
from harness.view.costs import BROKERS
from spark_analysis.schema.writing import write_whole

MIB = 2**20
ROOM = 1.15


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the drawing, in per cent from the left and from the top."""

    x: float
    y: float
    tone: str
    number: int
    title: str


@dataclass(frozen=True, slots=True)
class LayoutRow:
    number: int
    place: Place
    tone: str
    standing: str
    runs: str
    hosts: str
    memory: str
    cores: str
    latency: str
    rate: str
    lost: str
    broken: str
    outs: tuple[str, ...]
    worst: str


@dataclass(frozen=True, slots=True)
class LayoutsPage:
    rows: tuple[LayoutRow, ...]
    points: tuple[Point, ...]
    memory_top: str
    out_top: str
    scenarios: tuple[str, ...]  # that every place has
    frontier: int


def offers(runs: Iterable[RunEntry]) -> list[Offer]:
    """What the runs come to, by place."""
    by_place: dict[Place, list[RunEntry]] = {}
    for run in runs:
        by_place.setdefault(run.cell.cell[1:], []).append(run)
    return [_offer(place, of_place) for place, of_place in by_place.items()]


def page(runs: Sequence[RunEntry]) -> LayoutsPage:
    ranked = standings(offers(runs))
    known = [one.offer for one in ranked]
    every = [set(one.outs) for one in known]
    shared = set.intersection(*every) if every else set()
    longest = {one.place: _longest(one, shared) for one in known}
    memory_top = ROOM * max((one.memory_bytes or 0.0 for one in known), default=0.0) or 1.0
    out_top = ROOM * max(longest.values(), default=0.0) or 1.0
    return LayoutsPage(
        rows=tuple(_row(number, one, ranked) for number, one in enumerate(ranked, start=1)),
        points=tuple(_points(ranked, longest, memory_top, out_top)),
        memory_top=f"{memory_top / MIB:,.0f} MiB",
        out_top=formats.seconds(out_top),
        scenarios=tuple(sorted(shared)),
        frontier=sum(one.on_frontier for one in ranked),
    )


def lines(runs: Sequence[RunEntry]) -> Iterator[str]:
    """For a terminal."""
    for row in page(runs).rows:
        yield f"{row.number}. {' · '.join(row.place)}: {row.standing}"
        yield f"   {row.runs}; {row.hosts}, {row.memory}; {row.lost}; {row.worst}"


def write(runs: Sequence[RunEntry], path: Path) -> Path:
    """Writes the page, whole or not at all."""
    return write_whole(path, template("layouts.html").render(page=page(runs)))


def _offer(place: Place, runs: Sequence[RunEntry]) -> Offer:
    costs = [run.cost for run in runs if run.cost is not None and run.cost.broker_hosts]
    hosts = Counter(cost.broker_hosts for cost in costs)
    lost = [run.lost for run in runs if run.lost is not None]
    broken = [run.broken for run in runs if run.broken is not None]
    return Offer(
        place=place,
        runs=len(runs),
        hosts=hosts.most_common(1)[0][0] if hosts else None,
        cores=_middle(cost.sum_of(BROKERS, "cores") for cost in costs),
        memory_bytes=_middle(cost.sum_of(BROKERS, "memory_median_bytes") for cost in costs),
        per_s=_middle(cost.confirmed_per_s for cost in costs),
        p50_ms=_middle(cost.p50_ms for cost in costs),
        lost=rate(sum(lost), len(lost)),
        broken=rate(sum(broken), len(broken)),
        outs=_outs(runs),
    )


def _outs(runs: Iterable[RunEntry]) -> Mapping[str, Median]:
    """Return the downtime by scenario with faults, also of those without downtime."""
    by_scenario: dict[str, list[Time]] = {}
    for run in runs:
        if run.out is not None and run.summary is not None and run.summary.faults:
            by_scenario.setdefault(run.cell.scenario, []).append(run.out)
    return {name: median(times) for name, times in sorted(by_scenario.items())}


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return middle(known) if known else None


def _longest(one: Offer, shared: Collection[str]) -> float:
    """Under the scenarios that all have played; its own where there are none."""
    times = [out.median for name, out in one.outs.items() if name in shared or not shared]
    return max(times, default=0.0)


def _tone(one: Standing) -> str:
    if one.offer.lost.violated:
        return "fail"
    return "pass" if one.on_frontier else "not_applicable"


def _points(
    ranked: Sequence[Standing], longest: Mapping[Place, float], memory_top: float, out_top: float
) -> Iterator[Point]:
    for number, one in enumerate(ranked, start=1):
        offer = one.offer
        if offer.memory_bytes is None or offer.worst is None:
            continue
        yield Point(
            x=round(100 * offer.memory_bytes / memory_top, 2),
            y=round(100 * (1 - longest[offer.place] / out_top), 2),
            tone=_tone(one),
            number=number,
            title=" · ".join(offer.place),
        )


def _row(number: int, one: Standing, ranked: Sequence[Standing]) -> LayoutRow:
    offer = one.offer
    numbers = {each.offer.place: place for place, each in enumerate(ranked, start=1)}
    return LayoutRow(
        number=number,
        place=offer.place,
        tone=_tone(one),
        standing=_standing(one, numbers),
        runs=formats.plural(offer.runs, "run"),
        hosts="hosts unknown" if offer.hosts is None else formats.plural(offer.hosts, "host"),
        memory=_text(offer.memory_bytes, lambda octets: f"{octets / MIB:,.0f} MiB"),
        cores=_text(offer.cores, lambda cores: f"{cores:.2f}"),
        rate=_text(offer.per_s, lambda per_s: f"{per_s:,.0f}"),
        latency=_text(offer.p50_ms, lambda ms: f"{ms:.1f} ms"),
        lost=offer.lost.describe("lost"),
        broken=offer.broken.describe("a promise broken"),
        outs=tuple(f"{name}: {_median(out)}" for name, out in offer.outs.items()),
        worst=f"out for longest: {offer.worst[0]}, {_median(offer.worst[1])}"
        if offer.worst is not None
        else "the time of unavailability is unknown",
    )


def _standing(one: Standing, numbers: Mapping[Place, int]) -> str:
    if not one.known:
        return "not compared: its cost, its losses or its outages are not known"
    if not one.by:
        return "on the frontier"
    place, better = one.by[0]
    more = f" (and {len(one.by) - 1} more)" if len(one.by) > 1 else ""
    return f"dominated by {numbers[place]}{more}, which is better in {', '.join(better)}"


def _median(median: Median) -> str:
    least = "" if median.reached else "≥ "
    return f"{least}{formats.seconds(median.median)} ({formats.plural(median.runs, 'run')})"


def _text(value: float | None, to_text: Callable[[float], str]) -> str:
    return "unknown" if value is None else to_text(value)
