"""The comparison of repeats of a cell: one row a cell, measure and detail, over its runs.

Which measures there are, and what stops each: measures.py.

1. A cell is (scenario, system, layout, client); its runs are its repeats.
2. A run counts as judged for a measure if it has no doubt of scope "run" and none that the measure
   names in `stopped_by`, and if the measure exists there (no confirms: no availability). A measure
   `of` another count (of delayed messages, of transactions) exists only where that is not 0, and
   one of ROUTES only where a name server was asked for a route that a fault could change; a cell
   without such a run has no row of it.
   Places that were not drained or not read say nothing against `lost` and `stranded` where no
   confirmed message is missing: there is nothing that they could hold.
3. A judged run without a row of a counted measure has the value 0. Counts are summed over queues.
4. The median is the mean of the two middle values where their number is even (Hyndman and Fan's
   type 7 at 0.5). Its interval is free of any distribution: between the k-th smallest and the k-th
   largest value lies the true median with at least 95 %, where k is the largest such by the
   binomial distribution; None below six judged runs, where no k is.
5. A time that was not reached, one that the undo of the fault alone ended, or a silence that
   did not end, enters as its lower bound and is counted in `bounds`: where that is not 0, maximum
   and median are lower bounds too. The upper end of the median's interval takes a bound for as
   long as you like, and is None, open, where the k-th largest is one then; so none is too low.
6. A run's value of a measure of times (marts availability and stages, rows of all queues together;
   of silence the longest of any row, of equals a bound) is the worst, the largest, of its times:
   its fault windows; window 0 where it has none. It is not judged where one of them has no row, or
   a doubt that stops the measure: that one may have been worse. It is a bound where one is.
   A time in which nothing was due has no share that was missed, and is no worse for it. Of a run
   without faults `missed` is all that can be judged: the others are an outage's.
7. A measure of the mart outages is of the run's scope, whatever window its outages lie in: their
   sum, the longest, their number; 0 where there is none, and it does not exist where there is no
   history (not paced, or no confirms). It is a bound where one of them was not ended by the
   system. A doubt about any window stops it, the steady state (0) included.
8. No route depends on a client or its links: windows that spare brokers (of_clients, or
   of_client_links) are no times of a measure of ROUTES. Reports leave them out, too (views.py).
9. A stall only lengthens a time. So doubts of stalls (STALLS) do not stop a measure of unit ns:
   from the time of a window, or of all outages together, the late_ns of all such doubts are taken
   that the measure names in `stopped_by`; of a window those of that window, of outages those of
   all. What remains is a lower bound; if nothing remains, it is not judged. From longest_downtime
   the same is taken.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.measure import Mart, Measure, Stop, Unit
from spark_analysis.schema.measures import REGISTER
from spark_analysis.schema.views import may_move_routes


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """The cell of a run."""

    run: str
    scenario: str
    system: str
    layout: str
    client: str
    paced: bool
    confirms: bool

    @classmethod
    def of(cls, facts: Facts) -> "Cell":
        names = (facts.run, facts.scenario, facts.system, facts.layout, facts.client)
        return cls(*names, paced=facts.paced, confirms=facts.confirms)


@dataclass(frozen=True, slots=True, order=True)
class Time:
    """A time in which a run may have its worst value (rule 6)."""

    run: str
    window: int
    moves_routes: bool  # it is a window whose fault may change a route (rule 8)

    @classmethod
    def all_of(cls, facts: Facts) -> Iterator["Time"]:
        for window in facts.windows:
            yield cls(facts.run, window.number, may_move_routes(window))
        if not facts.windows:
            yield cls(facts.run, 0, moves_routes=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measure of one cell over its runs; no values where no run could be judged."""

    scenario: str
    system: str
    layout: str
    client: str
    measure: str
    detail: str  # "" is the total over details
    unit: str  # messages, deliveries, share, ns
    runs: int
    judged: int
    bounds: int  # judged runs whose value is only a lower bound
    minimum: float | None
    median: float | None
    maximum: float | None
    median_from: float | None
    median_until: float | None


@dataclass(frozen=True, slots=True)
class ComparedMeasure:
    """One measure of the register in the comparison, as a whole or one detail of it."""

    measure: str
    detail: str
    unit: str
    stopped_by: tuple[Stop, ...]
    of: str
    bounded: bool  # a stall makes it a lower bound (rule 9)
    counted: bool
    of_run: bool  # a time or number of the whole run, and of none of its windows

    @classmethod
    def all_of(cls, measure: Measure) -> Iterator["ComparedMeasure"]:
        of = "" if measure.of is None else measure.of.measure
        for detail in ("", *(detail.name for detail in measure.details)):
            yield cls(
                measure.name,
                detail,
                measure.unit.value,
                measure.stopped_by,
                of,
                bounded=measure.unit is Unit.NS,
                counted=measure.mart is Mart.COUNTS,
                of_run=measure.mart is Mart.OUTAGES,
            )


MEASURES = tuple(
    compared
    for measure in REGISTER
    if measure.compared
    for compared in ComparedMeasure.all_of(measure)
)


def interval_rank(values: int) -> int:
    """The k of rule 4 for so many values; 0 where there are too few."""
    # The median lies outside if fewer than k values are on one side of it, or on the other. Of the
    # 2 ** values equally likely ways to lie, `ways` have exactly `rank` values on a given side.
    rank, ways, outside = 0, 1, 0
    while (outside + 2 * ways) * 20 <= 2**values:
        outside += 2 * ways
        ways = ways * (values - rank) // (rank + 1)
        rank += 1
    return rank
