"""The short lines that say what a run showed: counts and times, each judged or not, and why; what
the auditor started, what the audit of logs read, and how far consumers had come.

1. A line says what was judged, what was not and why (docs/verdicts.md 10); nothing is left out
   silently.
2. A time that was not reached is a lower bound: `>= 33.8 s`. A bound near zero says nothing, so
   that time is called not measured.
3. Each window has its own lines; a run has one line of counts, the gravest first.
4. A broker whose log was not read to its end is a place that could not be read; a verdict depends
   on that. One that did not recover by itself is named, and whether the audit started it: the
   auditor, not the broker, made its data readable. Offsets prove no loss.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pyarrow.compute as pc

from harness.claims import terms
from harness.claims.doubts import never_begun
from harness.claims.evidence import Evidence
from harness.claims.recovery import reason_near_zero
from harness.claims.stories import NO_BACKLOG, had_no_backlog
from harness.claims.times import fault_length_s, judged_ns
from harness.claims.values import Interval, NotApplicable, Unknown, from_to
from harness.plan.vocabulary import STAGE_NAMES
from harness.run_folder import rows
from harness.run_folder.manifest import AuditStart
from harness.run_folder.process_ends import unplanned_text
from harness.run_folder.rows import Probe
from harness.view.naming import detail_name, detail_text
from harness.view.summary import (
    AT_ONCE,
    CUT_SHORT,
    LATER_LATE,
    NEVER_LATE,
    NOT_MEASURED,
    is_near_zero,
)
from spark_analysis.schema import measures
from spark_analysis.schema.digest import SUSTAINED
from spark_analysis.schema.facts import ProcessEnd
from spark_analysis.schema.measure import Grade

# Of a message's state: the broker's answer to a publisher is a confirm, no acknowledgement.
_ANSWERS = {
    "acknowledged": "confirmed",
    "indeterminate": "unknown outcome",
    "not_sent": "never sent (the deadline passed first)",
}
_PERHAPS_ACTIVE = "; no journal proves it, so it may have been active"
# Why the order of messages was not judged (docs/verdicts.md 6).
_NO_ORDER = {
    "not_promised": "in queues that promise no order",
    "not_at_once": "delayed or in transactions",
    "not_certain": "whose delivered attempt or whose times are not certain",
    "not_reported": "that may be redeliveries",
}


@dataclass(frozen=True, slots=True)
class Observation:
    """One line. `window` 0 is the whole run."""

    name: str
    window: int
    judged: bool
    text: str


def observe(
    evidence: Evidence, gone_ns: Mapping[int, int] = MappingProxyType({})
) -> tuple[Observation, ...]:
    """Everything that a run showed, in the order of a report. `gone_ns`: when each fault was
    verified ended, by its number."""
    lines = list(_counts(evidence))
    for window in evidence.facts.planned_windows:
        if never := never_begun(window.number, evidence.facts):
            lines.append(Observation("fault", window.number, False, str(never.reason)))
        else:
            lines += _window(evidence, window.number, gone_ns.get(window.number))
    return tuple(lines)


def unplanned(ends: Iterable[ProcessEnd]) -> tuple[Observation, ...]:
    """Yield one sentence for each process of a broker that ended unplanned."""
    return tuple(Observation("process_end", 0, one.by_itself, unplanned_text(one)) for one in ends)


def _counts(evidence: Evidence) -> Iterator[Observation]:
    yield _messages(evidence)
    yield _loss(evidence)
    # What is missing is part of the loss.
    for measure in (one for one in measures.REGISTER if not one.missing):
        name, number = measure.name, evidence.counted.total(measure.name)
        has_any = measure.always_shown or number > 0
        if measure.of is not None:  # some measures apply to a few messages only
            has_any = terms.not_applicable(name, evidence.counted.total) is None
        if measure.grade is Grade.OPEN:
            # The part that may belong to another measure is shown with that one.
            if number and name not in measures.DOUBTFUL:
                text = f"{measure.title.lower()} {number:,}: {measure.meaning}"
                yield Observation(name, 0, False, text)
        elif measure.grade is not Grade.CENSUS and measure.claimed and has_any:
            yield _count(name, evidence)


def _messages(evidence: Evidence) -> Observation:
    states = evidence.counted.details("state")
    counts = ", ".join(
        f"{_ANSWERS.get(name, name)} {number:,}" for name, number in sorted(states.items())
    )
    facts = evidence.facts
    # At rate `max`, or without confirms, no message is late, and none is excused.
    if states["not_sent"] and facts.paced and facts.confirms:
        counts += "; late counts those never sent"
        if evidence.counted.total("excused"):
            counts += ", unless they are excused"
    return Observation("messages", 0, bool(states), f"messages: {counts or 'none was sent'}")


def _loss(evidence: Evidence) -> Observation:
    """Return lost and stranded by confirm level, and how many could not be judged."""
    value = evidence.value("lost")
    if isinstance(value, Unknown):
        return Observation("lost", 0, False, f"loss unknown: {value.reason}")
    found = evidence.counted.details("lost")
    # Of a single confirm level its name, of several how many each lost.
    single = [detail_text(one) for one in found] if len(found) == 1 else []
    levels = ", ".join(single or _by_detail("lost", evidence))
    parts = [f"lost {_bound(value)}{f' ({levels})' if levels else ''}"]
    for measure in measures.MISSING:
        if measure != "lost":
            parts += [f"{measure} {words}" for words in _by_detail(measure, evidence)]
    open_ended = isinstance(value, Interval) and value.low != value.high
    doubt = value.doubt if isinstance(value, Interval) else ""
    tail = f"; not judged: {doubt}" if open_ended else ""
    return Observation("lost", 0, not open_ended, ", ".join(parts) + tail)


def _count(name: str, evidence: Evidence) -> Observation:
    value, title = evidence.value(name), measures.BY_NAME[name].title.lower()
    if isinstance(value, NotApplicable):
        return Observation(name, 0, True, f"{title}: {value}")
    if isinstance(value, Unknown):
        return Observation(name, 0, False, f"{title}: not judged, {value.reason}")
    details = _by_detail(name, evidence)
    breakdown = f" ({'; '.join(details)})" if details and name != "reordered" else ""
    if name == "reordered":
        breakdown = _without_order(evidence)
    doubt = value.doubt if isinstance(value, Interval) else ""
    tail = f"; perhaps more: {doubt}" if doubt else ""
    return Observation(name, 0, not doubt, f"{title} {_bound(value)}{breakdown}{tail}")


def _without_order(evidence: Evidence) -> str:
    """Return ` (order not judged: 4 delayed or in transactions)`; "" if none is."""
    parts = [
        f"{number:,} {_NO_ORDER.get(detail, detail)}"
        for detail, number in evidence.counted.details("not_judged").most_common()
    ]
    return f" (order not judged: {', '.join(parts)})" if parts else ""


def _by_detail(measure: str, evidence: Evidence) -> list[str]:
    """Return `3 sent again by its publisher`, the largest first."""
    return [
        f"{number:,} {detail_name(measure, detail)}"
        for detail, number in evidence.counted.details(measure).most_common()
    ]


def _window(evidence: Evidence, number: int, gone_ns: int | None) -> Iterator[Observation]:
    window = evidence.facts.window(number)
    length_s = fault_length_s(window)
    lasted = "never ended" if length_s is None else f"undone after {length_s:.1f} s"
    verified = window.verified and window.gone
    held = "verified"
    if not verified:
        held = window.unverified_reason or "not verified"
    elif gone_ns is not None:
        held = f"verified ended after {(gone_ns - window.origin_ns) / 1e9:.1f} s"
    begun = _begun(window.origin_ns, evidence.facts.load_started_ns)
    how = f"{begun}, {lasted}, {held}" if window.began else f"{held}{_PERHAPS_ACTIVE}"
    text = f"fault {number}: {window.kind} {how}"
    yield Observation("fault", number, verified, text)
    yield _availability(evidence, number)
    stages = [_stage(evidence, name, number) for name in STAGE_NAMES]
    judged = not evidence.doubts.run and not evidence.doubts.receiving(number)
    yield Observation("stages", number, judged, f"fault {number}: {', '.join(stages)}")


def _begun(at_ns: int, load_started_ns: int) -> str:
    """Return the time by the load, which a reader of a terminal saw begin, and by the records."""
    recorded = f"+{at_ns / 1e9:.2f} s since the recording began"
    if at_ns < load_started_ns:
        return f"at {recorded}"
    return f"{(at_ns - load_started_ns) / 1e9:.2f} s after the load began ({recorded})"


def _availability(evidence: Evidence, number: int) -> Observation:
    doubt = evidence.doubts.run or evidence.doubts.availability(number)
    stalled_s = None if evidence.doubts.run else evidence.doubts.lengthened_s(number)
    if doubt and stalled_s is None:
        lost = evidence.value("lost")
        judged = isinstance(lost, Interval) and lost.low == lost.high
        beside = f"; loss is judged: {lost}" if judged else ""
        text = f"availability under fault {number} unknown: {doubt.sentence}{beside}"
        return Observation("availability", number, False, text)
    silence = evidence.value("silence_s", number)
    late, place = _late(evidence, number), evidence.recovery.silence_place(number)
    # The silence of a later fault may overlap this one: then it is longer than the time between.
    overlaps = place and _next(evidence, number) is not None
    which, where = " that overlaps it" if overlaps else "", f" ({place})" if place else ""
    silent = f"longest time without a confirm{which} {_seconds(silence)}{where}"
    text = f"fault {number}: {silent}{';' if place else ','} {late}"
    return Observation("availability", number, isinstance(silence, Interval), text)


def _late(evidence: Evidence, number: int) -> str:
    """Return `late from the fault on: 12 of 4,500 messages due`; of the first fault with what late
    means."""
    missed, row = evidence.value("missed", number), evidence.recovery.availability(number)
    late = f"late {_until(evidence, number)}: {_bound(missed)}"
    if row and isinstance(missed, Interval):
        late += f" of {row.operations:,} messages due"
        if number == min(window.number for window in evidence.facts.windows):
            deadline_s = evidence.facts.deadline_ns / 1e9
            late += f" (no confirm within {deadline_s:g} s of the due time)"
    excused = evidence.counted.total("excused")
    kept_away = f"; {excused:,} of the run are excused: faults kept their publishers away"
    return f"{late}{kept_away if excused else ''}"


def _next(evidence: Evidence, number: int) -> int | None:
    windows = evidence.facts.windows
    return min((one.number for one in windows if one.number > number), default=None)


def _until(evidence: Evidence, number: int) -> str:
    """Return the time in which messages count as this fault's: up to the next one."""
    later = _next(evidence, number)
    if later is not None:
        return f"from fault {number} to fault {later}"
    return f"from {'the fault' if number == 1 else f'fault {number}'} on"


