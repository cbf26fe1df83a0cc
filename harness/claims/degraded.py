"""Why nothing can be said of service under a fault: the load was degraded before it (`sick`).

An outage that began under an earlier fault, or before clients had had time to recover from it,
comes of that fault, or may: then the reason names it, and what to do is another than for a machine
that is too busy.
"""

from collections.abc import Iterable

from harness.claims.derived import together
from harness.claims.values import Unknown
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.service import Outage, Service

SICK = Unknown(
    "the load was already degraded before the fault",
    "close other programs, or lower `rate`, until the load is on time before the fault",
)


def degraded(row: Service, facts: Facts, outages: Iterable[Outage]) -> Unknown:
    """Return why a row whose answer is `sick` says nothing. An outage that began since an earlier
    fault names it."""
    begun = _begun(row, facts)
    if not begun:  # marts of an older run may name a fault that never began
        return SICK
    origin_ns = min(one.origin_ns for one in begun)
    since = [
        one
        for one in outages
        if (one.scope, one.name) == (row.scope, row.name)
        and one.from_ns < origin_ns - facts.deadline_ns
        and (one.until_ns > origin_ns or one.ended == words.NEVER)
    ]
    # What was due up to a deadline before a fault may be late because of it.
    first = min(since, key=lambda one: one.from_ns, default=None)
    before = [
        one
        for one in facts.windows
        if first is not None
        and one.origin_ns < origin_ns
        and one.origin_ns <= first.from_ns + facts.deadline_ns
        and _may_come_of(first, one, facts)
    ]
    if not before:
        return SICK
    return _since(max(before, key=lambda one: one.origin_ns), row.window, origin_ns)


def _may_come_of(outage: Outage, earlier: Window, facts: Facts) -> bool:
    """Return whether an outage began before clients had had time to recover from a fault."""
    if str(earlier.number) in outage.windows.split(",") or earlier.ended_ns is None:
        return True
    return outage.from_ns <= earlier.ended_ns + facts.deadline_ns + facts.reconnect_ns


def sick(rows: Iterable[Service], facts: Facts, findings: Findings) -> Unknown | None:
    """Return why the run's missed publishes say nothing about the fault; None if they do."""
    for row in rows:
        if row.scope == words.RUN and row.verdict == words.SICK:
            return degraded(row, facts, findings.outages)
    return None


def sick_windows(facts: Facts, findings: Findings) -> dict[int, Unknown]:
    """Return the faults before which the load of the run was degraded, each with the reason."""
    return {
        row.window: degraded(row, facts, findings.outages)
        for row in findings.service
        if (row.scope, row.promise, row.verdict) == (words.RUN, words.FAULT, words.SICK)
    }


def _begun(row: Service, facts: Facts) -> list[Window]:
    """Return the faults before whose first one the load was degraded."""
    healed = row.promise == words.HEALED
    chain = together(row.window, facts) if healed else {row.window}
    return [one for one in facts.windows if one.number in chain]


def _since(earlier: Window, window: int, origin_ns: int) -> Unknown:
    lasts = earlier.ended_ns is None or earlier.ended_ns > origin_ns
    has_not = "it had not ended" if lasts else "service had not recovered from it"
    return Unknown(
        f"the load was degraded since fault {earlier.number}: {has_not} when this fault began",
        f"let fault {window} begin later (increase its `opens`), when service has recovered from "
        f"fault {earlier.number}; or, if they have to overlap, judge service after all of them: a "
        "claim with `available_after_fault` and `beside_others`",
    )
