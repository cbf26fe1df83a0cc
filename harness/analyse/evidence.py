"""What one run tells of every fact: from its marts, its facts and its recorded state.

1. Counts that incomplete records can only raise are lower bounds: a proved violation stays one.
2. A loss count hangs on what was really left open (loss_unknown, unreachable), not on the mere
   presence of a doubt: where every confirmed message was delivered, nothing can be lost.
3. A stalled instrument makes times unknown. What was seen to happen did happen all the same: a
   stall cannot invent a delivery or a confirm.
4. A doubt about the whole run leaves nothing but proved violations.
5. An ambiguous surplus delivery may be of any provenance that the analysis could not tell it from;
   so may a delivery that the clocks cannot call early or not (terms.py).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from harness.analyse.doubts import Told, tell
from harness.analyse.state import State
from harness.analyse.terms import DOUBTFUL, moot
from harness.analyse.times import NS, fault_length_s, judged_ns, stage_text
from harness.analyse.truth import Interval, Moot, Unknown, Value, at_least, exactly
from harness.analyse.vocabulary import (
    COUNTS,
    DECLARED,
    NOTICED,
    OPERATED,
    POLLED,
    RECORDED,
    SERVED,
    STAGE_NAMES,
)
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.facts import Window as WindowFacts
from spark_analysis.schema.findings import Availability, Findings, Stage
from spark_analysis.schema.words import Owed

_SEEN = ("first_success", "consumers_resumed")  # stages that one event proves
_NEEDS_CONSUMERS = ("consumers_resumed", "backlog_drained")
_MAY_BE_AMBIGUOUS = ("stored_twice", "redelivery", "redelivery_after_ack", "offset_rollback")
# Counts that a publisher's log could raise.
_NEEDS_PUBLISHERS = ("unexpected", "reordered", "early", "torn_transaction")
_TIMERS = {NOTICED: ("route_poll_s", "timer_s"), POLLED: ("route_poll_s",)}
_ENDED_BY_FAULT = {
    Owed.UNDO: "it would have lasted as long as the fault",
    Owed.EITHER: "the fault's end may have ended it, too",
}
_LOSS_DOUBTS = ("drain", "consumer_log", "unreadable", "not_due", "pending", "publisher_log")


@dataclass(frozen=True)
class Evidence:
    """One run. `findings` may hold rows of that run only."""

    findings: Findings
    facts: Facts
    state: State
    # Counts of which these records can say nothing, and why: somebody else's, of another form.
    untold: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str, window: int = 0) -> Value:
        """What is known of a fact; of a window's fact, in that window."""
        head, _, detail = name.partition(".")
        if name in DECLARED:
            return self.state.value(name, window)
        if name in OPERATED:
            return self._operated(name)
        if head in self.untold:
            return Unknown(self.untold[head])
        if head in COUNTS:
            return self._doubted(self._count(head, detail))
        if not self.facts.windows:
            return Moot("there is no fault")
        if self.run_doubt:
            return Unknown(self.run_doubt.sentence, self.run_doubt.advice)
        if name in RECORDED:
            return self._recorded(name, window)
        return self._found(name, window)

    def _operated(self, name: str) -> Value:
        """What operations left: of a run without any it says nothing."""
        if not self.state.run.get("operations"):
            return Moot("there is no operation")
        if self.run_doubt:
            return Unknown(self.run_doubt.sentence, self.run_doubt.advice)
        return self.state.value(name, 0)

    def detail(self, name: str, window: int) -> str:
        """How a fact of a window came about, in words; "" where its value says it all."""
        row = self.stage(name.partition("_within_")[0], window)
        if row is None:
            return ""
        length = fault_length_s(self.window(window))
        held = f" of a fault of {length:.1f} s" if length is not None else ""
        first = self.stage("first_success", window)
        if name == SERVED and first is not None and self._confirmed_late(window):
            held = f", confirmed {stage_text(first)},{held}"
        elif row.owed == Owed.UNDO:
            held = f"{held}, whose end it waited for"
        if name in _TIMERS:
            return f"{stage_text(row)}; the bound is {self._bound_s(name, window)} s"
        return f"{stage_text(row)}{held if name.endswith('_within_fault') else ''}"

    @cached_property
    def doubts(self) -> tuple[Told, ...]:
        return tell(self.findings.doubts, self.facts)

    @property
    def run_doubt(self) -> Told | None:
        return next((doubt for doubt in self.doubts if doubt.scope == "run"), None)

    def availability_doubt(self, window: int) -> Told | None:
        """What publishers saw does not hang on whether consumers were there."""
        doubts = self._of("availability", window)
        return next((one for one in doubts if one.reason != "consumers_absent"), None)

    def consumption_doubt(self, window: int) -> Told | None:
        """Without consumers nobody can say when they would have been served again."""
        return next(self._of("availability", window), None)

    def loss_doubt(self, *reasons: str) -> Told | None:
        """The first loss doubt with one of these reasons."""
        return next((one for one in self._of("loss") if one.reason in reasons), None)

    def window(self, number: int) -> WindowFacts:
        return next(window for window in self.facts.windows if window.number == number)

    def total(self, measure: str, detail: str = "") -> int:
        """How many of a measure (of one detail), over all queues."""
        return sum(
            row.count
            for row in self.findings.counts
            if row.measure == measure and detail in ("", row.detail)
        )

    def details(self, measure: str) -> Counter[str]:
        """How many of a measure, by detail, over all queues; rows without a detail left out."""
        sums: Counter[str] = Counter()
        for row in self.findings.counts:
            if row.measure == measure and row.detail:
                sums[row.detail] += row.count
        return sums

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
        open_ends = self.total("loss_unknown") + self.total("unreachable")
        if self.loss_doubt("publisher_log"):
            # A confirm may have come that the log does not hold.
            open_ends += self.total("lost_indeterminate")
        return open_ends

    def _of(self, scope: str, window: int = 0) -> Iterator[Told]:
        return (one for one in self.doubts if (one.scope, one.window) == (scope, window))

    def _doubted(self, value: Value) -> Value:
        """A count in a run that cannot be judged: only what was found in it stands."""
        doubt = self.run_doubt
        if doubt is None or not isinstance(value, Interval):
            return value
        return at_least(value.low, value.text, doubt.sentence, doubt.advice)

    def _count(self, measure: str, detail: str) -> Value:
        if not self.total("state"):
            return Unknown("no message was sent", "see how the workers ended (manifest, workers)")
        if measure == "acknowledged":
            return exactly(self.total("state", "acknowledged"))
        if measure in ("lost", "stranded"):
            return self._loss(measure, detail)
        if none := moot(measure, self.total):
            return none
        number = self.total(measure, detail)
        if measure == "reordered" and not number + self.total("in_order"):
            return self._no_order()
        text = f"{number:,}"
        if measure == "reordered":
            text = f"{number:,} of {number + self.total('in_order'):,}"
        logs = ("publisher_log",) if measure in _NEEDS_PUBLISHERS else ()
        doubt = self.loss_doubt("consumer_log", "drain", *logs)
        if doubt:
            return at_least(number, text, *_words(doubt))
        return self._with_doubtful(measure, detail, number, text)

    def _with_doubtful(self, measure: str, detail: str, number: int, text: str) -> Value:
        """The count, and those that the analysis could not tell from it."""
        if measure in DOUBTFUL:
            doubtful = DOUBTFUL[measure]
            more = self.total(doubtful.measure, detail)
            why, advice = f"{more:,} more {doubtful.why}", doubtful.advice
        else:
            more = self.total(measure, "ambiguous") if detail in _MAY_BE_AMBIGUOUS else 0
            why = f"{more:,} more may be: what came between the two deliveries hides which"
            advice = "look at the ambiguous ones' stories"
        if not more:
            return exactly(number, text)
        return Interval(number, number + more, text, why, advice)

    def _loss(self, measure: str, detail: str) -> Value:
        confirmed = self.total("state", "acknowledged")
        if not confirmed:
            return Unknown("no message was confirmed", "see why publishing failed (settlements)")
        number = self.total(measure, detail)
        text = f"{number:,} of {confirmed:,}"
        doubt = self.loss_doubt("consumer_log")
        if measure == "stranded" and number and doubt:
            # A consumer that died may have got what the audit found.
            return Interval(0, number, text, *_words(doubt))
        if not self.undecided:
            return exactly(number, text)
        doubt = self.loss_doubt(*_LOSS_DOUBTS)
        sentence, advice = _words(doubt)
        return at_least(number, text, f"{self.undecided:,} messages: {sentence}", advice)

    def _no_order(self) -> Value:
        if not self.total("not_judged"):
            return Unknown("nothing was delivered", "see why the queues could not be read")
        if self.total("not_judged") == self.total("not_judged", "not_promised"):
            return Moot("order is not promised: more than one consumer or queue a key")
        if self.total("not_judged") == self.total("not_judged", "not_at_once"):
            return Moot("order is not promised: all were delayed, or in transactions")
        return Unknown(
            "no delivery could be judged for order", "let fewer messages be redelivered"
        )

    def _recorded(self, name: str, window: int) -> Value:
        """Two of these the run's facts hold by themselves."""
        facts = self.window(window)
        if name == "fault_kind":
            return facts.kind
        if name == "fault_returned":
            return facts.gone and facts.ended_ns is not None
        return self.state.value(name, window)

    def _found(self, name: str, window: int) -> Value:
        if name.removesuffix("_s") in _NEEDS_CONSUMERS and self.state.run.get("consumers") == 0:
            return Moot("nobody consumes before the drain")
        if name in STAGE_NAMES:
            return self._stage_seen(name, window)
        doubt = self._time_doubt(name.removesuffix("_s"), window)
        if doubt:
            return Unknown(doubt.sentence, doubt.advice)
        if name in ("silence_s", "missed"):
            return self._gap(name, window)
        if name == SERVED:
            return self._served_within(window)
        if name in _TIMERS:
            return self._within_timers(name, window)
        if name.endswith("_within_fault"):
            return self._within(name.removesuffix("_within_fault"), window)
        return self._stage_time("sustained_success" if name == "degraded_s" else name[:-2], window)

    def _stage_seen(self, name: str, window: int) -> Value:
        row = self.stage(name, window)
        if row is None:
            return self._no_stage(name)
        doubt = self._time_doubt(name, window)
        if name == "consumers_resumed" and not row.reached:
            doubt = doubt or self.loss_doubt("consumer_log")
        if doubt and not (row.reached and name in _SEEN):
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

    def _served_within(self, window: int) -> Value:
        """Patient clients are confirmed in time what they sent into a fault, and after it: that is
        no success within it unless something of it was confirmed before the fault ended. Of what
        was sent in its last seconds nobody can say what it is owed to: the undo is in time, too.
        """
        sustained = self._within("sustained_success", window)
        if sustained is not True:
            return sustained
        if self._confirmed_late(window):
            return False
        return self._owed(window)

    def _confirmed_late(self, window: int) -> bool:
        """Whether nothing that was sent into the fault was confirmed until it had been undone."""
        first, length_s = self.stage("first_success", window), fault_length_s(self.window(window))
        return first is not None and length_s is not None and first.after_ns / NS >= length_s

    def _within(self, name: str, window: int) -> Value:
        row = self.stage(name, window)
        if row is None:
            return self._no_stage(name)
        length_s = fault_length_s(self.window(window))
        if row.reached:
            return length_s is None or row.after_ns / NS < length_s
        if length_s is not None and row.after_ns / NS >= length_s:
            return False
        return _too_short(name)

    def _owed(self, window: int) -> Value:
        """Whether it was the system that brought sustained success, and not the fault's end."""
        length_s = fault_length_s(self.window(window))
        row = self.stage("sustained_success", window)
        if row is None or length_s is None or row.owed == Owed.SYSTEM:
            return True
        if row.owed == Owed.UNDO:
            return False
        over = "the fault was over before"
        if row.after_ns / NS < length_s:
            over = (
                f"success began {row.after_ns / NS:.1f} s after a fault of {length_s:.1f} s: too "
                "little of it was decided before its end, which may have brought it"
            )
        return Unknown(over, "let the fault last longer")

    def _within_timers(self, name: str, window: int) -> Value:
        bound_s, row = self._bound_s(name, window), self.stage("sustained_success", window)
        if isinstance(bound_s, Unknown | Moot):
            return bound_s
        assert isinstance(bound_s, Interval), bound_s
        if row is None:
            return self._no_stage("sustained_success")
        if (row.after_ns - row.uncertainty_ns) / NS > bound_s.low:
            return False
        if not row.reached:
            return _too_short("sustained_success")
        if row.after_ns / NS > bound_s.low:
            over_s = row.uncertainty_ns / NS
            return Unknown(f"the fault took {over_s:.1f} s to make", "make it faster")
        owed = self._owed(window)
        deadline_s = self.facts.deadline_ns / NS
        if owed is True and row.after_ns / NS + deadline_s > bound_s.low:
            why = f"what is in time may be confirmed {deadline_s:g} s after it was due"
            return Unknown(why, "give clients a shorter deadline")
        if owed is False and not self._lasts(window, bound_s.low):
            return Unknown("the fault was over before", "let the fault last longer")
        return owed

    def _lasts(self, window: int, seconds: float) -> bool:
        """Whether the fault goes on for more than a deadline after that time."""
        length_s = fault_length_s(self.window(window))
        return length_s is None or seconds + self.facts.deadline_ns / NS < length_s

    def _bound_s(self, name: str, window: int) -> Value:
        """Of timers that run one after the other; unknown where one is."""
        values = [self.state.value(timer, window) for timer in _TIMERS[name]]
        known = [one for one in values if isinstance(one, Interval)]
        if len(known) < len(values):
            return next(one for one in values if not isinstance(one, Interval))
        return exactly(sum(one.low for one in known))

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
        return Unknown(f"the analysis has no {name}")


def _too_short(stage: str) -> Unknown:
    why = f"{stage} was not seen before the load ended, or the next fault began"
    return Unknown(why, "make recovery, or the time between faults, longer")


def _words(doubt: Told | None) -> tuple[str, str]:
    if doubt is None:
        return "the records are not complete", ""
    return doubt.sentence, doubt.advice