def _stage(evidence: Evidence, name: str, number: int) -> str:
    """`first confirm after 0.200 s`, `backlog gone: not applicable`."""
    value = evidence.value(f"{name}_s", number)
    if name == SUSTAINED and evidence.never_late(number):
        return NEVER_LATE
    if name == SUSTAINED and isinstance(value, Interval) and is_near_zero(value.high):
        return AT_ONCE
    if name == "backlog_drained" and had_no_backlog(evidence, number):
        return NO_BACKLOG
    if isinstance(value, Interval) and _says_nothing(value):
        near_zero = reason_near_zero(value.doubt) or CUT_SHORT
        return f"{measures.STAGE_TITLES[name]}: {NOT_MEASURED} ({near_zero})"
    bound = value if isinstance(value, Interval) and math.isinf(value.high) else None
    why = str(bound.doubt) if bound is not None else ""
    if bound is not None and not why:
        return f"{measures.STAGE_TITLES[name]}: {_not_before(evidence, number, bound.low)}"
    after = " after" if isinstance(value, Interval) else ":"
    later = any(one.missed for one in evidence.findings.later if one.window == number)
    if why and name == SUSTAINED:
        deadline_s = evidence.facts.deadline_ns / 1e9
        why = f"confirms may come {deadline_s:g} s after the due time; {why}"
    notes = "; ".join(filter(None, (why, LATER_LATE if later and name == SUSTAINED else "")))
    tail = f" ({notes})" if notes else ""
    return f"{measures.STAGE_TITLES[name]}{after} {_seconds(value)}{tail}"


