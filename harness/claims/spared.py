"""Publishers that a fault of client processes spared, and whether they were served meanwhile.

1. Such a fault takes nothing from a broker, so it excuses no outage of other clients, neither one
   that ended before its undo. Only publishers of their own count: those that it took may have left
   late publishes to their queue.
2. If most publishes of an outage were in time, the load may have been too high for the machine:
   that is open, as in the steady state. So is what lasted into the last deadline before the undo.
3. A publisher that another fault of clients kept away in that time is left out.
4. What other queues show says nothing of a queue whose publishers, or consumers, a fault of
   clients kept away.
"""

from collections.abc import Iterable
from dataclasses import replace

from harness.claims import served
from harness.claims.times import any_away
from harness.claims.values import NotApplicable, Unknown, Value, exactly
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.service import Consumption, Outage, Service
from spark_analysis.schema.taken_clients import taken

OVERLOADED = Unknown(
    "an outage while the fault was active decides nothing: most of its messages were in time, so "
    "the load may have been too high; or it lasted until shortly before the undo",
    "run it again on a quieter machine, or with a lower rate, and let the fault last longer",
)
NOTHING_DUE = NotApplicable("no publisher that the fault spared had anything to send")
_KEPT_AWAY = "a fault kept publishers away, so too few messages show how it was served"
LACKED_CONSUMERS = "a fault kept consumers away, and perhaps all of that queue"
ONE_CONSUMER = 'target only one consumer of several of a queue: target = "consumer-1"'
_ONE_OF_SEVERAL = 'target only one publisher of several of a queue: target = "publisher-1"'
_NOT_RECORDED = "no record says which clients the fault took"


def publishers_left(facts: Facts, own: Window) -> Value:
    """Return how many publishers a fault of client processes spared."""
    if own.properties is None:
        return Unknown(f"it is not declared what a {own.kind} takes")
    if not own.of_clients:
        return NotApplicable("the fault took no client's process")
    if not taken(facts, own):
        return Unknown(_NOT_RECORDED, "record the times in which clients were absent")
    return exactly(len(_spared(facts, own)))


def rows_of_spared(findings: Findings, facts: Facts, window: int) -> tuple[Service, ...]:
    """Return how each spared publisher was served while the fault was in force; one with too
    little load comes last."""
    names = {str(number) for number in _spared(facts, facts.window(window))}
    rows = (
        _unexcused(row, findings.outages, facts)
        for row in served.rows_of(findings, window, words.FAULT)
        if row.scope == words.PUBLISHER and row.name in names
    )
    return tuple(sorted(rows, key=lambda row: (row.verdict == words.FEW, row)))


def _spared(facts: Facts, own: Window) -> frozenset[int]:
    """Return the publishers that were there from the fault on until its end."""
    away = taken(facts, own) | {
        one.worker
        for one in facts.absences
        if (own.ended_ns is None or one.from_ns < own.ended_ns)
        and (one.until_ns is None or one.until_ns > own.origin_ns)
    }
    publishers = (one.number for one in facts.workers if one.role == words.PUBLISHER)
    return frozenset(publishers) - away


def overloaded(rows: Iterable[Service], outages: Iterable[Outage], facts: Facts) -> bool:
    """Return whether one of these publishers had an outage that the load itself may explain."""
    every = tuple(outages)
    return any(_of_system(row, every, facts) for row in rows)


def unsent(rows: Iterable[Service], findings: Findings, facts: Facts) -> Unknown | None:
    """Return why nothing is known of a queue: a fault of clients kept publishers away, and too
    little was due without them."""
    excused = {row.queue for row in findings.counts if row.measure == "excused" and row.count}
    for row in rows:
        few = row.scope == words.QUEUE and row.verdict == words.FEW and row.name in excused
        if few and any_away(facts, words.PUBLISHER, row.from_ns, row.until_ns):
            return Unknown(f"queue {row.name}: {_KEPT_AWAY}", _ONE_OF_SEVERAL)
    return None


def lacked_consumers(
    rows: Iterable[Consumption], facts: Facts, from_ns: int, until_ns: int
) -> bool:
    """Return whether only queues gave too little, and no consumer that was there all the time got
    too little: then a fault of clients may have kept away all that read these queues."""
    judged = (row for row in rows if row.due >= words.JUDGED_MIN and row.at_ns >= until_ns)
    silent = {row.scope for row in judged if not row.resumed}
    return silent == {words.QUEUE} and any_away(facts, words.CONSUMER, from_ns, until_ns)


def _unexcused(row: Service, outages: Iterable[Outage], facts: Facts) -> Service:
    """Return a row; an outage that the system ended refutes, too, if it is certain."""
    origin_ns = facts.window(row.window).origin_ns
    # What ended within the last deadline before the undo may have been ended by that.
    decided_ns = row.until_ns - facts.deadline_ns - facts.clock_bound_ns(words.PUBLISHER)
    certain = [
        one
        for one in _of_system(row, outages, facts)
        if one.until_ns <= decided_ns
        and one.bad * 2 > one.due
        and (one.from_ns >= origin_ns or one.until_ns > origin_ns + facts.deadline_ns)
    ]
    if not certain or row.verdict in (words.OUT, words.SICK):
        return row
    return replace(
        row,
        verdict=words.OUT,
        from_ns=min(one.from_ns for one in certain),
        worst_ns=max(one.until_ns - one.from_ns for one in certain),
    )


def _of_system(row: Service, outages: Iterable[Outage], facts: Facts) -> list[Outage]:
    """Return the outages that the system ended and that began, or went on, under the fault."""
    bound_ns, origin_ns = facts.clock_bound_ns(words.PUBLISHER), facts.window(row.window).origin_ns
    return [
        one
        for one in outages
        if (one.scope, one.name, one.ended) == (row.scope, row.name, words.SYSTEM)
        and origin_ns - facts.deadline_ns <= one.from_ns < row.until_ns
        and one.until_ns > origin_ns + bound_ns
    ]
