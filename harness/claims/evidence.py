"""The evidence of one run for every fact: from its marts, its facts and its recorded state.

1. counted.py knows counts, recovery.py stages and silences, serving.py service and consumption,
   waiting.py waiting messages, derived.py derived facts. This module chooses among them.
2. A doubt about the whole run leaves only proved violations.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property

from harness.claims import derived, served, waiting
from harness.claims.attendance import Attendance
from harness.claims.counted import PLANNED, PLANNED_OF, Among, Counted
from harness.claims.degraded import sick, sick_windows
from harness.claims.doubts import (
    BY_CLOCKS,
    BY_LATE_CONFIRMS,
    BY_OPERATORS,
    BY_UNKNOWN_ENDS,
    Caveat,
    Doubts,
    doubts_of,
    never_begun,
)
from harness.claims.recovery import MISSED, NEEDS_CONSUMERS, SILENCE, Recovery
from harness.claims.remarks import remarked
from harness.claims.serving import RunService
from harness.claims.state import KnownFacts
from harness.claims.times import stage_text
from harness.claims.values import Interval, NotApplicable, Unknown, Value, Why, at_least
from harness.plan.facts import DECLARED, OPERATED
from harness.plan.layouts.guarantees import BROKERS
from harness.plan.vocabulary import (
    CONSUMPTION,
    COUNTS,
    KEPT,
    MOVED,
    RECORDED,
    REQUEUED,
    SEEN,
    SERVICE,
    STAGE_NAMES,
    STARVED,
    STEADY_STATE,
    TIMERS,
    WAITING,
    fact,
)
from harness.run_folder.process_ends import watch_lost_text
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.messages import NO_FAULT

_UNDECLARED = "the time within which its brokers check a transaction is not declared"
_SECOND_COPY = "duplicated.stored_twice"
_AFTER_ACK = "duplicated.redelivery_after_ack"
_ROLLED_BACK = "duplicated.offset_rollback"
# What slow consumers may cause, and how.
_BY_SLOW_CONSUMERS = {
    "overdue": "a delayed message may wait until slow consumers have processed earlier ones",
    **dict.fromkeys(
        (_AFTER_ACK, _ROLLED_BACK),
        "a library discards what a slow consumer acknowledges if another one has its log by then",
    ),
}
_NOT_SLOW = "run it without `processing`"
_FROM_BEFORE = ("redelivery", "offset_rollback")  # details of `duplicated`


@dataclass(frozen=True)
class Evidence:
    """One run. `findings` may hold rows of that run only."""

    findings: Findings
    facts: Facts
    state: KnownFacts
    _: KW_ONLY
    # Facts for which the format of another tool has no field, with the reason.
    hidden: Mapping[str, str] = field(default_factory=dict)
    # Counts that a claim may not take for 0, and why: too little on record could have shown one.
    unshown: Mapping[str, str] = field(default_factory=dict)
    # Counts whose cases clients may have caused without a record of it, and why.
    excused: Mapping[str, str] = field(default_factory=dict)
    # How many messages at most consumers of a history can hold off the record; None: any number.
    hides: int | None = None
    # By producer and sequence: the value by which a history of another tool names the message.
    values_sent: Mapping[tuple[int, int], str] = field(default_factory=dict)
    # Whether the records say since when consumers were there. Ours do.
    attended: bool = True
    attendance: Attendance = field(default_factory=Attendance)
    # Measures whose opportunities marts of an old format do not hold (census `could_show`).
    uncounted: frozenset[str] = frozenset()
    # Why the client's library may send a message again by itself; "" if it does not.
    resends: str = ""
    # By window: how many attempts failed, as claims about clients that poll say beside service.
    failed_sends: Mapping[int, str] = field(default_factory=dict)
    # By window: which host took over, and between which queries; without an entry it is unknown.
    taken_over: Mapping[int, str] = field(default_factory=dict)

    def value(self, name: str, window: int = 0, among: Among = None) -> Value:
        """Return the value of a fact; of a window's fact, in that window. `among`: a count covers
        only cases that these windows can have caused."""
        return self._value(name, window, among, self.doubts.run)

    def _value(self, name: str, window: int, among: Among, doubt: Caveat | None) -> Value:
        """`doubt`: why nothing is known of a window."""
        head, _, detail = name.partition(".")
        if name in self.hidden:
            return NotApplicable(self.hidden[name])
        if name in DECLARED or name in SEEN:
            return self.state.value(name, window)
        if name in OPERATED:
            return self._operated(name)
        if head in COUNTS:
            return self._believed(head, detail, self.counted.value(head, detail, among))
        if fact(name) is None:  # a package brings it
            return self.state.value(name, window)
        if name in derived.DERIVED:
            return derived.derive(name, window, self.facts, self.state)
        if name in STEADY_STATE:
            return self._of_steady_state(name)
        if not self.facts.planned_windows:
            return NotApplicable("there is no fault")
        if never := never_begun(window, self.facts):
            return self.facts.window(window).kind if name == "fault_kind" else never
        if doubt:
            return doubt.unknown
        if name in RECORDED:
            return self._recorded(name, window)
        return self._found(name, window)

    def claimed(self, name: str, window: int = 0, among: Among = None) -> Value:
        """Return the value that a claim may use: little evidence proves nothing, and a problem
        before a fault is not the fault's."""
        if name == _SECOND_COPY and self.resends:
            return NotApplicable(self.resends)
        measure, _, detail = name.partition(".")
        if measure not in COUNTS or name in self.hidden:
            value = self._value(name, window, None, self._doubt_of(window))
            if name in (SILENCE, MISSED) and isinstance(value, Interval):
                rows = served.rows_of(self.findings, window, words.FAULT)
                return sick(rows, self.facts, self.findings) or value
            return value
        value = self._believed(measure, detail, self.counted.value(measure, detail, among))
        value = self.counted.enough(measure, detail, value)
        if isinstance(value, Interval):
            value = remarked(self.counted, name, among, self._excused(name, value, among))
        if name in self.unshown and isinstance(value, Interval):
            return replace(value, high=math.inf, doubt=value.doubt or self.unshown[name])
        return value

    def _excused(self, name: str, counted: Interval, among: Among) -> Interval:
        """Return a count; cases that others than the broker may have caused are only possible."""
        if counted.low and name in self.excused:
            return replace(counted, low=0, doubt=counted.doubt or self.excused[name])
        if name == _AFTER_ACK:
            counted = self._in_time(counted, among)
        if name in (_AFTER_ACK, _ROLLED_BACK) and self.counted.of_logs:
            counted = self._unwatched(counted)
        why = _BY_SLOW_CONSUMERS.get(name)
        if why is None or not counted.low or not self.state.slow_consumers:
            return counted
        if name == _AFTER_ACK and not self.counted.of_logs:
            return counted  # a queue's broker gets every acknowledgement of a living connection
        advice = counted.advice or _NOT_SLOW
        return replace(counted, low=0, doubt=counted.doubt or why, advice=advice)

    def _in_time(self, counted: Interval, among: Among) -> Interval:
        """The redelivered that were acknowledged in time. If the load was degraded when a fault
        began, those that this fault may have caused were perhaps acknowledged too late."""
        ill = sick_windows(self.facts, self.findings) if counted.low else {}
        certain = self.counted.not_by(ill, "duplicated", "redelivery_after_ack", among)
        if not ill or certain >= counted.low:
            return counted
        why = next(iter(ill.values()))
        return replace(counted, low=certain, doubt=counted.doubt or why.reason, advice=why.advice)

    def _unwatched(self, counted: Interval) -> Interval:
        """The redeliveries of a log. If mqproof lost the watch of processes, an end that perhaps
        did not occur excuses each of them."""
        more = self.counted.total("duplicated", "redelivery")
        if not (more and self.facts.process_watch_lost):
            return counted
        why = Why(f" more are possible: {watch_lost_text(self.facts.process_watch_lost)}", more)
        return replace(counted, high=counted.high + more, doubt=counted.doubt or why)

    def detail(self, name: str, window: int) -> str:
        """Return how a fact of a window came about, in words; "" if its value is enough."""
        if name == CONSUMPTION:
            return self.serving.resumed_detail(window)
        if name in SERVICE:
            failed = self.failed_sends.get(window, "") if SERVICE[name] in TIMERS else ""
            return "; ".join(filter(None, (self.serving.detail(name, window), failed)))
        if name == REQUEUED:
            return waiting.requeued_detail(self.counted, window)
        if name == derived.TAKEN_OVER:
            return self.taken_over.get(window, "")
        row = self.recovery.stage(name, window)
        return stage_text(row) if row is not None else ""

    @cached_property
    def doubts(self) -> Doubts:
        return doubts_of(self.findings.doubts, self.facts)

    @cached_property
    def counted(self) -> Counted:
        values = {whole: self.state.value(name, 0) for whole, name in PLANNED.items()}
        planned = {of: it.low for of, it in values.items() if isinstance(it, Interval)}
        for whole, (first, *others) in PLANNED_OF.items():
            if planned.keys() >= {first, *others}:
                planned[whole] = planned[first] - sum(planned[other] for other in others)
        return Counted(
            counts=self.findings.counts,
            attributions=self.findings.attributions,
            doubt=self.doubts.loss,
            planned=planned,
            has_consumers=self.state.lacks("consumers") is not True,
            undrained=frozenset(
                one.queue for one in self.findings.doubts if one.reason == "drain"
            ),
            unclosed=self._unclosed,
            queues=self.facts.sent_to if self.facts.queues else frozenset(),
            hides=self.hides,
            of_logs=any(row.place for row in self.findings.starvation),
            uncounted=self.uncounted | self.unshown.keys(),
            without_fault=(
                (frozenset(self._beside_operations), BY_OPERATORS),
                (frozenset(self._perhaps_not_over), BY_UNKNOWN_ENDS),
                (frozenset([NO_FAULT]), BY_CLOCKS if self.facts.clocks else BY_LATE_CONFIRMS),
            ),
            groups=len(self.facts.consumer_groups),
            queues_of_groups={
                one.name: frozenset(one.names.values()) for one in self.facts.consumer_groups
            },
        )

    @property
    def _beside_operations(self) -> Iterator[int]:
        """Yield the windows whose time an operation reached into; without consumers a message may
        be gone at any time."""
        facts, waits = self.facts, self.state.lacks("consumers") is True
        back_ns = facts.deadline_ns + facts.reconnect_ns
        for each in facts.windows:
            for one in facts.operated:
                later = each.over_ns is not None and one.origin_ns > each.over_ns + back_ns
                earlier = one.over_ns is not None and one.over_ns + back_ns < each.origin_ns
                if waits or not (later or earlier):
                    yield each.number

    @property
    def _perhaps_not_over(self) -> Iterator[int]:
        """Yield the windows that ended, but it is unknown when they were over."""
        for each in self.facts.windows:
            if each.ended_ns is not None and each.over_ns is None:
                yield each.number

    @property
    def only_faults_end_brokers(self) -> bool:
        """Return whether only faults can have ended a broker, and no message may wait while its
        queue delivers later ones."""
        known = all(self.state.run.get(name) == 0 for name in ("operations", "priorities"))
        return known and not (self.facts.process_ends or self.facts.process_watch_lost)

    @property
    def _unclosed(self) -> frozenset[str]:
        """Return the queues of which a consumer's log is not closed: those of its group; of a
        consumer of no group all queues."""
        groups = self.facts.consumer_groups
        found: set[str] = set()
        for doubt in self.findings.doubts:
            if doubt.reason == "consumer_log":
                own = [one for one in groups if doubt.worker in one.consumers]
                found.update(queue for one in own for queue in one.names.values())
                if not own:
                    found.update(row.queue for row in self.findings.counts)
        return frozenset(found)

    @cached_property
    def recovery(self) -> Recovery:
        return Recovery(self.findings, self.facts, self.doubts)

    @cached_property
    def serving(self) -> RunService:
        return RunService(
            self.findings,
            self.facts,
            self.state,
            self.doubts,
            self.recovery,
            self.attended,
            self.attendance,
        )

    def never_late(self, window: int) -> bool:
        """Return whether it is certain that no message was late from this fault to the next one,
        or to the end of load."""
        missed = self.value("missed", window)
        return isinstance(missed, Interval) and not missed.high

    def _operated(self, name: str) -> Value:
        """Return the results of operations; without an operation they do not apply."""
        none = self.state.lacks("operations")
        if none:
            return none if isinstance(none, Unknown) else NotApplicable("there is no operation")
        return self.doubts.run.unknown if self.doubts.run else self.state.value(name, 0)

    def _believed(self, measure: str, detail: str, value: Value) -> Value:
        """Return what of a count can be believed. In a run that cannot be judged only found cases
        count."""
        doubt = self.doubts.run
        if measure == "duplicated" and detail in _FROM_BEFORE and self._resumed_too_early:
            return self._resumed_too_early.unknown
        if not isinstance(value, Interval):
            return value
        if measure == "unchecked" and self.facts.checks_within_ns is None:
            return Unknown(_UNDECLARED)
        if doubt is None:
            return value
        jumped = next((one for one in self.doubts if one.reason == "clock"), None)
        if measure == "early" and jumped is not None:
            return jumped.unknown  # that clock measured how long it waited
        return at_least(value.low, value.text, doubt.why, doubt.advice)

    @property
    def _resumed_too_early(self) -> Caveat | None:
        """Return why readers may have asked for offsets that were read before; None: they did not.

        Where clients keep their place, the next reader goes on where the last one reported. A
        consumer that did not close its log had recorded more since.
        """
        kept_by_brokers = self.state.value("progress_kept_by", 0) == BROKERS
        return None if kept_by_brokers else self.doubts.loss("consumer_log")

    def _of_steady_state(self, name: str) -> Value:
        doubt = self.doubts.run
        if doubt is not None and not self.doubts.only_faults:
            return doubt.unknown
        is_outage = name == "unavailable_in_steady_state_s"
        value = self.serving.longest_steady_outage() if is_outage else self.serving.starved(0)
        if doubt is None or not isinstance(value, Interval):
            return value if doubt is None else doubt.unknown
        # The steady state lies before every fault: what was proved of it stands.
        return at_least(value.low, value.text, doubt.why, doubt.advice)

    def _doubt_of(self, window: int) -> Caveat | None:
        """Return why a claim knows nothing of a window. A fault that was not verified takes back
        nothing of a verified one that had ended before."""
        known = [each for each in self.facts.windows if each.verified and each.gone]
        own = next((each for each in known if each.number == window), None)
        if not self.doubts.only_faults or own is None or own.ended_ns is None:
            return self.doubts.run
        later_ns = [each.origin_ns for each in self.facts.windows if each not in known]
        return None if own.ended_ns < min(later_ns, default=math.inf) else self.doubts.run

    def _recorded(self, name: str, window: int) -> Value:
        """Return a recorded fact; two of them the run's facts hold by themselves. Without a record
        of connections, service during the fault shows that publishers had left a dead target."""
        facts = self.facts.window(window)
        if name == "fault_kind":
            return facts.kind
        if name == "fault_returned":
            return facts.gone and facts.ended_ns is not None
        known = self.state.value(name, window)
        served_elsewhere = name == MOVED and self.serving.every_publisher_served(window)
        return True if served_elsewhere and isinstance(known, Unknown) else known

    def _found(self, name: str, window: int) -> Value:
        none = self.state.lacks("consumers") if _needs_consumers(name) else False
        if none:
            return none if isinstance(none, Unknown) else NotApplicable("the run has no consumer")
        if name in STAGE_NAMES:
            return self.recovery.reached(name, window)
        if name == SILENCE:
            return self.recovery.silence(window, self.attendance.paused)
        if name == MISSED:
            return self.recovery.missed(window)
        if name in SERVICE:
            return self.serving.promised(name, window)
        if name == CONSUMPTION:
            return self.serving.resumes(window)
        if name == STARVED:
            return self.serving.starved(window)
        if name in (WAITING, KEPT, REQUEUED):
            return self._waited(name, self.facts.window(window))
        stage = "sustained_success" if name == "degraded_s" else name.removesuffix("_s")
        return self.recovery.time(stage, window)

    def _waited(self, name: str, window: Window) -> Value:
        if name == WAITING:
            return waiting.waited(self.findings, window)
        if name == KEPT:
            return waiting.kept(self.findings, self.state, window)
        return waiting.requeued(self.counted, window)


def _needs_consumers(name: str) -> bool:
    return name in (CONSUMPTION, STARVED) or name.removesuffix("_s") in NEEDS_CONSUMERS
