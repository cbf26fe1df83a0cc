"""The recovery of the system from a window's fault: its stages, its longest silence, missed
publishes.

1. A stalled instrument lengthens times by no more than it stalled: they lie between bounds. An
   observed event did happen all the same: a stall cannot invent a delivery or a confirm.
2. If the fault's end may have ended an outage, its time is a lower bound: it would have lasted as
   long as the fault.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from harness.claims.attendance import Times
from harness.claims.doubts import Caveat, Doubts
from harness.claims.served import from_until
from harness.claims.times import NS, judged_ns, stage_text
from harness.claims.values import (
    Interval,
    NotApplicable,
    Unknown,
    Value,
    Why,
    at_least_s,
    between,
    exactly,
    seconds_text,
    why_of,
)
from spark_analysis.schema import measures
from spark_analysis.schema.availability import Availability, Stage
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measures_of_runs import CONSUMERS_ABSENT
from spark_analysis.schema.views import STAGES as OF_ROUTES
from spark_analysis.schema.views import may_move_routes
from spark_analysis.schema.words import RecoveredBy

SILENCE, MISSED = "silence_s", "missed"
NEEDS_CONSUMERS = frozenset(
    each.name for each in measures.REGISTER if CONSUMERS_ABSENT in each.reasons
)
_ENDED_BY_FAULT = {
    RecoveredBy.UNDO: Why(
        "the undo of the fault restored service",
        near_zero="sending stayed on time, but only because the fault ended soon",
    ),
    RecoveredBy.EITHER: Why(
        "the undo of the fault may have restored service",
        near_zero="sending stayed on time, but perhaps only because the fault ended soon",
    ),
}
_NO_CONFIRMS = NotApplicable("publishers ask for no confirms")
_PAUSED = "no attempt waited for its answer {}, so publishers paused, or could not send"


def ended_by_fault(row: Stage) -> str | Why:
    """Return why the end of the fault makes the time to a stage a lower bound; "" if it does
    not."""
    return _ENDED_BY_FAULT.get(RecoveredBy(row.recovered_by), "")


def stages_of(findings: Findings, window: Window) -> Iterator[Stage]:
    """Yield the stages of a window that people read: a fault that affects only clients, or their
    links, changes no route."""
    left_out = () if may_move_routes(window) else OF_ROUTES
    for row in findings.stages:
        if row.window == window.number and row.stage not in left_out:
            yield row


def reason_near_zero(reason: str | Why) -> str:
    """Return the same reason in the words for a lower bound near zero: there was no outage to
    recover from."""
    return why_of(reason).near_zero or str(reason)


def _unpaused_ns(row: Availability, pauses: Times) -> int:
    """Return the longest part of a silence that no pause interrupts."""
    longest_ns, at_ns = 0, row.silence_from_ns
    until_ns = at_ns + row.silence_ns
    for begins_ns, ends_ns in pauses:
        if ends_ns > at_ns and begins_ns < until_ns:
            longest_ns, at_ns = max(longest_ns, begins_ns - at_ns), ends_ns
    return max(longest_ns, until_ns - at_ns)


@dataclass(frozen=True, slots=True)
class Recovery:
    """The recovery in one run, window by window."""

    findings: Findings
    facts: Facts
    doubts: Doubts

    def stage(self, name: str, window: int) -> Stage | None:
        rows = self.findings.stages
        return next((row for row in rows if (row.stage, row.window) == (name, window)), None)

    def availability(self, window: int) -> Availability | None:
        """The window's row over all queues."""
        rows = self.findings.availability
        return next((row for row in rows if (row.window, row.queue) == (window, "")), None)

    def longest_silence(self, window: int) -> Availability | None:
        """Return the row of the queue without a confirm for longest: others may confirm
        meanwhile. Of equals a silence that did not end, as in comparisons (schema/comparison.py
        6); then the row of all queues together."""
        rows = (row for row in self.findings.availability if row.window == window)
        return max(rows, key=_by_silence, default=None)

    def silence(self, window: int, paused: Mapping[str, Times]) -> Value:
        """Return the longest time without a confirm of any queue. `paused`: by queue, when its
        publishers may have paused (histories of others)."""
        worst = self.longest_silence(window)
        value = self._silence(window, worst)
        if worst is None or not isinstance(value, Interval):
            return value
        rows = [row for row in self.findings.availability if row.window == window]
        # In a time that is no pause an attempt waited: the broker was silent.
        waited_ns = max(_unpaused_ns(row, paused.get(row.queue, ())) for row in rows)
        if waited_ns >= worst.silence_ns:
            return value
        until_ns = worst.silence_from_ns + worst.silence_ns
        pauses = paused.get(worst.queue, ())
        one = next(it for it in pauses if it[1] > worst.silence_from_ns and it[0] < until_ns)
        why = value.doubt or _PAUSED.format(from_until(*one))
        return replace(value, low=min(value.low, waited_ns / NS), doubt=why)

    def silence_place(self, window: int) -> str:
        """Return `queue bills, from +19.9 s`: the queue with the longest time without a confirm,
        unless it is that of all queues; and when it began, if there are several faults."""
        row = self.longest_silence(window)
        if row is None or not row.silence_ns:
            return ""
        queue = f"queue {row.queue}" if row.queue else ""
        several = len(self.facts.windows) > 1
        return ", ".join(
            filter(None, (queue, f"from +{row.silence_from_ns / NS:.1f} s" if several else ""))
        )

    def reached(self, name: str, window: int) -> Value:
        """Return whether a stage was reached."""
        row = self.stage(name, window)
        if row is None:
            return self._no_stage(name)
        doubt = self._doubt(name, window)
        if name == "consumers_resumed" and not row.reached:
            doubt = doubt or self.doubts.loss("consumer_log")
        proved = row.reached and measures.STAGES[name].one_event_proves
        only_stalls = self._stalled_s(name, window) is not None
        if doubt and not (proved or (row.reached and only_stalls)):
            return doubt.unknown
        if not row.reached and row.after_ns < judged_ns(self.facts, window):
            return _too_short(name)
        return row.reached

    def time(self, name: str, window: int) -> Value:
        """Seconds from the fault to a stage."""
        doubt, stalled_s = self._doubt(name, window), self._stalled_s(name, window)
        if doubt and stalled_s is None:
            return doubt.unknown
        row = self.stage(name, window)
        if row is None:
            return self._no_stage(name)
        seconds = row.after_ns / NS
        if doubt and stalled_s is not None:
            low = max(0.0, seconds - stalled_s)
            if RecoveredBy(row.recovered_by) in _ENDED_BY_FAULT or not row.reached:
                return at_least_s(low, doubt.why, doubt.advice)
            return between(low, seconds, doubt.why, doubt.advice)
        recovered_by = RecoveredBy(row.recovered_by)
        if recovered_by in _ENDED_BY_FAULT:
            return at_least_s(seconds, _ENDED_BY_FAULT[recovered_by])
        return exactly(seconds, stage_text(row)) if row.reached else at_least_s(seconds)

    def missed(self, window: int) -> Value:
        """Return how many publishes were late, over all queues."""
        if doubt := self.doubts.availability(window):
            return doubt.unknown
        row = self.availability(window)
        if row is None:
            return _NO_CONFIRMS
        if not self.facts.paced:
            return NotApplicable("rate is max: no deadlines")
        return exactly(row.missed, f"{row.missed:,}")

    def _silence(self, window: int, row: Availability | None) -> Value:
        doubt, stalled_s = self.doubts.availability(window), self.doubts.lengthened_s(window)
        if doubt and stalled_s is None:
            return doubt.unknown
        if row is None:
            return _NO_CONFIRMS
        found = exactly(row.silence_ns / NS)
        if doubt and stalled_s is not None:
            low_s = max(0.0, found.low - stalled_s)
            found = replace(found, low=low_s, doubt=doubt.why, advice=doubt.advice)
        if row.silence_censored:
            found = replace(found, high=math.inf)
        place = self.silence_place(window)
        return replace(found, text=f"{seconds_text(found)}{f' ({place})' if place else ''}")

    def _stalled_s(self, stage: str, window: int) -> float | None:
        """Return by how much stalls may have lengthened the time to a stage; None: not by that."""
        received = stage in NEEDS_CONSUMERS
        absent = received and self.doubts.consumers_absent(window)
        return None if absent else self.doubts.lengthened_s(window, received=received)

    def _doubt(self, stage: str, window: int) -> Caveat | None:
        if stage in NEEDS_CONSUMERS:
            return self.doubts.consumption(window)
        return self.doubts.availability(window)

    def _no_stage(self, name: str) -> Value:
        if not self.facts.confirms and name != "consumers_resumed":
            return NotApplicable("publishers ask for no confirms")
        if not self.facts.paced and name == "sustained_success":
            return NotApplicable("rate is max: no intended times")
        if name == "backlog_drained":
            return NotApplicable("the run has no consumer")
        return Unknown(f"the analysis has no {name}")


def is_without_backlog(gone: Value, first: Value) -> bool:
    """Return whether it is certain that, from the first delivery after a fault on, no confirmed
    message waited longer than the deadline (docs/verdicts.md 8). `gone`, `first`: when the backlog
    was gone, and the first delivery came."""
    if not isinstance(gone, Interval) or not isinstance(first, Interval):
        return False
    return gone.low == gone.high == first.low == first.high < math.inf


def _by_silence(row: Availability) -> tuple[int, bool, bool]:
    return row.silence_ns, row.silence_censored, row.queue == ""


def _too_short(stage: str) -> Unknown:
    why = f"{stage} was not seen before the load ended, or the next fault began"
    return Unknown(why, "make recovery, or the time between faults, longer")
