"""How the system got over a window's fault: its stages, its longest silence, what was missed.

1. A stalled instrument makes times unknown. What one event proves did happen all the same: a stall
   cannot invent a delivery or a confirm.
2. What the fault's end may have ended is a lower bound: it would have lasted as long as the fault.
"""

from dataclasses import dataclass

from harness.claims.doubts import Doubts, Told
from harness.claims.times import NS, judged_ns, stage_text
from harness.claims.values import Moot, Unknown, Value, at_least, exactly
from spark_analysis.schema import measures
from spark_analysis.schema.availability import Availability, Stage
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measures_of_runs import CONSUMERS_ABSENT
from spark_analysis.schema.words import Owed

GAPS = ("silence_s", "missed")
NEEDS_CONSUMERS = frozenset(
    each.name for each in measures.REGISTER if CONSUMERS_ABSENT in each.reasons
)
_ENDED_BY_FAULT = {
    Owed.UNDO: "it would have lasted as long as the fault",
    Owed.EITHER: "the fault's end may have ended it, too",
}


@dataclass(frozen=True, slots=True)
class Recovery:
    """Of one run, window by window."""

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

    def reached(self, name: str, window: int) -> Value:
        """Whether a stage was."""
        row = self.stage(name, window)
        if row is None:
            return self._no_stage(name)
        doubt = self._doubt(name, window)
        if name == "consumers_resumed" and not row.reached:
            doubt = doubt or self.doubts.loss("consumer_log")
        if doubt and not (row.reached and measures.STAGES[name].one_event_proves):
            return doubt.unknown
        if not row.reached and row.after_ns < judged_ns(self.facts, window):
            return _too_short(name)
        return row.reached

    def time(self, name: str, window: int) -> Value:
        """Seconds from the fault to a stage."""
        if doubt := self._doubt(name, window):
            return doubt.unknown
        row = self.stage(name, window)
        if row is None:
            return self._no_stage(name)
        seconds = row.after_ns / NS
        owed = Owed(row.owed)
        if owed in _ENDED_BY_FAULT:
            return at_least(seconds, doubt=_ENDED_BY_FAULT[owed])
        return exactly(seconds, stage_text(row)) if row.reached else at_least(seconds)

    def gap(self, name: str, window: int) -> Value:
        """One of GAPS."""
        if doubt := self.doubts.availability(window):
            return doubt.unknown
        row = self.availability(window)
        if row is None:
            return Moot("publishers ask for no confirms")
        if name == "missed":
            return exactly(row.missed) if self.facts.paced else Moot("rate is max: no deadlines")
        seconds = row.silence_ns / NS
        return at_least(seconds) if row.silence_censored else exactly(seconds, f"{seconds:.3f} s")

    def _doubt(self, stage: str, window: int) -> Told | None:
        if stage in NEEDS_CONSUMERS:
            return self.doubts.consumption(window)
        return self.doubts.availability(window)

    def _no_stage(self, name: str) -> Value:
        if not self.facts.confirms and name != "consumers_resumed":
            return Moot("publishers ask for no confirms")
        if not self.facts.paced and name == "sustained_success":
            return Moot("rate is max: no intended times")
        if name == "backlog_drained":
            return Moot("nobody consumes before the drain")
        return Unknown(f"the analysis has no {name}")


def _too_short(stage: str) -> Unknown:
    why = f"{stage} was not seen before the load ended, or the next fault began"
    return Unknown(why, "make recovery, or the time between faults, longer")
