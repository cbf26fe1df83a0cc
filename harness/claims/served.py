"""Service and consumption of a window as facts: from rows of the marts to true, false or unknown.

1. One scope that was out refutes, whatever the others were. One that cannot be judged leaves open
   what no other refutes. A queue or publisher with too little due is left out, but at least half
   of the scopes have to be judged.
2. Enough of the whole run must have been due: without publishes there is no service to judge.
3. Every answer names the scope that decided it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from harness.claims.open_service import LONGER, LONGER_AFTER, MORE
from harness.claims.values import Unknown, Why, why_of
from spark_analysis.schema import service as words
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.service import Consumption, Outage, Service
from spark_analysis.schema.words import window_numbers

NS = 1e9
_WHOLE = "the cluster as a whole"  # as the scope of a run reads
_ENDED = {
    words.SYSTEM: "",
    words.UNDO: ", until the fault's end",
    words.EITHER: ", and the fault's end may have ended it",
    words.UNKNOWN: ", and whether it recovered is unknown",
    words.NEVER: ", and did not recover",
}
_MORE = "send more messages while the fault is active (`rate`, or a longer `lasts`)"
_MORE_AFTER = "extend the load after the fault (`recovery`), or send more (`rate`)"
# Consumers that are slow already cannot take more: of such advice the rest remains.
WITHOUT_MORE = {
    _MORE: LONGER,
    _MORE_AFTER: LONGER_AFTER,
    MORE: LONGER,
}


def rows_of(findings: Findings, window: int, promise: str) -> tuple[Service, ...]:
    """One row a scope, the run's first."""
    rows = (r for r in findings.service if (r.window, r.promise) == (window, promise))
    return tuple(sorted(rows, key=lambda row: (row.scope != words.RUN, row.scope, row.name)))


def served(rows: Sequence[Service], why_unknown: Callable[[Service], Unknown]) -> bool | Unknown:
    """Return whether every scope that can be judged was served. `rows`: of one window and promise,
    the run's first, unless they are of some publishers only. `why_unknown`: returns why the answer
    of a row is open, or sick."""
    verdicts = {row.verdict for row in rows}
    if words.OUT in verdicts:
        return False
    for row in rows:
        if row.verdict in (words.SICK, words.OPEN):
            unknown = why_unknown(row)
            if row.scope == words.RUN:
                return unknown
            why = why_of(unknown.reason)
            whose = f"{scope_name(row)}: {why.before}"
            return replace(unknown, reason=replace(why, before=whose))
    run = rows[0]
    judged = sum(row.verdict == words.SERVED for row in rows)
    if run.verdict != words.FEW and judged * 2 < len(rows):
        whose = "publishers" if run.scope == words.PUBLISHER else f"{_WHOLE}, queues, publishers"
        of = f"{len(rows):,} ({whose})"
        why = Why(f" of {of} had enough load to be judged", judged, "only ")
        return Unknown(why, _MORE_AFTER if run.promise == words.HEALED else _MORE)
    if run.verdict == words.FEW:
        advice = _MORE_AFTER if run.promise == words.HEALED else _MORE
        due = min(run.due, run.in_force)
        return Unknown(Why(" publishes were due then", due, "only "), advice)
    return True


def only_few(rows: Sequence[Service]) -> bool:
    """Return whether the only known fact is that too little of the run was due."""
    known = {row.verdict for row in rows}
    return rows[0].verdict == words.FEW and known <= {words.FEW, words.SERVED}


def sentence(
    rows: Sequence[Service],
    outages: Sequence[Outage],
    ended_ns: int | None = None,
    queue: str = "queue",
) -> str:
    """Return which scope decided: the one that was unavailable, and how; otherwise which were
    served. `ended_ns`: of the fault. `queue`: what one that messages are sent to is called."""
    out = [row for row in rows if row.verdict == words.OUT]
    if out:
        worst = max(out, key=lambda row: row.worst_ns)
        if not worst.worst_ns:
            return f"{scope_name(worst)} was confirmed only once the fault was undone"
        others = f", and {len(out) - 1} more" if len(out) > 1 else ""
        return f"{scope_name(worst)} was unavailable for {_outage(worst, outages)}{others}"
    judged = [row for row in rows if row.verdict == words.SERVED]
    number = Counter(row.scope for row in judged)
    names = [_WHOLE] if number[words.RUN] else []
    counted = _counted(number, (words.QUEUE, words.PUBLISHER), queue)
    names += [counted] if counted else []
    left = sum(row.verdict == words.FEW for row in rows)
    few = f", {left} with too little load" if left else ""
    longest = max((row.worst_ns for row in judged), default=0)
    after = f", unavailable for at most {longest / NS:.3f} s" if longest else ""
    run = rows[0]
    left_out = _not_counted(run, outages) + _before_reconnect(run, outages, ended_ns)
    return f"served{_times(run)}: {', '.join(names) or 'none'}{few}{after}{left_out}"


def _times(run: Service) -> str:
    """Return the time that a claim about service after the fault judges; "" for other claims."""
    if run.promise != words.HEALED:
        return ""
    from_s, until_s = run.from_ns / NS, run.until_ns / NS
    return f" from +{from_s:.1f} s, when clients had had time to reconnect, to +{until_s:.1f} s"


