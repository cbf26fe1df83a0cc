"""What repeats of a cell say together: one row a cell, measure and detail, over its runs.

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
5. A time that was not reached, one that is owed to the undo of the fault alone, or a silence that
   did not end, enters as its lower bound and is counted in `bounds`: where that is not 0, maximum
   and median are lower bounds too.
6. A run's value of a measure of times (marts availability and stages, rows of all queues together)
   is the worst, the largest, of its times: its fault windows; window 0 where it has none. It is
   not judged where one of them has no row, or a doubt that stops the measure: that one may have
   been worse. It is a bound where one of them is. A time in which nothing was due has no share
   that was missed, and is no worse for it. Of a run without faults `missed` is all that can be
   judged: the others are an outage's.
7. No route hangs on a client: windows of client faults are no times of a measure of ROUTES.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from spark_analysis.schema.facts import Facts


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """Which cell a run belongs to."""

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
    """A time of which a run may have its worst; of rule 6."""

    run: str
    window: int
    moves_routes: bool  # its fault may change a route: there is one, and not a client's

    @classmethod
    def all_of(cls, facts: Facts) -> Iterator["Time"]:
        for window in facts.windows:
            yield cls(facts.run, window.number, window.kind not in OF_CLIENTS)
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
class Stop:
    """A doubt that keeps a measure from being judged; of times, one about any of them."""

    scope: str
    reason: str


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure to compare, and what keeps a run from having it."""

    measure: str
    detail: str
    unit: str
    mart: str  # counts, availability, stages
    stopped_by: tuple[Stop, ...]
    of: str = ""

    @property
    def of_times(self) -> bool:
        return self.mart != "counts"


def _loss(*reasons: str) -> tuple[Stop, ...]:
    return tuple(Stop("loss", reason) for reason in reasons)


def _availability(*reasons: str) -> tuple[Stop, ...]:
    return tuple(Stop("availability", reason) for reason in reasons)


OF_CLIENTS = ("client_crash", "client_freeze")  # kinds of faults
ROUTES = "routes"
OPEN = ("loss_unknown", "unreachable")  # counts of confirmed messages that are missing
PLACES = ("drain", "unreadable")
_LOGS = _loss("consumer_log", "publisher_log")
_ENDS = _loss("consumer_log", "publisher_log", "drain")
_OPEN = _loss("unreadable", "not_due", "pending")
_SENDING = _availability("stalled", "publisher_log", "publishers_absent")
_RECEIVING = (*_SENDING, *_availability("consumers_absent"))
PROVENANCES = (
    "publisher_retry",
    "diverged",
    "ambiguous",
    "stored_twice",
    "redelivery_after_ack",
    "redelivery",
    "offset_rollback",
)
MEASURES = (
    Measure("lost", "", "messages", "counts", (*_ENDS, *_OPEN)),
    Measure("stranded", "", "messages", "counts", (*_ENDS, *_OPEN)),
    # Its own reason, places that could not be read, is what it counts, so that stops nothing.
    Measure("unreachable", "", "messages", "counts", _ENDS),
    Measure("loss_unknown", "", "messages", "counts", ()),
    Measure("lost_indeterminate", "", "messages", "counts", _ENDS),
    Measure("revived", "", "messages", "counts", _ENDS),
    Measure("refused_but_delivered", "", "messages", "counts", _LOGS),
    Measure("rolled_back_but_delivered", "", "messages", "counts", _LOGS, of="transactions"),
    Measure("rollback_unknown", "", "messages", "counts", _LOGS, of="transactions"),
    Measure("torn_transaction", "", "messages", "counts", _ENDS, of="transactions"),
    Measure("early", "", "deliveries", "counts", _LOGS, of="delayed"),
    Measure("early_unknown", "", "deliveries", "counts", _LOGS, of="delayed"),
    Measure("unexpected", "", "deliveries", "counts", _LOGS),
    Measure("corrupt", "", "deliveries", "counts", _LOGS),
    Measure("duplicated", "", "deliveries", "counts", _LOGS),
    *(Measure("duplicated", word, "deliveries", "counts", _LOGS) for word in PROVENANCES),
    Measure("reordered", "", "messages", "counts", _LOGS),
    Measure("missed", "", "share", "availability", _SENDING),
    Measure("silence", "", "ns", "availability", _SENDING),
    Measure("degraded", "", "ns", "stages", _SENDING),
    # Name servers are asked by probers: what became of other workers says nothing against them.
    Measure("route_changed", "", "ns", "stages", (), of=ROUTES),
    Measure("route_changed_everywhere", "", "ns", "stages", (), of=ROUTES),
    Measure("first_success", "", "ns", "stages", _SENDING),
    Measure("consumers_resumed", "", "ns", "stages", _RECEIVING),
    Measure("backlog_drained", "", "ns", "stages", _RECEIVING),
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
