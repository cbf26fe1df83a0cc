"""Outages and waits that an operation may have caused, beside the fault or instead of it.

1. If an operator stops a broker or moves a leader, the broker is not to blame. If an operation may
   explain the violation of a claim about a fault, the claim is not decided.
2. An operation may explain an outage that overlaps it, or that began before clients had had time
   to reconnect after it.
3. Under a fault the operation has to begin before brokers and clients have had time to notice the
   fault and to reconnect. An outage that lasted until then refutes the claim.
4. Where service was due anyhow, an operation explains nothing that had begun earlier than a
   deadline before it. Once the fault is undone, it explains no outage that goes on after clients
   have had time to reconnect.
5. The unplanned end of a process is no operation: claims judge it by its cause.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from harness.claims.doubts import BY_OPERATORS
from harness.claims.values import Interval, Unknown
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.operation_times import OperationTime
from spark_analysis.schema.service import Outage, Service

UNDECIDED = Unknown(*BY_OPERATORS)
ROUTES_NS = 30_000_000_000  # so often at least clients request their routes
TIMEOUTS = 2  # so many detection timeouts a silent host may stay unnoticed


def back_ns(facts: Facts) -> int:
    """Return how long clients may take to be back, and to show it."""
    return facts.deadline_ns + facts.reconnect_ns + words.STRETCH_NS


def came(facts: Facts, from_ns: int, by_ns: int) -> bool:
    """Return whether an operation that began before `by_ns` may explain what began then."""
    return any(one.origin_ns < by_ns for one in _reaching(facts, from_ns))


def explains(
    facts: Facts, rows: Sequence[Service], outages: Iterable[Outage], noticed_ns: int
) -> bool:
    """Return whether operations may explain every scope that was out; if none was, that all was
    confirmed only once the fault was undone. `rows`: of one window and promise. `noticed_ns`: so
    long the fault may go unnoticed."""
    every, patience_ns = tuple(outages), noticed_ns + back_ns(facts)
    out = [row for row in rows if row.verdict == words.OUT]
    if not out:
        return _came_early(facts, rows[0], patience_ns)
    return all(_explains(facts, row, every, patience_ns) for row in out)


def without(facts: Facts, waited: Interval, from_ns: int, until_ns: int, due_ns: int) -> Interval:
    """Return a wait after a fault; one that an operation may explain is not certain."""
    if not _met_when_due(facts, from_ns, until_ns, due_ns, all_back=True):
        return waited
    return replace(
        waited,
        low=0,
        doubt=waited.doubt or UNDECIDED.reason,
        advice=waited.advice or UNDECIDED.advice,
    )


def _reaching(facts: Facts, from_ns: int) -> Iterator[OperationTime]:
    """Yield the operations after which clients were not back for certain by then."""
    back = facts.deadline_ns + facts.reconnect_ns
    return (one for one in facts.at_work if one.over_ns is None or from_ns <= one.over_ns + back)


def _met_when_due(
    facts: Facts, from_ns: int, until_ns: int, due_ns: int, *, all_back: bool
) -> bool:
    """Return whether an operation may explain what lasted from then until then. `due_ns`: since
    when service was due. `all_back`: the fault keeps nothing away any more."""
    begins_ns = max(from_ns, due_ns)
    return any(
        one.origin_ns < until_ns
        and begins_ns >= one.origin_ns - facts.deadline_ns
        and not (
            all_back
            and one.out_until_ns is not None
            and until_ns > one.out_until_ns + back_ns(facts)
        )
        for one in _reaching(facts, begins_ns)
    )


def _came_early(facts: Facts, one: Service | Outage, patience_ns: int) -> bool:
    """Return whether an operation may explain what was out, or unconfirmed, under a fault."""
    return came(facts, one.from_ns, min(one.until_ns, one.from_ns + patience_ns))


def _explains_outage(facts: Facts, row: Service, one: Outage, patience_ns: int) -> bool:
    if row.promise == words.FAULT:
        return _came_early(facts, one, patience_ns)
    all_back = row.promise == words.HEALED
    return _met_when_due(facts, one.from_ns, one.until_ns, row.from_ns, all_back=all_back)


def _held_between(facts: Facts, row: Service, patience_ns: int) -> tuple[int, int]:
    """Return since when a scope was out though nothing was late, and when an operation that may
    explain that had begun: most of what was due from 10 s to 5 s before the undo was confirmed
    after it. As it was in time, it waited for a deadline at most."""
    since_ns = max(row.from_ns, row.until_ns - facts.deadline_ns)
    return since_ns, min(row.until_ns - words.STRETCH_NS, since_ns + patience_ns)


def _explains(facts: Facts, row: Service, outages: Iterable[Outage], patience_ns: int) -> bool:
    own = [one for one in outages if row.meets(one)]
    if not own:
        return came(facts, *_held_between(facts, row, patience_ns))
    left = [one for one in own if not _explains_outage(facts, row, one, patience_ns)]
    borne = row.promise == words.FAULT and all(one.ended == words.SYSTEM for one in left)
    return not left or (borne and len(left) < len(own) and len(left) <= words.RELAPSES_MAX)