def from_until(from_ns: int, until_ns: int) -> str:
    """Return `from +53.2 s to +59.3 s`."""
    return f"from +{from_ns / NS:.1f} s to +{until_ns / NS:.1f} s"


def _before_reconnect(run: Service, outages: Iterable[Outage], ended_ns: int | None) -> str:
    """Return the longest outage of the run after the fault that a claim about service after the
    fault does not judge: it ended while clients still had time to reconnect."""
    if run.promise != words.HEALED or ended_ns is None:
        return ""
    before = [
        one
        for one in outages
        if one.scope == words.RUN and ended_ns <= one.from_ns and one.until_ns <= run.from_ns
    ]
    if not before:
        return ""
    longest = max(before, key=lambda one: one.until_ns - one.from_ns)
    seconds = (longest.until_ns - longest.from_ns) / NS
    which = f"the outage of {seconds:.1f} s from +{longest.from_ns / NS:.1f} s"
    return f"; {which} does not count: it {reconnect_text(run.from_ns)}"


def reconnect_text(until_ns: int) -> str:
    """Return why claims about service after the fault leave an outage out."""
    until = f"until +{until_ns / NS:.1f} s"
    return f"lies within the time that clients have to reconnect ({until})"


def healed_from_ns(findings: Findings, window: int) -> int | None:
    """Return from when on claims about service after the fault judge it; None: they do not."""
    rows = rows_of(findings, window, words.HEALED)
    return rows[0].from_ns if rows else None


def _not_counted(run: Service, outages: Iterable[Outage]) -> str:
    """Return the longest outage of the run that this window began with, if it lies before the time
    that counts: sources that name no time leave the take-over as long as it needs."""
    before_ns = [
        one.until_ns - one.from_ns
        for one in outages
        if one.scope == words.RUN
        and run.window in window_numbers(one.windows)
        and one.until_ns <= run.from_ns
    ]
    if (run.scope, run.promise) != (words.RUN, words.FAULT) or not before_ns:
        return ""
    longest_s = max(before_ns) / NS
    seconds = f"{longest_s:.3f} s" if longest_s < 1 else f"{longest_s:.1f} s"
    return (
        f"; the outage of {seconds} before messages were on time again does not count, because "
        "the source names no time"
    )


def consumed(
    rows: Iterable[Consumption], limit_ns: int, queue: str = "queue"
) -> tuple[bool | None, str]:
    """Return whether every queue and consumer that can be judged consumed again; None: unknown. A
    row that got some, but less than half, has a time before `limit_ns`. `queue`: what one that
    consumers read is called."""
    judged = [row for row in rows if row.due >= words.JUDGED_MIN]
    if not judged:
        return (
            None,
            "too few messages were confirmed while the fault was active to judge consumption",
        )
    silent = [row for row in judged if not row.resumed]
    partly = [row for row in silent if row.at_ns < limit_ns]
    if silent and len(partly) == len(silent):
        worst = max(partly, key=lambda row: row.due)
        return None, f"{_who(worst)} got less than half of {worst.due:,} messages in that time"
    silent = [row for row in silent if row not in partly]
    if silent:
        worst = max(silent, key=lambda row: row.due)
        return False, f"{_who(worst)} got (nearly) nothing of {worst.due:,} messages"
    number = Counter(row.scope for row in judged)
    return True, _counted(number, (words.QUEUE, words.CONSUMER), queue)


def queue_served_ns(
    rows: Iterable[Consumption], outages: Sequence[Outage], served_ns: int, deadline_ns: int
) -> int:
    """Return since when publishers of some queue that gave too little were served. `served_ns`:
    since when those of any queue were."""
    of_queues = (row for row in rows if row.scope == words.QUEUE)
    silent = [row for row in of_queues if row.due >= words.JUDGED_MIN and not row.resumed]
    ends_ns = (
        max(
            (one.until_ns for one in outages if _holds(one, row, served_ns, deadline_ns)),
            default=0,
        )
        for row in silent
    )
    return max(served_ns, min(ends_ns, default=0))


def _holds(outage: Outage, row: Consumption, at_ns: int, deadline_ns: int) -> bool:
    """Return whether an outage of a queue lasted then, or began soon after."""
    own = (outage.scope, outage.name) == (row.scope, row.name)
    return own and outage.from_ns <= at_ns + deadline_ns and outage.until_ns > at_ns


def _counted(number: Counter[str], scopes: Sequence[str], queue: str) -> str:
    """Return `1 queue, 2 publishers`."""
    nouns = ((number[scope], queue if scope == words.QUEUE else scope) for scope in scopes)
    return ", ".join(f"{many:,} {noun}{'s' if many > 1 else ''}" for many, noun in nouns if many)


def scope_name(row: Service | Outage) -> str:
    return _WHOLE if row.scope == words.RUN else f"{row.scope} {row.name}"


def _who(row: Consumption) -> str:
    return f"{row.scope} {row.name}"


def _outage(row: Service, outages: Iterable[Outage]) -> str:
    of_scope = [one for one in outages if row.meets(one)]
    seconds = f"{row.worst_ns / NS:.1f} s"
    if not of_scope:
        return seconds
    longest = max(of_scope, key=lambda one: one.until_ns - one.from_ns)
    return f"{seconds}{_ENDED[longest.ended]}"
