"""Service in steady state: before the first fault, and after recovery from each.

1. An outage then is the system's own, and so is a wait of a queue's consumers.
2. Publishers and consumers that have just started may be slow. An outage that ends within
   WARM_UP_NS of the load's beginning is reported, and breaks no claim.
3. A silence shows only if there was time for it: less than STRETCH_NS proves nothing.
4. A stalled instrument makes an outage or a silence longer, never shorter. A publisher's clock
   that is not the run's may move an outage over the edge of the steady state, either way.
5. A scope is out if most of its publishes were missed. If fewer were missed, the load had no
   steady state: the machine may be too slow for it, or the broker may be broken, and neither is
   shown.
6. An outage before a fault shows that the load was sick, and nothing about the fault. Only a run
   without faults shows its cause.
7. Of several outages, or starvations, one that is proved decides, however long others were.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf

from harness.claims import open_service, operated, spared
from harness.claims.attendance import Attendance, number_within
from harness.claims.doubts import Caveat
from harness.claims.served import NS, from_until, scope_name
from harness.claims.times import all_away, any_away
from harness.claims.values import Interval, NotApplicable, Unknown, Value, Why, exactly
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.service import Outage, Starvation

PUBLISHER = "publisher"  # a worker's role
_ATTENDED = Attendance()
# Clients ask for routes every 30 s and divide the places of a log every 20 s.
PLACES_BACK_NS = 60_000_000_000
WARM_UP_NS = 10_000_000_000
# A silence of consumers that is as long, and lasts until nothing can be judged any more, may have
# become a starvation.
_CUT_OFF_NS = words.STRETCH_NS // 2
_SICK = (
    "the load was already degraded before the fault",
    "run it without a fault to see what is unavailable then",
)
_NOT_WAITED = (
    "the records of publishers end before the deadlines of their last publishes",
    "let publishers wait for their last confirms",
)
_HELD_BACK = (
    "publishers sent these too late, though they waited for no answer: no record says whether "
    "they stood still, or the broker had blocked them",
    "record the ticks of publishers that came late (table `lateness`)",
)
_BY_THE_SECOND = (
    "late messages are counted by the second, and in the second in which the first 10 s of load "
    "ended no count shows whether one came after that",
    "run it again",
)
_RETURNED = (
    "the broker returned that many messages as unroutable",
    "see whether the queue was bound when they were sent",
)
ATTEND = "let a consumer be there all the time, and acknowledge what it receives at once"
_LONGER = "extend the steady state (`baseline`)"
_MORE = f"{_LONGER}, or send more messages in it (`rate`)"
_MORE_AFTER = f"{open_service.LONGER_AFTER}, or send more (`rate`)"
_FEW_AFTER = "after the fault had ended, too few messages were confirmed to judge consumers"
_CUT_OFF = "the judged time ended before anything came again"
_CUT_OFF_AGAIN = f"in another silence {_CUT_OFF}"
_PLACES_BACK = f"{PLACES_BACK_NS / NS:.0f} s"
_NO_READER_YET = (
    f"consumers poll routes and rebalance, for which mqproof gives them {_PLACES_BACK} more; the "
    "judged time ended sooner"
)
_UNTIL_PLACES_ARE_BACK = f"extend the load after the fault by {_PLACES_BACK} (`recovery`)"
# Consumers that are slow already cannot take more: of such advice the rest remains.
WITHOUT_MORE = {
    _MORE: _LONGER,
    _MORE_AFTER: open_service.LONGER_AFTER,
    _UNTIL_PLACES_ARE_BACK: _UNTIL_PLACES_ARE_BACK,
}


def longest_outage(
    findings: Findings,
    facts: Facts,
    doubt: Caveat | None,
    returned: int = 0,
    stalled_s: float | None = None,
    attendance: Attendance = _ATTENDED,
) -> Value:
    """Seconds: of the run's, of any queue's and any publisher's, after the warm-up and before any
    fault. `returned`: messages that the broker gave back as unroutable. That answer shows no
    outage in the steady state, where the workload may have named a queue that was never bound."""
    bound_ns = facts.clock_bound_ns(PUBLISHER)
    values = [
        _longest_outage(findings, facts, doubt, returned, stalled_s, attendance, by_ns)
        for by_ns in sorted({0, bound_ns, -bound_ns}, key=abs)
    ]
    intervals = [value for value in values if isinstance(value, Interval)]
    if len(intervals) < len(values):
        return next(value for value in values if not isinstance(value, Interval))
    recorded = intervals[0]
    low, high = min(it.low for it in intervals), max(it.high for it in intervals)
    if (low, high) == (recorded.low, recorded.high):
        return recorded
    why = f"the clocks of the publishers may be off by {bound_ns / NS:.3f} s"
    return replace(recorded, low=low, high=high, doubt=recorded.doubt or why)


def _longest_outage(
    findings: Findings,
    facts: Facts,
    doubt: Caveat | None,
    returned: int,
    stalled_s: float | None,
    attendance: Attendance,
    by_ns: int,
) -> Value:
    """`by_ns`: so much the publishers' clocks are taken to be ahead of the run's."""
    if not facts.confirms:
        return NotApplicable("publishers ask for no confirms")
    if not facts.paced:
        return NotApplicable("rate is max: no intended times")
    from_ns = facts.load_started_ns + WARM_UP_NS + by_ns
    until_ns = min([window.origin_ns for window in facts.windows] + [facts.load_ended_ns])
    until_ns += by_ns
    # What is sent within a deadline of a fault, that fault may keep from its confirm.
    last_ns = until_ns - facts.deadline_ns if facts.windows else until_ns
    outages = [one for one in findings.outages if one.from_ns < last_ns]
    spells = sorted(_spells(findings, outages, from_ns, until_ns), reverse=True)
    late, found = Counter[tuple[str, str]](), list[Interval]()
    for one in outages:
        late[one.scope, one.name] += one.bad
    for mostly, long_ns, one in spells:
        excuse = _SICK if facts.windows else _excuse(findings, one, attendance, from_ns)
        if excuse is None and late[one.scope, one.name] <= returned:
            excuse = _RETURNED
        found.append(_value(mostly, long_ns, one, excuse, doubt))
        if excuse is None and doubt is not None and stalled_s is not None and mostly:
            # A stall only lengthens: what it cannot explain was out.
            beyond_s = long_ns / NS - stalled_s - facts.deadline_ns / NS
            found[-1] = replace(found[-1], low=max(0.0, beyond_s))
    if found:
        return _worst(found, 0)
    if doubt is not None and stalled_s is None:
        return doubt.unknown  # what is on no record may have been out
    seconds = range(-(-from_ns // int(NS)), until_ns // int(NS))
    due = sum(row.operations for row in findings.seconds if row.second in seconds)
    if due < words.ENOUGH[words.RUN]:
        return _too_little(facts, _few_due(due, until_ns - facts.load_started_ns))
    return exactly(0, "0 s")


def _spells(
    findings: Findings, outages: Iterable[Outage], from_ns: int, until_ns: int
) -> Iterator[tuple[bool, int, Outage]]:
    """Yield the outages that lasted beyond the warm-up: whether most of their publishes were bad,
    and for how long. Without a bad publish after the warm-up it was over."""
    for one in outages:
        since_ns, end_ns = max(one.from_ns, from_ns), min(one.until_ns, until_ns)
        early = _missed(findings, one.from_ns, since_ns) if one.from_ns < since_ns else 0
        if end_ns > since_ns and not (early and not _missed(findings, since_ns, end_ns)):
            yield one.bad * 2 > one.due, end_ns - since_ns, one


def _missed(findings: Findings, from_ns: int, until_ns: int) -> int:
    """Return how many publishes of the run were bad in the seconds of that time."""
    seconds = range(from_ns // int(NS), -(-until_ns // int(NS)))
    return sum(row.missed for row in findings.seconds if row.second in seconds)


def _excuse(
    findings: Findings, of: Outage, attendance: Attendance, from_ns: int
) -> tuple[str, str] | None:
    """Return why records leave open whether the system was out, and what to do. `from_ns`: the end
    of the warm-up."""
    next_second_ns = -(-from_ns // int(NS)) * int(NS)
    perhaps = of.from_ns < from_ns and _missed(findings, from_ns, of.until_ns)
    if perhaps and not _missed(findings, next_second_ns, of.until_ns):
        return _BY_THE_SECOND
    seconds = range(of.from_ns // int(NS), of.from_ns // int(NS) + 5)
    due = sum(row.operations for row in findings.seconds if row.second in seconds)
    borne = words.allowance(max(words.LEAST[of.scope], due))
    held_back = number_within(attendance.held_back, of)
    if held_back and of.bad - held_back <= borne:
        return _HELD_BACK
    not_waited = number_within(attendance.not_waited, of)
    return _NOT_WAITED if not_waited and of.bad - not_waited <= borne else None


def _value(
    mostly: bool,
    longest_ns: int,
    of: Outage,
    excuse: tuple[str | Why, str] | None,
    doubt: Caveat | None,
) -> Interval:
    if excuse is None:
        return _out(mostly, longest_ns, of, doubt)
    why = excuse if doubt is None else (doubt.why, doubt.advice)
    return Interval(0, longest_ns / NS, _spell(of, longest_ns), *why)


def _few_due(due: int, lasted_ns: int) -> str:
    if lasted_ns <= WARM_UP_NS:
        lasted = f"the steady state lasted {max(0, lasted_ns) / NS:.1f} s"
        return f"{lasted}; outages in the first {WARM_UP_NS / NS:.0f} s of load break no claim"
    return f"only {due:,} publishes were due in the steady state after the first 10 s"


def _spell(of: Outage, longest_ns: int) -> str:
    return f"{longest_ns / NS:.1f} s ({scope_name(of)})"


def _out(mostly: bool, longest_ns: int, of: Outage, doubt: Caveat | None) -> Interval:
    text = _spell(of, longest_ns)
    if mostly or doubt is not None:
        return _at_most(longest_ns, text, doubt)
    why = Why(f" of {of.due:,} were missed: the load had no steady state", of.bad)
    return Interval(0, longest_ns / NS, text, why, "lower `rate`")


def starved_in_steady_state(
    findings: Findings,
    facts: Facts,
    doubt: Caveat | None,
    stalled_s: float | None,
    attendance: Attendance,
) -> Value:
    """Return for how many seconds the hungriest queue, or place of a log, gave nothing before any
    fault. `stalled_s`: so much of it stalls may explain; None if not stalls alone are in doubt."""
    rows = _hungriest(findings.starvation, 0)
    if not rows:
        return _too_little(
            facts, "too few messages were confirmed in the steady state to judge consumers"
        )
    found = [_starved(row, facts, doubt, stalled_s, attendance) for row in rows]
    return _worst(found, words.STRETCH_NS / NS)


def starved_once_healed(
    findings: Findings,
    facts: Facts,
    window: int,
    doubt: Caveat | None,
    stalled_s: float | None,
    attendance: Attendance,
    *,
    reassigned: bool,
) -> Value:
    """Return the longest starvation of queues after recovery from that window's fault, in seconds.

    `reassigned`: brokers know how far a group has come. It then reassigns the places of a log to
    its readers, and a place may wait for PLACES_BACK_NS.
    """
    rows = [row for row in findings.starvation if row.window == window]
    judged = _hungriest((row for row in rows if not (reassigned and _shared_out(row))), window)
    few = Unknown(_FEW_AFTER, _MORE_AFTER)
    if not judged:
        return few
    if all_away(facts, words.CONSUMER, judged[0].from_ns, judged[0].until_ns):
        return NotApplicable("another fault kept all consumers away after this one was undone")
    found: dict[tuple[str, str], list[Interval]] = {}
    for row in judged:
        since_ns, until_ns = row.longest_from_ns, row.longest_from_ns + row.longest_ns
        value = _starved(row, facts, doubt, stalled_s, attendance)
        value = operated.without(facts, value, since_ns, until_ns, row.from_ns)
        if reassigned and row.place and until_ns - row.from_ns <= PLACES_BACK_NS:
            value = _perhaps(value, _NO_READER_YET, _UNTIL_PLACES_ARE_BACK)
        if any_away(facts, words.CONSUMER, since_ns, until_ns):
            value = _perhaps(value, spared.LACKED_CONSUMERS, spared.ONE_CONSUMER)
        found.setdefault((row.queue, row.place), []).append(value)
    spans = Counter((row.queue, row.place) for row in rows)
    waits = [_whenever_gone(values, spans[where]) for where, values in found.items()]
    known = [each for each in waits if each is not None]
    return _worst(known, words.STRETCH_NS / NS) if known else few


def _perhaps(value: Interval, why: str, advice: str) -> Interval:
    """Return a wait that may have another cause than the broker."""
    return replace(value, low=0, doubt=value.doubt or why, advice=value.advice or advice)


def _whenever_gone(values: Sequence[Interval], spans: int) -> Interval | None:
    """Return how long one queue, or place, kept its consumers waiting. `spans`: more than one if
    no record says when the fault was gone. What not all of them show is only possible; None if
    they show no starvation, and one of them had too few messages."""
    worst = max(values, key=lambda value: value.high)
    low = min(value.low for value in values) if len(values) == spans else 0
    if len(values) < spans and worst.high <= words.STRETCH_NS / NS:
        return None
    if low == worst.low:
        return worst
    gone = open_service.UNKNOWN_GONE
    doubt, advice = worst.doubt or gone.reason, worst.advice or gone.advice
    return replace(worst, low=low, doubt=doubt, advice=advice)


def _shared_out(row: Starvation) -> bool:
    """Return whether a place of a log was given to a reader again, in time and before the load
    ended."""
    until_ns = row.longest_from_ns + row.longest_ns
    return bool(row.place) and until_ns < row.until_ns and until_ns <= row.from_ns + PLACES_BACK_NS


def _hungriest(rows: Iterable[Starvation], window: int) -> list[Starvation]:
    """Return the rows that had enough, and for long enough; the longest starvation first."""
    judged = [
        row
        for row in rows
        if row.window == window
        and row.due >= words.JUDGED_MIN
        and row.until_ns - row.from_ns > words.STRETCH_NS
    ]
    return sorted(judged, key=lambda row: row.longest_ns, reverse=True)


def _worst(values: Sequence[Interval], borne_s: float) -> Interval:
    """Return the longest that is proved to be longer than that; if none is, the first that may be
    longer; the first if none may."""
    proved = [value for value in values if value.low > borne_s]
    if proved:
        return max(proved, key=lambda value: value.low)
    return next((value for value in values if value.high > borne_s), values[0])


def _starved(
    row: Starvation,
    facts: Facts,
    doubt: Caveat | None,
    stalled_s: float | None,
    attendance: Attendance,
) -> Interval:
    where = f"{row.queue}, {row.place}" if row.place else row.queue
    where += f", judged {from_until(row.from_ns, row.until_ns)}" if row.window else ""
    seconds, until_ns = row.longest_ns / NS, row.longest_from_ns + row.longest_ns
    more = open_service.LONGER_AFTER if row.window else _LONGER
    whole = row.window and row.longest_ns >= row.until_ns - row.from_ns
    of = ", the whole time that could be judged" if whole else ""
    text = f"{seconds:.1f} s without a delivery while messages waited{of} (queue {where})"
    found = _at_most(row.longest_ns, text, doubt)
    if _may_be_cut_off(row):
        why = _CUT_OFF if until_ns >= row.until_ns else _CUT_OFF_AGAIN
        found = replace(found, high=inf, doubt=found.doubt or why, advice=found.advice or more)
    if doubt is not None and stalled_s is not None:
        # A stall only lengthens: the rest the queue kept from its consumers.
        found = replace(found, low=max(0.0, seconds - stalled_s))
    found = _without_idle(found, row, attendance)
    bound = facts.clock_bound_ns(PUBLISHER, words.CONSUMER) / NS
    if not bound:
        return found
    off = found.doubt or f"the clocks of the clients may be off by {bound:.1f} s"
    return replace(found, low=max(0, found.low - bound), high=found.high + bound, doubt=off)


def _may_be_cut_off(row: Starvation) -> bool:
    """Return whether a silence that lasts until nothing can be judged any more may have become a
    starvation."""
    at_end_ns = row.silent_at_end_ns
    if at_end_ns is None:
        lasts = row.longest_from_ns + row.longest_ns >= row.until_ns
        at_end_ns = row.longest_ns if lasts else 0
    return at_end_ns > _CUT_OFF_NS and row.longest_ns <= words.STRETCH_NS


def _without_idle(found: Interval, row: Starvation, attendance: Attendance) -> Interval:
    """Return a wait. The queue kept nothing from consumers that could receive nothing."""
    until_ns = row.longest_from_ns + row.longest_ns
    idle_s = attendance.idle_ns(row.queue, row.longest_from_ns, until_ns) / NS
    if not idle_s:
        return found
    why = f"its consumers had closed, or held all that they take, for {idle_s:.1f} s of that time"
    low, advice = max(0.0, found.low - idle_s), found.advice or ATTEND
    return replace(found, low=low, doubt=found.doubt or why, advice=advice)


def _too_little(facts: Facts, why: str) -> NotApplicable | Unknown:
    """A scenario about a fault promises no steady state; one without a fault is nothing else."""
    return NotApplicable(why) if facts.windows else Unknown(why, _MORE)


def _at_most(longest_ns: int, text: str, doubt: Caveat | None) -> Interval:
    seconds = longest_ns / NS
    if doubt is None:
        return exactly(seconds, text)
    return Interval(0, seconds, text, doubt.why, doubt.advice)
