"""What one run tells of every fact: from its marts, its facts and its recorded state.

1. Counts stand in counted.py, service and consumption in served.py, what follows from other facts
   in derived.py: here is where they are asked for, and which doubt comes first.
2. A stalled instrument makes times unknown. What was seen to happen did happen all the same: a
   stall cannot invent a delivery or a confirm.
3. A doubt about the whole run leaves nothing but proved violations.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from harness.claims import calm, derived, served
from harness.claims.counted import PLANNED, Among, Counted
from harness.claims.doubts import Told, tell
from harness.claims.state import State
from harness.claims.times import NS, fault_length_s, judged_ns, stage_text
from harness.claims.truth import Interval, Moot, Unknown, Value, at_least, exactly
from harness.claims.vocabulary import (
    CALM,
    CONSUMPTION,
    COUNTS,
    DECLARED,
    KEPT,
    OPERATED,
    RECORDED,
    REQUEUED,
    SEEN,
    SERVICE,
    STAGE_NAMES,
    STARVED,
    TIMERS,
    WAITING,
)
from spark_analysis.schema import measures
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.facts import Window as WindowFacts
from spark_analysis.schema.findings import Availability, Findings, Stage
from spark_analysis.schema.measures_of_runs import CONSUMERS_ABSENT
from spark_analysis.schema.words import Owed

_NEEDS_CONSUMERS = frozenset(
    each.name for each in measures.REGISTER if CONSUMERS_ABSENT in each.reasons
)
_GAPS = ("silence_s", "missed")
_UNDECLARED = "nobody declares within what time its brokers ask about a transaction"
_CUT_SHORT = "another fault came before clients had had time to be back, and enough was due"
_NOT_ATTENDED = Told(
    "consumption", 0, "", "no record says since when consumers were there", "record that"
)
_ENDED_BY_FAULT = {
    Owed.UNDO: "it would have lasted as long as the fault",
    Owed.EITHER: "the fault's end may have ended it, too",
}


@dataclass(frozen=True)
class Evidence:
    """One run. `findings` may hold rows of that run only."""

    findings: Findings
    facts: Facts
    state: State
    # Counts of which these records can say nothing, and why: somebody else's, of another form.
    untold: Mapping[str, str] = field(default_factory=dict)
    # Whether the records say since when consumers were there. Ours do.
    attended: bool = True

    def value(self, name: str, window: int = 0, among: Among = None) -> Value:
        """What is known of a fact; of a window's fact, in that window. `among`: a count is asked
        of what these windows can have caused."""
        head, _, detail = name.partition(".")
        if name in DECLARED or name in SEEN:
            return self.state.value(name, window)
        if name in OPERATED:
            return self._operated(name)
        if head in self.untold:
            return Unknown(self.untold[head])
        if head in COUNTS:
            value = self._doubted(self.counted.value(head, detail, among))
            undeclared = head == "unasked" and self.facts.asks_within_ns is None
            return Unknown(_UNDECLARED) if undeclared and isinstance(value, Interval) else value
        if name in derived.DERIVED:
            return derived.derive(name, window, self.facts, self.state)
        if name in CALM:
            return self._calm(name)
        if not self.facts.windows:
            return Moot("there is no fault")
        if self.run_doubt:
            return Unknown(self.run_doubt.sentence, self.run_doubt.advice)
        if name in RECORDED:
            return self._recorded(name, window)
        return self._found(name, window)

    def claimed(self, name: str, window: int = 0, among: Among = None) -> Value:
        """What a claim may build on: little evidence proves nothing, and what was wrong before a
        fault is not the fault's."""
        value, measure = self.value(name, window, among), name.partition(".")[0]
        if name in _GAPS and isinstance(value, Interval):
            return served.sick(served.rows_of(self.findings, window, words.FAULT)) or value
        return self.counted.enough(measure, value) if measure in COUNTS else value

    def _operated(self, name: str) -> Value:
        """What operations left: of a run without any it says nothing."""
        if not self.state.run.get("operations"):
            return Moot("there is no operation")
        if self.run_doubt:
            return Unknown(self.run_doubt.sentence, self.run_doubt.advice)
        return self.state.value(name, 0)

    def detail(self, name: str, window: int) -> str:
        """How a fact of a window came about, in words; "" where its value says it all."""
        if name == CONSUMPTION:
            return served.consumed(self._consumption(window))[1]
        if name in SERVICE:
            rows = served.rows_of(self.findings, window, SERVICE[name])
            if rows and self._only_late(rows, SERVICE[name], window):
                return self._late_text(window)
            return served.sentence(rows, self.findings.outages) if rows else ""
        row = self.stage(name, window)
        return stage_text(row) if row is not None else ""

    @cached_property
    def counted(self) -> Counted:
        planned = {whole: self.state.value(name, 0) for whole, name in PLANNED.items()}
        return Counted(
            self.findings.counts,
            self.findings.charges,
            self.loss_doubt,
            {of: one.low for of, one in planned.items() if isinstance(one, Interval)},
            frozenset(one.queue for one in self.findings.doubts if one.reason == "drain"),
        )

    @cached_property
    def doubts(self) -> tuple[Told, ...]:
        return tell(self.findings.doubts, self.facts)

    @property
    def run_doubt(self) -> Told | None:
        return next((doubt for doubt in self.doubts if doubt.scope == "run"), None)

    def availability_doubt(self, window: int) -> Told | None:
        """What publishers saw does not hang on whether consumers were there."""
        doubts = self._of("availability", window)
        return next((one for one in doubts if one.reason != CONSUMERS_ABSENT), None)

    def consumption_doubt(self, window: int) -> Told | None:
        """Without consumers nobody can say when they would have been served again."""
        return next(self._of("availability", window), None)

    def loss_doubt(self, *reasons: str) -> Told | None:
        """The first loss doubt with one of these reasons."""
        return next((one for one in self._of("loss") if one.reason in reasons), None)

    def window(self, number: int) -> WindowFacts:
        return next(window for window in self.facts.windows if window.number == number)

    def beside(self, window: int) -> tuple[int, ...]:
        """The windows that were in force at the same time."""
        return derived.beside(window, self.facts)

    def died_before(self, window: int) -> tuple[int, ...]:
        """Those of them by which a node was down already."""
        return derived.died_before(window, self.facts)

    def too_little(self, window: int) -> Unknown | None:
        """Why too little was due in a window for anything to be proved by nothing going wrong."""
        row = next((one for one in self.findings.exposure if one.window == window), None)
        paced = self.facts.paced and self.facts.confirms
        seen = 0 if row is None else row.due if paced else row.sent
        if seen >= words.ENOUGH[words.RUN]:
            return None
        noun = "operations were due" if paced else "messages were sent"
        return Unknown(
            f"only {seen:,} {noun} while the fault was in force",
            "send more, or let the fault last longer",
        )

    def total(self, measure: str, detail: str = "") -> int:
        """How many of a measure (of one detail), over all queues."""
        return self.counted.total(measure, detail)

    def details(self, measure: str) -> Counter[str]:
        """How many of a measure, by detail, over all queues; rows without a detail left out."""
        return self.counted.details(measure)

    def stage(self, name: str, window: int) -> Stage | None:
        rows = self.findings.stages
        return next((row for row in rows if (row.stage, row.window) == (name, window)), None)

    def availability(self, window: int) -> Availability | None:
        """The window's row over all queues."""
        rows = self.findings.availability
        return next((row for row in rows if (row.window, row.queue) == (window, "")), None)

    @property
    def undecided(self) -> int:
        """Confirmed messages (or such as may be) of which nobody can say whether they are lost."""
        return self.counted.undecided()

    def _of(self, scope: str, window: int = 0) -> Iterator[Told]:
        return (one for one in self.doubts if (one.scope, one.window) == (scope, window))

    def _doubted(self, value: Value) -> Value:
        """A count in a run that cannot be judged: only what was found in it stands."""
        doubt = self.run_doubt
        if doubt is None or not isinstance(value, Interval):
            return value
        return at_least(value.low, value.text, doubt.sentence, doubt.advice)

    def _recorded(self, name: str, window: int) -> Value:
        """Two of these the run's facts hold by themselves."""
        facts = self.window(window)
        if name == "fault_kind":
            return facts.kind
        if name == "fault_returned":
            return facts.gone and facts.ended_ns is not None
        return self.state.value(name, window)

    def _found(self, name: str, window: int) -> Value:
        nobody = self.state.run.get("consumers") == 0
        if nobody and (
            name in (CONSUMPTION, STARVED) or name.removesuffix("_s") in _NEEDS_CONSUMERS
        ):
            return Moot("nobody consumes before the drain")
        if name in STAGE_NAMES:
            return self._stage_seen(name, window)
        if name == CONSUMPTION:
            return self._consumption_resumes(window)
        if name == STARVED:
            return self._starved(window)
        if name == WAITING:
            return exactly(self._waiting(window))
        if name == KEPT:
            return self._kept(window)
        if name == REQUEUED:
            return self._requeued(window)
        doubt = self._time_doubt(name.removesuffix("_s"), window)
        if doubt:
            return Unknown(doubt.sentence, doubt.advice)
        if name in _GAPS:
            return self._gap(name, window)
        if name in SERVICE:
            return self._served(SERVICE[name], window)
        return self._stage_time("sustained_success" if name == "degraded_s" else name[:-2], window)

    def _waiting(self, window: int) -> int:
        """As of the last whole second before the fault."""
        second = self.window(window).origin_ns // int(NS)
        before = [row for row in self.findings.seconds if row.second < second]
        return sum(row.confirmed - row.delivered for row in before)

    def _kept(self, window: int) -> Value:
        """What is new since it is back may be among what it holds: so little does not decide."""
        held, waiting = self.state.value("held_when_rejoined", window), self._waiting(window)
        if not isinstance(held, Interval):
            return held
        if held.low >= waiting:
            return True
        if held.low * 10 <= waiting:
            return False
        part = f"what is new, or a part of the {waiting:,}"
        return Unknown(f"it held {held.low:,.0f}: {part}")

    def _requeued(self, window: int) -> Value:
        if self.counted.requeued(frozenset({window})):
            return True
        return Moot("nothing came again, so perhaps nothing was unacknowledged")

    def _stage_seen(self, name: str, window: int) -> Value:
        row = self.stage(name, window)
        if row is None:
            return self._no_stage(name)
        doubt = self._time_doubt(name, window)
        if name == "consumers_resumed" and not row.reached:
            doubt = doubt or self.loss_doubt("consumer_log")
        if doubt and not (row.reached and measures.STAGES[name].one_event_proves):
            return Unknown(doubt.sentence, doubt.advice)
        if not row.reached and row.after_ns < judged_ns(self.facts, window):
            return _too_short(name)
        return row.reached

    def _time_doubt(self, name: str, window: int) -> Told | None:
        if name in _NEEDS_CONSUMERS:
            return self.consumption_doubt(window)
        return self.availability_doubt(window)

    def _stage_time(self, name: str, window: int) -> Value:
        row = self.stage(name, window)
        if row is None:
            return self._no_stage(name)
        seconds = row.after_ns / NS
        owed = Owed(row.owed)
        if owed in _ENDED_BY_FAULT:
            return at_least(seconds, doubt=_ENDED_BY_FAULT[owed])
        return exactly(seconds, stage_text(row)) if row.reached else at_least(seconds)

    def _consumption(self, window: int) -> tuple[words.Consumption, ...]:
        return tuple(row for row in self.findings.consumption if row.window == window)

    def _consumption_resumes(self, window: int) -> Value:
        """A delivery that was seen was made, whatever stood still; one that was not seen needs
        somebody who would have seen it."""
        resumed, why = served.consumed(self._consumption(window))
        doubt = self.consumption_doubt(window) or self.loss_doubt("consumer_log")
        if resumed is True:
            return True
        if doubt:
            return Unknown(doubt.sentence, doubt.advice)
        return Unknown(why, "send more after the fault") if resumed is None else False

    def _calm(self, name: str) -> Value:
        if self.run_doubt:
            return Unknown(self.run_doubt.sentence, self.run_doubt.advice)
        if name == "out_when_calm_s":
            return calm.longest_outage(self.findings, self.facts, self.availability_doubt(0))
        return self._starved(0)

    def _starved(self, window: int) -> Value:
        """Of the calm, or once the fault of a window was healed."""
        if not self.facts.confirms:
            return Moot("publishers ask for no confirms")
        if self.state.run.get("consumers") == 0:
            return Moot("nobody consumes before the drain")
        doubt = self.availability_doubt(window) or self.loss_doubt("consumer_log")
        doubt = doubt or (None if self.attended else _NOT_ATTENDED)
        if window:
            told = calm.starved_once_healed(self.findings, self.facts, window, doubt)
            short = isinstance(told, Unknown) and self._cut_short(window)
            return Moot(_CUT_SHORT) if short else told
        return calm.starved_in_the_calm(self.findings, self.facts, doubt)

    def _served(self, promise: str, window: int) -> Value:
        """Patient clients are confirmed in time what they sent into a fault, and after it: that is
        no service within it unless something of it was confirmed before the fault ended."""
        if not self.facts.confirms:
            return Moot("publishers ask for no confirms")
        if not self.facts.paced:
            return Moot("rate is max: no intended times")
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

    def _cut_short(self, window: int, promise: str = words.HEALED) -> bool:
        """Whether another fault ended the time in which that one was healed."""
        rows = served.rows_of(self.findings, window, promise) if promise == words.HEALED else ()
        return any(row.until_ns < self.facts.load_ended_ns for row in rows)

    def _only_late(self, rows: Sequence[words.Service], promise: str, window: int) -> bool:
        """Whether all was served, but by what came after the fault."""
        late = promise != words.HEALED and self._confirmed_late(window)
        return late and served.served(rows) is True

    def _late_text(self, window: int) -> str:
        first, length_s = self.stage("first_success", window), fault_length_s(self.window(window))
        assert first is not None, "what is late was confirmed at some time, or never"
        return f"first confirmed {stage_text(first)}, of a fault of {length_s:.1f} s"

    def _confirmed_late(self, window: int) -> bool:
        """Whether nothing that was sent into the fault was confirmed until it was being undone."""
        first, of = self.stage("first_success", window), self.window(window)
        if first is None or of.ended_ns is None:
            return False
        in_force = (one.until_ns for one in self.findings.exposure if one.window == window)
        undone_ns = next((at for at in in_force if at < self.facts.load_ended_ns), of.ended_ns)
        return of.origin_ns + first.after_ns >= undone_ns

    def _gap(self, name: str, window: int) -> Value:
        row = self.availability(window)
        if row is None:
            return Moot("publishers ask for no confirms")
        if name == "missed":
            return exactly(row.missed) if self.facts.paced else Moot("rate is max: no deadlines")
        seconds = row.silence_ns / NS
        return at_least(seconds) if row.silence_censored else exactly(seconds, f"{seconds:.3f} s")

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
