"""The kernels that judge a run, and the results that each of them waits for.

1. Threads get the work in an order in which each piece can start. A piece never waits for one that
   is submitted later. The number of threads changes no row.
2. Results that several kernels need are computed once per run. Large results with few users are
   dropped after the last use (`_USES`), and their users come first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from spark_analysis.engine.kernel import cases, costs, curves, digest, doubts, sends, views
from spark_analysis.engine.kernel.arrays import NEVER
from spark_analysis.engine.kernel.events import arrivals, messages, publishes, windows
from spark_analysis.engine.kernel.fates import (
    attempts,
    attributions,
    check_backs,
    delays,
    duplicates,
    loss,
    not_redelivered,
    order,
    transactions,
)
from spark_analysis.engine.kernel.records import (
    Acknowledgements,
    Attempts,
    Deliveries,
    Faults,
    Lateness,
    Probes,
    Reader,
    Resources,
    Settlements,
    Terms,
)
from spark_analysis.engine.kernel.times import (
    availability,
    consumption,
    outages,
    service,
    stages,
    starvation,
    stretches,
)
from spark_analysis.engine.threads import Threads
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import RUN

T = TypeVar("T")
Work = Callable[[], T]
Rows = Mapping[str, Sequence[object]]  # by mart

# The number of kernels below that use each result, once each.
_USES = {"intended": 7, "of_run": 3, "given": 3}

_Verdict = tuple[list[cases.Census], list[cases.Cases]]  # what is only counted; what is listed too


@dataclass(frozen=True, slots=True)
class Run:
    """One run that is being judged, with the results that several of its kernels need."""

    facts: Facts
    reader: Reader
    known: Work[messages.Messages]
    arrived: Work[arrivals.Arrivals]
    intended: Work[publishes.Publishes]
    of_run: Work[stretches.Course | None]
    given: Work[consumption.Given]
    reached: Work[list[Stage]]

    @property
    def forces(self) -> tuple[windows.Force, ...]:
        return windows.forces(self.facts, self.reader.read(Faults))

    @property
    def overlaps(self) -> tuple[windows.Overlaps, ...]:
        return windows.overlaps(self.facts, self.reader.read(Faults))


@dataclass(frozen=True, slots=True)
class KernelResult:
    """The result of one kernel on messages and deliveries."""

    rows: Rows
    listed: list[cases.Cases]


def begin(facts: Facts, reader: Reader, threads: Threads) -> Run:
    """Submit the work that all other work depends on."""
    for kind in (Attempts, Settlements):
        threads.give(partial(reader.read, kind))
    known = threads.give(
        lambda: messages.fold(
            reader.read(Attempts), reader.read(Settlements), reader.read(Terms), facts.levels
        )
    )
    threads.give(partial(reader.read, Deliveries))
    arrived = threads.give(
        lambda: arrivals.arrivals(reader.read(Deliveries), known(), facts.way_numbers)
    )
    intended = threads.give(lambda: publishes.publishes(known(), facts), _USES["intended"])
    of_run = threads.give(
        lambda: stretches.course_of(RUN, intended(), known(), facts), _USES["of_run"]
    )
    given = threads.give(lambda: consumption.given(known(), arrived()), _USES["given"])

    def reached() -> list[Stage]:
        forces = windows.forces(facts, reader.read(Faults))
        return stages.stages(known(), arrived(), given(), of_run(), forces, facts)

    return Run(facts, reader, known, arrived, intended, of_run, given, threads.give(reached))


def of_messages(
    run: Run, threads: Threads, *, of_sending: bool = False
) -> list[Work[KernelResult]]:
    """Submit the verdicts on messages and deliveries: one piece of work per kernel, and its
    counts. `of_sending`: of those that need no delivery, which may come with others."""
    verdicts = _verdicts_of_sending(run) if of_sending else _verdicts(run)
    return [threads.give(partial(_found, run.facts.run, verdict)) for verdict in verdicts]


def of_time(run: Run, threads: Threads) -> list[Work[Rows]]:
    """Submit the verdicts on time, and the marts beside verdicts."""
    return [threads.give(work) for work in _times(run)]


def of_cases(run: Run, found: Sequence[Work[KernelResult]], threads: Threads) -> list[Work[Rows]]:
    """Submit the marts that sum up all cases."""

    def listed() -> Iterator[cases.Cases]:
        return (each for work in found for each in work().listed)

    def attributed() -> Rows:
        return {
            "attributions": [
                *attributions.attributions(run.known(), run.arrived(), listed(), run.facts)
            ]
        }

    def doubtful() -> Rows:
        census = (each.census for each in listed())
        answers, lateness = run.reader.read(Acknowledgements), run.reader.read(Lateness)
        rows = doubts.doubts(run.known(), run.arrived(), answers, lateness, census, run.facts)
        return {"doubts": rows}

    def digested() -> Rows:
        every = [*listed()]
        return {
            "marks": digest.marks(run.facts.run, every),
            "examples": digest.examples(run.facts.run, every),
            "later": digest.later(run.facts, every, run.reached()),
        }

    return [threads.give(attributed), threads.give(doubtful), threads.give(digested)]


def _verdicts_of_sending(run: Run) -> Iterator[Work[_Verdict]]:
    """Yield every verdict with a count of sending (schema/groups.py)."""
    facts, known, arrived = run.facts, run.known, run.arrived
    yield lambda: publishes.missed(run.intended(), known())
    yield lambda: ([known().states(), known().confirmed()], [])
    yield lambda: attempts.attempts(known(), arrived(), facts)
    yield lambda: delays.delays(known(), arrived(), facts)
    yield lambda: transactions.transactions(known(), arrived(), facts)


def _verdicts(run: Run) -> Iterator[Work[_Verdict]]:
    facts, reader, known, arrived = run.facts, run.reader, run.known, run.arrived
    yield from _verdicts_of_sending(run)
    yield lambda: order.order(known(), arrived(), facts)
    yield lambda: not_redelivered.not_redelivered(known(), arrived(), facts, reader)
    yield lambda: ([], loss.loss(known(), arrived(), facts))
    yield lambda: ([], [arrivals.misrouted(arrived(), known())])
    yield lambda: ([], _strays(run))
    # What never returns is never over there.
    yield lambda: ([], check_backs.check_backs(known(), arrived(), facts, reader))
    # Only copies ask when windows were over: until then a queue may have changed its master.
    yield lambda: (
        [],
        duplicates.duplicates(known(), arrived(), stages.settled(facts, run.reached()), reader),
    )


def _strays(run: Run) -> list[cases.Cases]:
    publishers = (worker for worker in run.facts.workers if worker.role == "publisher")
    closed = all(worker.log_closed for worker in publishers)
    arrived = run.arrived()
    return [*arrivals.unexpected(arrived, run.known(), closed), *arrivals.corrupt(arrived)]


def _found(run: str, verdict: Work[_Verdict]) -> KernelResult:
    census, listed = verdict()
    every = [*census, *(each.census for each in listed)]
    counts = [count for each in every for count in cases.counts(run, each)]
    return KernelResult({"counts": counts}, listed)


def _history(kind: str, run: Run) -> Rows:
    """Return the outages and services of all scopes of one kind. The history is large and is not
    kept."""
    facts = run.facts
    course = (
        run.of_run()
        if kind == RUN
        else stretches.course_of(kind, run.intended(), run.known(), facts)
    )
    if course is None:
        return {}
    spells = outages.spells(course, run.forces, facts)
    served = service.service(course, spells, run.forces, run.overlaps, facts)
    return {"outages": [spell.row for spell in spells], "service": [*served]}


def _times(run: Run) -> Iterator[Work[Rows]]:
    """Yield the work in an order that keeps little in memory: histories before deliveries."""
    facts, known, arrived, intended = run.facts, run.known, run.arrived, run.intended
    reader = run.reader
    yield partial(_history, RUN, run)
    yield lambda: {"exposure": service.exposure(run.of_run(), known(), run.forces, facts)}
    yield from (partial(_history, kind, run) for kind in stretches.KINDS if kind != RUN)
    yield partial(_small, run)
    yield lambda: {
        "starvation": [
            *starvation.starvation(known(), arrived(), run.given(), run.overlaps, facts, reader)
        ]
    }
    yield lambda: {
        "consumption": [*consumption.consumption(known(), run.given(), run.forces, facts)]
    }
    yield lambda: {
        "availability": availability.availability(known(), intended(), run.reached(), facts)
    }
    yield partial(_curves, run)
    yield lambda: {"steady_state": costs.steady_state(known(), intended(), facts)}
    yield partial(_sends, run)


def _curves(run: Run) -> Rows:
    known = run.known()
    seconds = availability.seconds(known, run.arrived(), run.intended(), run.facts.run)
    return {"seconds": seconds, "latencies": curves.latencies(known, seconds, run.facts)}


def _sends(run: Run) -> Rows:
    known = run.known()
    denied = sends.failed_settlements(known, run.reader.read(Settlements))
    failed_ns = sends.failed_ns(known, denied)
    return {
        "sends": [*sends.sends(known, failed_ns, run.facts)],
        "answers": [*sends.answers(known, failed_ns, denied, run.facts)],
        "sending": curves.sending(known, failed_ns < NEVER, run.facts),
    }


def _small(run: Run) -> Rows:
    """Return the marts of tables with few rows."""
    facts = run.facts
    ways = views.ways(run.reader.read(Probes))
    return {
        "stages": [*run.reached(), *views.stages(ways, facts)],
        "use": costs.use(run.reader.read(Resources), facts),
        "queries": [*views.query_totals(ways, facts.run)],
        "changes": [*views.changes(ways, facts.run)],
        "silences": [*views.silences(ways, facts.run)],
    }