def _not_before(evidence: Evidence, number: int, least_s: float) -> str:
    """Return `not before the next fault (11.2 s)`. The bound may be shorter: until the next fault
    began, too few messages were due after it to tell."""
    is_last = _next(evidence, number) is None
    judged_s = judged_ns(evidence.facts, number) / 1e9
    if f"{judged_s:.1f}" == f"{least_s:.1f}":
        return f"not before {'the load ended' if is_last else 'the next fault'} ({least_s:.1f} s)"
    ended = "the load ended" if is_last else "the next fault began"
    return f"not within {least_s:.1f} s, later not decided ({ended} after {judged_s:.1f} s)"


def _seconds(value: object) -> str:
    if not isinstance(value, Interval):
        return "not applicable" if isinstance(value, NotApplicable) else "not judged"
    if _says_nothing(value):
        return NOT_MEASURED
    if value.low < value.high < math.inf:
        return from_to(value.low, value.high)
    return f"{'' if value.low == value.high else '>= '}{value.low:.3f} s"


def _says_nothing(value: object) -> bool:
    """Return whether a time is known by a lower bound near zero only."""
    return isinstance(value, Interval) and is_near_zero(value.low) and math.isinf(value.high)


def _bound(value: object) -> str:
    """A count in words, `>=` before it where it may be more."""
    if isinstance(value, NotApplicable):
        return "not applicable"
    if not isinstance(value, Interval):
        return "not judged"
    return f"{'' if value.low == value.high else '>= '}{value}"


