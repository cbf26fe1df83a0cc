"""Whether a run was served and consumed, in a window and in its calm, and how long it starved.

1. Rows of the marts are weighed in served.py and calm.py: here is which doubt comes first, and
   what makes no sense in this run.
2. What clients sent into a fault, and was confirmed once that was being undone, is no service
   within it.
3. Where another fault cut the time short in which one was healed, that time says nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.claims import calm, served
from harness.claims.doubts import Doubts, Told
from harness.claims.recovery import Recovery
from harness.claims.state import State
from harness.claims.times import fault_length_s, stage_text
from harness.claims.values import Interval, Moot, Unknown, Value
from harness.claims.vocabulary import SERVICE, TIMERS
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.findings import Findings

_CUT_SHORT = "another fault came before clients had had time to be back, and enough was due"
_NOT_ATTENDED = Told(
    "consumption", 0, "", "no record says since when consumers were there", "record that"
)


@dataclass(frozen=True, slots=True)
class Serving:
    """Of one run. `attended`: whether its records say since when consumers were there."""

    findings: Findings
    facts: Facts
    state: State
    doubts: Doubts
    recovery: Recovery
    attended: bool

    def promised(self, name: str, window: int) -> Value:
        """One of SERVICE. Patient clients are confirmed in time what they sent into a fault, and
        after it: that is no service within it unless something of it was confirmed before the
        fault ended."""
        if doubt := self.doubts.availability(window):
            return doubt.unknown
        if not self.facts.confirms:
            return Moot("publishers ask for no confirms")
        if not self.facts.paced:
            return Moot("rate is max: no intended times")
        promise = SERVICE[name]
        timers = [self.state.value(timer, window) for timer in TIMERS.get(promise, ())]
        unknown = next((one for one in timers if not isinstance(one, Interval)), None)
        if unknown is not None:
            return unknown
        rows = served.rows_of(self.findings, window, promise)
        if not rows:
            return Unknown("that fault, or one in force with it, was not seen to be gone")
        if self._only_late(rows, promise, window):
            return False
        if served.only_few(rows) and self._cut_short(window, promise):
            return Moot(_CUT_SHORT)
        return served.served(rows)

    def told(self, name: str, window: int) -> str:
        """How one of SERVICE came about, in words."""
        rows = served.rows_of(self.findings, window, SERVICE[name])
        if rows and self._only_late(rows, SERVICE[name], window):
            return self._late_text(window)
        return served.sentence(rows, self.findings.outages) if rows else ""

    def resumes(self, window: int) -> Value:
        """Whether everybody consumed again. A delivery that was seen was made, whatever stood
        still; one that was not seen needs somebody who would have seen it."""
        resumed, why = served.consumed(self._consumption(window))
        doubt = self.doubts.consumption(window) or self.doubts.loss("consumer_log")
        if resumed is True:
            return True
        if doubt:
            return doubt.unknown
        return Unknown(why, "send more after the fault") if resumed is None else False

    def resumed_told(self, window: int) -> str:
        return served.consumed(self._consumption(window))[1]

    def out_when_calm(self) -> Value:
        return calm.longest_outage(self.findings, self.facts, self.doubts.availability(0))

    def starved(self, window: int) -> Value:
        """Of the calm (window 0), or once the fault of a window was healed."""
        if not self.facts.confirms:
            return Moot("publishers ask for no confirms")
        if self.state.run.get("consumers") == 0:
            return Moot("nobody consumes before the drain")
        doubt = self.doubts.availability(window) or self.doubts.loss("consumer_log")
        doubt = doubt or (None if self.attended else _NOT_ATTENDED)
        if window:
            told = calm.starved_once_healed(self.findings, self.facts, window, doubt)
            short = isinstance(told, Unknown) and self._cut_short(window, words.HEALED)
            return Moot(_CUT_SHORT) if short else told
        return calm.starved_in_the_calm(self.findings, self.facts, doubt)

    def too_little(self, window: int) -> Unknown | None:
        """Why too little was due in a window for anything to be proved by nothing going wrong."""
        row = next((one for one in self.findings.exposure if one.window == window), None)
        paced = self.facts.paced and self.facts.confirms
        seen = 0 if row is None else row.due if paced else row.sent
        if seen >= words.ENOUGH[words.RUN]:
            return None
        noun = "publishes were due" if paced else "messages were sent"
        return Unknown(
            f"only {seen:,} {noun} while the fault was in force",
            "send more, or let the fault last longer",
        )

    def _consumption(self, window: int) -> tuple[words.Consumption, ...]:
        return tuple(row for row in self.findings.consumption if row.window == window)

    def _cut_short(self, window: int, promise: str) -> bool:
        """Whether another fault ended the time in which that one was healed."""
        rows = served.rows_of(self.findings, window, promise) if promise == words.HEALED else ()
        return any(row.until_ns < self.facts.load_ended_ns for row in rows)

    def _only_late(self, rows: Sequence[words.Service], promise: str, window: int) -> bool:
        """Whether all was served, but by what came after the fault."""
        late = promise != words.HEALED and self._confirmed_late(window)
        return late and served.served(rows) is True

    def _confirmed_late(self, window: int) -> bool:
        """Whether nothing that was sent into the fault was confirmed until it was being undone."""
        first, of = self.recovery.stage("first_success", window), self._window(window)
        if first is None or of.ended_ns is None:
            return False
        in_force = (one.until_ns for one in self.findings.exposure if one.window == window)
        undone_ns = next((at for at in in_force if at < self.facts.load_ended_ns), of.ended_ns)
        return of.origin_ns + first.after_ns >= undone_ns

    def _late_text(self, window: int) -> str:
        first = self.recovery.stage("first_success", window)
        length_s = fault_length_s(self._window(window))
        assert first is not None, "what is late was confirmed at some time, or never"
        return f"first confirmed {stage_text(first)}, of a fault of {length_s:.1f} s"

    def _window(self, number: int) -> Window:
        return next(window for window in self.facts.windows if window.number == number)
