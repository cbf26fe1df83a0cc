"""The page by which somebody chooses a layout: cost against loss against outage, of all played.

1. Every number is of runs that were judged, and says how many.
2. As report.html: no script, no address, whatever others said is text; the same runs make the same
   bytes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from harness.compare.frontier import Offer, Place, Standing, standings
from harness.compare.medians import Median, median
from harness.compare.rates import rate_known
from harness.judging.verdict_file import RunEntry
from harness.plan.model import cell_of
from harness.report.html import template
from harness.report.page import formats
from harness.view.costs import BROKERS, known_median
from harness.view.grouping import by_key
from spark_analysis.files.writing import write_whole

MIB = 2**20
ROOM = 1.15


class Point(NamedTuple):
    """A place in the drawing, in per cent from the left and from the top."""

    x: float
    y: float
    tone: str
    number: int
    title: str


class LayoutRow:
    def __init__(self, number: int, one: Standing, numbers: Mapping[Place, int]) -> None:
        offer = one.offer
        self.number, self.place = number, offer.place
        fine = "pass" if one.on_frontier else "not_applicable"
        self.tone = "fail" if offer.lost.violated else fine
        self.standing = _standing(one, numbers)
        self.runs = formats.plural(offer.runs, "run")
        hosts = formats.plural(offer.hosts or 0, "host")
        self.hosts = "hosts unknown" if offer.hosts is None else hosts
        self.memory = _text(offer.memory_bytes, lambda octets: f"{octets / MIB:,.0f} MiB")
        self.cores = _text(offer.cores, "{:.2f}".format)
        self.rate = _text(offer.per_s, "{:,.0f}".format)
        self.latency = _text(offer.p50_ms, "{:.1f} ms".format)
        self.lost = offer.lost.describe("lost")
        self.broken = offer.broken.describe("a promise broken")
        self.outs = tuple(f"{name}: {_median(out)}" for name, out in offer.outs.items())
        self.worst = "the time of unavailability is unknown"
        if offer.worst is not None:
            self.worst = f"out for longest: {offer.worst[0]}, {_median(offer.worst[1])}"


class LayoutsPage:
    """`scenarios`: that every place has."""

    def __init__(self, runs: Iterable[RunEntry]) -> None:
        places = by_key(runs, lambda run: cell_of(run.cell)[1:])
        ranked = standings([_offer(place, of_place) for place, of_place in places.items()])
        known = [one.offer for one in ranked]
        shared = set.intersection(*(set(one.outs) for one in known)) if known else set[str]()
        longest = {one.place: _longest(one, shared) for one in known}
        memory_top = ROOM * max((one.memory_bytes or 0.0 for one in known), default=0.0) or 1.0
        out_top = ROOM * max(longest.values(), default=0.0) or 1.0
        numbers = {one.place: number for number, one in enumerate(known, start=1)}
        self.rows = tuple(LayoutRow(numbers[one.offer.place], one, numbers) for one in ranked)
        self.points = tuple(
            Point(
                x=round(100 * one.memory_bytes / memory_top, 2),
                y=round(100 * (1 - longest[one.place] / out_top), 2),
                tone=row.tone,
                number=row.number,
                title=" · ".join(one.place),
            )
            for one, row in zip(known, self.rows, strict=True)
            if one.memory_bytes is not None and one.worst is not None
        )
        self.memory_top = f"{memory_top / MIB:,.0f} MiB"
        self.out_top = formats.seconds(out_top)
        self.scenarios = tuple(sorted(shared))
        self.frontier = sum(one.on_frontier for one in ranked)


def lines(runs: Sequence[RunEntry]) -> Iterator[str]:
    """For a terminal."""
    for row in LayoutsPage(runs).rows:
        yield f"{row.number}. {' · '.join(row.place)}: {row.standing}"
        yield f"   {row.runs}; {row.hosts}, {row.memory}; {row.lost}; {row.worst}"


def write(runs: Sequence[RunEntry], path: Path) -> Path:
    return write_whole(path, template("layouts.html").render(page=LayoutsPage(runs)))


def _offer(place: Place, runs: Sequence[RunEntry]) -> Offer:
    costs = [run.cost for run in runs if run.cost is not None and run.cost.broker_hosts]
    hosts = Counter(cost.broker_hosts for cost in costs)
    return Offer(
        place=place,
        runs=len(runs),
        hosts=hosts.most_common(1)[0][0] if hosts else None,
        cores=known_median(cost.sum_of(BROKERS, "cores") for cost in costs),
        memory_bytes=known_median(cost.sum_of(BROKERS, "memory_median_bytes") for cost in costs),
        per_s=known_median(cost.confirmed_per_s for cost in costs),
        p50_ms=known_median(cost.p50_ms for cost in costs),
        lost=rate_known(run.lost for run in runs),
        broken=rate_known(run.broken for run in runs),
        outs=_outs(runs),
    )


def _outs(runs: Iterable[RunEntry]) -> Mapping[str, Median]:
    """Return the downtime by scenario with faults, also of those without downtime."""
    timed = [(run.cell.scenario, run.out) for run in runs if run.summary and run.summary.faults]
    known = [(scenario, out) for scenario, out in timed if out is not None]
    by_scenario = by_key(known, lambda one: one[0])
    return {name: median([out for _, out in own]) for name, own in sorted(by_scenario.items())}


def _longest(one: Offer, shared: Collection[str]) -> float:
    """Under the scenarios that all have played; its own where there are none."""
    times = [out.median for name, out in one.outs.items() if name in shared or not shared]
    return max(times, default=0.0)


def _standing(one: Standing, numbers: Mapping[Place, int]) -> str:
    if not one.known:
        return "not compared: its cost, its losses or its outages are not known"
    if not one.by:
        return "on the frontier"
    place, better = one.by[0]
    more = f" (and {len(one.by) - 1} more)" if len(one.by) > 1 else ""
    return f"dominated by {numbers[place]}{more}, which is better in {', '.join(better)}"


def _median(median: Median) -> str:
    return f"{median.describe(formats.seconds)} ({formats.plural(median.runs, 'run')})"


def _text(value: float | None, to_text: Callable[[float], str]) -> str:
    return "unknown" if value is None else to_text(value)