QUEUE_READ, LOG_READ, CONSUMER_OFFSET = "queue read", "log read", "consumer offset"
ROWS_MAX = 20_000
SHOWN_MAX = 4


def audit(folder: Path) -> tuple[Observation, ...]:
    """Of the run in `folder`; nothing where no log was read, or nothing can be read of it."""
    kinds = (QUEUE_READ, LOG_READ, CONSUMER_OFFSET)
    try:
        found = rows.read(folder, rows.Probe, ROWS_MAX, pc.field("kind").isin(kinds))
    except rows.Unreadable:
        return ()  # the page says which table, and why
    return describe(found)


def starts(records: Iterable[AuditStart]) -> tuple[Observation, ...]:
    return tuple(
        Observation("audit_start", 0, one.answered_ns is not None, describe_start(one))
        for one in records
    )


def describe_start(one: AuditStart) -> str:
    who = f"auditor: {one.place} had not come back by itself"
    if one.issued_ns is None:
        return f"{who} and was left so: {one.left}"
    act = f"{who}: {one.found}. It was started for the audit at +{one.issued_ns / 1e9:.1f} s"
    if one.answered_ns is None:
        return f"{act} and did not answer: {one.detail or 'the wait for it was ended'}"
    after_s = (one.answered_ns - one.issued_ns) / 1e9
    return f"{act}, answered after {after_s:.1f} s, and was then: {one.detail}"


def describe(probes: Iterable[Probe]) -> tuple[Observation, ...]:
    """At most one sentence of reading, one of offsets."""
    every = list(probes)
    reads = [one for one in every if one.kind in (QUEUE_READ, LOG_READ)]
    if not reads:
        return ()
    whole = all(one.ok for one in reads)
    brokers = sorted({one.target.partition(" ")[0] for one in reads})
    text = f"audit: the logs of {', '.join(brokers)} were read from their start"
    not_read = [one for one in reads if not one.ok]
    lines = [Observation("audit", 0, whole, text + _but(not_read, len(reads), "not read whole"))]
    offsets = [one for one in every if one.kind == CONSUMER_OFFSET]
    if offsets:
        away = [one for one in offsets if not one.ok]
        number = f"{len(offsets) - len(away)} of {len(offsets)}"
        text = f"consumers' offsets after the drain: {number} at the end of their queue"
        lines.append(Observation("consumer_offsets", 0, True, text + _but(away, len(offsets), "")))
    return tuple(lines)


def _but(probes: list[Probe], of: int, what: str) -> str:
    if not probes:
        return ""
    head = f", {len(probes)} of {of} {what}" if what else ""
    shown = "; ".join(f"{one.target}: {one.detail}" for one in probes[:SHOWN_MAX])
    more = f"; and {len(probes) - SHOWN_MAX} more" if len(probes) > SHOWN_MAX else ""
    return f"{head}; {shown}{more}"
