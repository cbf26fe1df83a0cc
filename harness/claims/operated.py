"""Outages and waits that an operation may have caused, beside the fault or instead of it.

1. An operator who stops a broker, or moves a leader, is no fault of the broker's. A claim about a
   fault whose violation he may explain is not decided.
2. He explains what met his operation, or began before clients had had time to reconnect after it.
   Where service was due anyhow, he explains nothing that had begun earlier than a deadline before.
3. The unplanned end of a process is no operation: claims judge it by its cause.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from harness.claims.doubts import BY_OPERATORS
from harness.claims.values import Interval, Unknown
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import Outage, Service

UNDECIDED = Unknown(*BY_OPERATORS)


def met(facts: Facts, from_ns: int, until_ns: int, *, due_ns: int | None = None) -> bool:
    """Return whether an operation may explain what lasted from then until then. `due_ns`: since
    when service was due, whatever the operator did later."""
    back_ns = facts.deadline_ns + facts.reconnect_ns
    return any(
        one.origin_ns < until_ns
        and (one.over_ns is None or from_ns <= one.over_ns + back_ns)
        and (due_ns is None or max(from_ns, due_ns) >= one.origin_ns - facts.deadline_ns)
        for one in facts.operated
    )


def explains(facts: Facts, rows: Sequence[Service], outages: Iterable[Outage]) -> bool:
    """Return whether operations may explain every scope that was out; if none was, that all was
    confirmed only once the fault was undone. `rows`: of one window and promise."""
    every = tuple(outages)
    out = [row for row in rows if row.verdict == words.OUT]
    if not out:
        return met(facts, rows[0].from_ns, rows[0].until_ns)
    return all(_explains(facts, row, every) for row in out)


def without(facts: Facts, waited: Interval, from_ns: int, until_ns: int, due_ns: int) -> Interval:
    """Return a wait; one that an operation may explain is not certain."""
    if not met(facts, from_ns, until_ns, due_ns=due_ns):
        return waited
    return replace(
        waited,
        low=0,
        doubt=waited.doubt or UNDECIDED.reason,
        advice=waited.advice or UNDECIDED.advice,
    )


def _explains(facts: Facts, row: Service, outages: Iterable[Outage]) -> bool:
    own = [
        one
        for one in outages
        if (one.scope, one.name) == (row.scope, row.name)
        and one.from_ns < row.until_ns
        and (one.until_ns > row.from_ns or one.ended == words.NEVER)
    ]
    if not own:  # the confirms came, but only once the fault was undone
        return met(facts, row.from_ns, row.until_ns)
    due_ns = None if row.promise == words.FAULT else row.from_ns
    left = [one for one in own if not met(facts, one.from_ns, one.until_ns, due_ns=due_ns)]
    borne = row.promise == words.FAULT and all(one.ended == words.SYSTEM for one in left)
    return not left or (borne and len(left) < len(own) and len(left) <= words.RELAPSES_MAX)
