"""Service of times in which nothing is wrong: before the first fault, and once each is healed.

1. What is out then is out by itself; what a queue keeps from its consumers it keeps by itself.
2. Publishers and consumers that have just started may be slow: what ends within WARM_UP_NS of the
   load's beginning is told, and is no harm.
3. A silence shows only where there was time for it: less than STRETCH_NS says nothing.
4. A stalled instrument makes an outage or a silence longer, never shorter.
5. Out is a scope of which most was missed. Of which less was, the load had no steady state: the
   machine may be too slow for it, or the broker be broken, and neither is shown.
6. What is out before a fault says that the load was sick, and nothing of the fault; whose doing
   it was a run without any has to show.
"""

from collections.abc import Iterable

from harness.claims.doubts import Told
from harness.claims.served import NS, scope_name
from harness.claims.values import Interval, Moot, Unknown, Value, exactly
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.service import Outage, Starvation

WARM_UP_NS = 10_000_000_000
_SICK = ("the load was sick before the fault", "run it without a fault: what is out then?")
_MORE = "let the calm last longer, or more be sent in it"


def longest_outage(findings: Findings, facts: Facts, doubt: Told | None) -> Value:
    """Seconds: of the run's, of any queue's and any publisher's, after the warm-up and before any
    fault."""
    if not facts.confirms:
        return Moot("publishers ask for no confirms")
    if not facts.paced:
        return Moot("rate is max: no intended times")
    from_ns = facts.load_started_ns + WARM_UP_NS
    until_ns = min([window.origin_ns for window in facts.windows] + [facts.load_ended_ns])
    # What is sent within a deadline of a fault, that fault may keep from its confirm.
    last_ns = until_ns - facts.deadline_ns if facts.windows else until_ns
    spells = [
        (one.bad * 2 > one.due, min(one.until_ns, until_ns) - max(one.from_ns, from_ns), one)
        for one in findings.outages
        if one.from_ns < last_ns
    ]
    worst = max((spell for spell in spells if spell[1] > 0), default=None)
    if worst is not None and facts.windows and doubt is None:
        return Interval(0, worst[1] / NS, _spell(worst[2], worst[1]), *_SICK)
    if worst is not None:
        return _out(*worst, doubt)
    seconds = range(-(-from_ns // int(NS)), until_ns // int(NS))
    due = sum(row.operations for row in findings.seconds if row.second in seconds)
    if due < words.ENOUGH[words.RUN]:
        return _too_little(facts, f"only {due:,} publishes were due in the calm, once it was warm")
    return exactly(0, "0 s")


def _spell(of: Outage, longest_ns: int) -> str:
    return f"{scope_name(of)}, {longest_ns / NS:.1f} s"


def _out(mostly: bool, longest_ns: int, of: Outage, doubt: Told | None) -> Interval:
    text = _spell(of, longest_ns)
    if mostly or doubt is not None:
        return _at_most(longest_ns, text, doubt)
    why = f"{of.bad:,} of {of.due:,} were missed: the load had no steady state"
    return Interval(0, longest_ns / NS, text, why, "let less be sent")


def starved_in_the_calm(findings: Findings, facts: Facts, doubt: Told | None) -> Value:
    """Seconds: of the queue, or the place of a log, that gave nothing for longest before any
    fault."""
    worst = _hungriest(findings.starvation, 0)
    if worst is None:
        return _too_little(facts, "too little was confirmed in the calm for consumers to get")
    return _starved(worst, doubt)


def starved_once_healed(
    findings: Findings, facts: Facts, window: int, doubt: Told | None
) -> Value:
    """Seconds: likewise of queues, once the fault of that window was healed. The places of a log
    are divided anew among its readers then, nobody declares how soon."""
    worst = _hungriest((row for row in findings.starvation if not row.place), window)
    if worst is None:
        return Unknown("too little was confirmed once it was healed for consumers to get", _MORE)
    if _all_away(worst, facts):
        return Moot("another fault kept all consumers away once it was healed")
    return _starved(worst, doubt)


def _all_away(row: Starvation, facts: Facts) -> bool:
    """Whether each consumer was absent at some instant of the time that is judged."""
    away = {
        absence.worker
        for absence in facts.absences
        if absence.from_ns < row.until_ns
        and (absence.until_ns is None or absence.until_ns > row.from_ns)
    }
    return away >= {worker.number for worker in facts.workers if worker.role == words.CONSUMER}


def _hungriest(rows: Iterable[Starvation], window: int) -> Starvation | None:
    """None: of none there was enough, or for long enough."""
    judged = [
        row
        for row in rows
        if row.window == window
        and row.due >= words.JUDGED_MIN
        and row.until_ns - row.from_ns > words.STRETCH_NS
    ]
    return max(judged, key=lambda row: row.longest_ns, default=None)


def _starved(row: Starvation, doubt: Told | None) -> Interval:
    where = f"{row.queue}, {row.place}" if row.place else row.queue
    return _at_most(row.longest_ns, f"{where}, {row.longest_ns / NS:.1f} s", doubt)


def _too_little(facts: Facts, why: str) -> Moot | Unknown:
    """A scenario about a fault promises no calm; one without any is nothing else."""
    return Moot(why) if facts.windows else Unknown(why, _MORE)


def _at_most(longest_ns: int, text: str, doubt: Told | None) -> Interval:
    seconds = longest_ns / NS
    if doubt is None:
        return exactly(seconds, text)
    return Interval(0, seconds, text, doubt.sentence, doubt.advice)
