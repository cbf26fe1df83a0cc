"""Service, consumption and starvation of a run, in a window and in its steady state.

1. served.py and steady_state.py weigh rows of the marts. This module decides which doubt comes
   first, and what makes no sense in this run.
2. If a message was sent into a fault and confirmed only once the undo had begun, it is no service
   within the fault.
3. If another fault cut the recovery time of a fault short, that time proves nothing.
4. What is judged in some time reads the doubts of the windows in whose time that lies: recovery
   from overlapping faults lies in the time of later ones.
5. Slow consumers let messages wait, whatever the broker does: a long wait proves nothing then.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.claims import open_service, operated, served, spared, steady_state
from harness.claims.attendance import Attendance
from harness.claims.degraded import degraded
from harness.claims.doubts import Caveat, Doubts, off_the_record, without_earlier_stalls
from harness.claims.open_service import LateConfirm
from harness.claims.recovery import Recovery
from harness.claims.state import KnownFacts
from harness.claims.times import NS, all_away, fault_length_s, stage_text, windows_of
from harness.claims.values import Interval, NotApplicable, Unknown, Value, Why, why_of
from harness.plan.layouts.guarantees import BROKERS
from harness.plan.vocabulary import OTHERS_SERVED, SERVICE, TIMERS
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Findings
from spark_analysis.schema.measures_of_runs import PUBLISHERS_ABSENT

_CUT_SHORT = "the next fault began before clients could reconnect and enough messages were due"
_HIDES_NS = 2 * NS  # stalls that are shorter together hide no outage, whatever the deadline is
_NOT_SLOW = "run it without `processing`, or with a lower `rate`"
_NOT_ATTENDED = Caveat(
    "consumption", 0, "", Why("no record says since when consumers were there"), "record that"
)


@dataclass(frozen=True, slots=True)
class RunService:
    """The service of one run. `attended`: whether its records show since when consumers were
    there."""

    findings: Findings
    facts: Facts
    state: KnownFacts
    doubts: Doubts
    recovery: Recovery
    attended: bool
    attendance: Attendance = field(default_factory=Attendance)

    def promised(self, name: str, window: int) -> Value:
        """One of SERVICE. Patient clients are confirmed in time what they sent into a fault, and
        after it: that is no service within it unless something of it was confirmed before the
        fault ended."""
        promise, rows = SERVICE[name], self._rows(name, window)
        doubt, stalled_s = self._doubt_within(window, rows, own=promise != words.HEALED)
        if doubt and stalled_s is None:
            return doubt.unknown
        if not self.facts.confirms:
            return NotApplicable("publishers ask for no confirms")
        if not self.facts.paced:
            return NotApplicable("rate is max: no intended times")
        timers = [self.state.value(timer, window) for timer in TIMERS.get(promise, ())]
        unknown = next((one for one in timers if not isinstance(one, Interval)), None)
        if unknown is not None:
            return unknown
        if not rows:
            if name == OTHERS_SERVED:
                return spared.NOTHING_DUE
            return Unknown("this fault, or one that overlaps with it, was not verified ended")
        late = self._only_late(rows, promise, window)
        if late is not False:
            if doubt:
                return doubt.unknown
            if late:
                return self._unless_operated(rows, False)
            return open_service.near_undo(self.facts.clock_bound_ns(words.PUBLISHER))
        if doubt and stalled_s and not self._sure(rows, stalled_s, window):
            return doubt.unknown
        if served.only_few(rows) and self._cut_short(window, promise):
            return NotApplicable(_CUT_SHORT)
        found = self._without_more(self._unless_operated(rows, self._served(rows, window)))
        bound_s = self.facts.clock_bound_ns(words.PUBLISHER) / NS
        if isinstance(found, Unknown) and bound_s:
            clocks = f" (the publishers' clocks may be off by {bound_s:.3f} s)"
            return replace(found, reason=why_of(found.reason).and_also(clocks))
        return found

    def _rows(self, name: str, window: int) -> tuple[words.Service, ...]:
        """Return the rows that answer one of SERVICE."""
        if name == OTHERS_SERVED:
            return spared.rows_of_spared(self.findings, self.facts, window)
        return served.rows_of(self.findings, window, SERVICE[name])

    def every_publisher_served(self, window: int) -> bool:
        """Return whether each publisher was certainly served while the target's broker was dead,
        so by another host."""
        properties = self.facts.window(window).properties
        if properties is None or not properties.ends_broker:
            return False
        rows = served.rows_of(self.findings, window, words.FAULT)
        own = {row.verdict for row in rows if row.scope == words.PUBLISHER}
        return own == {words.SERVED} and self.promised("available_during_fault", window) is True

    def _unless_operated(
        self, rows: Sequence[words.Service], found: bool | Unknown
    ) -> bool | Unknown:
        """Return an answer; none if operations may explain that something was out."""
        if found is not False:
            return found
        noticed_ns = self._noticed_ns(rows[0].window)
        if operated.explains(self.facts, rows, self.findings.outages, noticed_ns):
            return operated.UNDECIDED
        return found

    def _noticed_ns(self, window: int) -> int:
        """Return how long brokers and clients may take to notice a fault, or its longest time if
        that is unknown. Peers of a silent host wait for a timeout first."""
        properties = self.facts.window(window).properties
        if properties is not None and not properties.silences_clients:
            return operated.ROUTES_NS
        timeout_s = self.state.value("detection_timeout_s", window)
        if not isinstance(timeout_s, Interval):
            return self.facts.load_ended_ns
        return operated.ROUTES_NS + round(operated.TIMEOUTS * timeout_s.high * NS)

    def _without_more(self, found: bool | Unknown) -> bool | Unknown:
        """Return an answer whose advice does not ask for more than slow consumers can take."""
        if not isinstance(found, Unknown) or not self.state.slow_consumers:
            return found
        return replace(found, advice=served.WITHOUT_MORE.get(found.advice, found.advice))

    def _sure(self, rows: Sequence[words.Service], stalled_s: float, window: int) -> bool:
        """Return whether stalls leave the answer as it is. A stall only makes confirms later. So
        service is sure if stalls are too short to join two outages, or to hide one. Of an outage,
        more than the stall has to remain. A stall beside the undo may have hidden what ended it,
        which matters only under the fault."""
        if not any(row.verdict == words.OUT for row in rows):
            short = stalled_s * NS < min(self.facts.deadline_ns, _HIDES_NS)
            return short and self._served(rows, window) is True
        if rows[0].promise != words.HEALED and self._stalled_beside_undo(rows[0], window):
            return False
        worst_ns = max(row.worst_ns for row in rows if row.verdict == words.OUT)
        return worst_ns > stalled_s * NS + self.facts.deadline_ns

    def _stalled_beside_undo(self, row: words.Service, window: int) -> bool:
        """Return whether a stall reached into the time from two deadlines before the undo was
        issued until two deadlines after it had returned. `row`: under the fault."""
        ended_ns, beside_ns = self.facts.window(window).ended_ns, 2 * self.facts.deadline_ns
        return ended_ns is not None and any(
            one.reason == "stalled"
            and one.at_ns >= row.until_ns - beside_ns
            and one.at_ns - one.late_ns <= ended_ns + beside_ns
            for one in self.findings.doubts
        )

    def detail(self, name: str, window: int) -> str:
        """Return how one of SERVICE came about, in words."""
        rows = self._rows(name, window)
        if rows and self._only_late(rows, SERVICE[name], window) is True:
            return self._late_text(window)
        queue = "destination" if self.facts.consumer_groups else "queue"
        ended_ns = self.facts.window(window).ended_ns
        return served.sentence(rows, self.findings.outages, ended_ns, queue) if rows else ""

    def resumes(self, window: int) -> Value:
        """Return whether every consumer consumed again. An observed delivery is certain, despite
        any stall. A missing delivery counts only if a running consumer would have seen it."""
        limit_ns = self._consumed_until_ns(window)
        resumed, why = served.consumed(self._consumption(window), limit_ns)
        doubt = self.doubts.consumption(window) or self.doubts.loss("consumer_log")
        if resumed is True:
            return True
        if doubt:
            return doubt.unknown
        if resumed is None and (late := self._unconfirmed(window)):
            why = f"{open_service.NONE_IN_TIME}, so consumers had no new message to get"
            return Unknown(why, late.advice)
        if resumed is None:
            more = "let the fault last longer, or send more"
            return Unknown(why, open_service.LONGER_AFTER if self.state.slow_consumers else more)
        if slow := self.state.slow_consumers:
            return Unknown(f"{why}, but {slow}", _NOT_SLOW)
        first, of = self.recovery.stage("first_success", window), self.facts.window(window)
        served_ns = of.returned_ns if first is None else of.origin_ns + first.after_ns
        rows, outages = self._consumption(window), self.findings.outages
        served_ns = served.queue_served_ns(rows, outages, served_ns, self.facts.deadline_ns)
        bound_ns = self.facts.clock_bound_ns(words.PUBLISHER)
        back_ns = served_ns + bound_ns + operated.back_ns(self.facts)
        if limit_ns < back_ns:
            return Unknown(f"{why}, but the fault ended too soon to tell", "let it last longer")
        if operated.came(self.facts, of.origin_ns, back_ns + self._noticed_ns(window)):
            return operated.UNDECIDED
        if spared.lacked_consumers(rows, self.facts, of.origin_ns, limit_ns):
            return Unknown(f"{why}, but {spared.LACKED_CONSUMERS}", spared.ONE_CONSUMER)
        if limit_ns - self._idle_ns(window, served_ns, limit_ns) < back_ns:
            return Unknown(f"{why}, but no consumer could receive it", steady_state.ATTEND)
        return False

    def _unconfirmed(self, window: int) -> LateConfirm | None:
        """Return the first confirm of what was sent into the fault, if nothing was confirmed in
        time to be consumed under it."""
        nothing = not any(row.due for row in self._consumption(window))
        return self._late_confirm(window) if nothing else None

    def _idle_ns(self, window: int, from_ns: int, until_ns: int) -> int:
        """Return how much of that time no consumer could receive anything, by its own doing, of
        the queue that got nothing and was read best."""
        silent = [row for row in self._consumption(window) if not row.resumed]
        return min(
            self.attendance.idle_ns(row.name, from_ns, until_ns) if row.scope == words.QUEUE else 0
            for row in silent
        )

    def resumed_detail(self, window: int) -> str:
        limit_ns = self._consumed_until_ns(window)
        queue = "group queue" if self.facts.consumer_groups else "queue"
        return served.consumed(self._consumption(window), limit_ns, queue)[1]

    def longest_steady_outage(self) -> Value:
        returned = sum(
            row.count
            for row in self.findings.counts
            if (row.measure, row.detail) == ("state", "returned")
        )
        return steady_state.longest_outage(
            self.findings,
            self.facts,
            self.doubts.availability(0),
            returned,
            self.doubts.lengthened_s(0),
            self.attendance,
        )

    def starved(self, window: int) -> Value:
        """Return the starvation in steady state (window 0), or after recovery from a window's
        fault."""
        if not self.facts.confirms:
            return NotApplicable("publishers ask for no confirms")
        none, without_levels = self.state.lacks("consumers"), self.state.lacks("priorities")
        if none is True:
            return NotApplicable("the run has no consumer")
        if not without_levels:
            return NotApplicable("a message may wait while others of a higher priority come")
        if unknown := next((o for o in (none, without_levels) if isinstance(o, Unknown)), None):
            return unknown
        return self._at_their_pace(
            off_the_record(self._starved(window), self.findings.counts, self.doubts)
        )

    def _at_their_pace(self, waited: Value) -> Value:
        """Return a wait of messages. Slow consumers only lengthen it, so a short one is proved."""
        slow = self.state.slow_consumers
        if not slow or not isinstance(waited, Interval | Unknown):
            return waited
        longer = steady_state.WITHOUT_MORE.get(waited.advice, "")
        if isinstance(waited, Unknown):
            return replace(waited, advice=longer or waited.advice)
        advice = f"{longer}, and {_NOT_SLOW}" if longer else waited.advice or _NOT_SLOW
        return replace(waited, low=0, doubt=waited.doubt or slow, advice=advice)

    def _starved(self, window: int) -> Value:
        records = self.doubts.loss("consumer_log") or (None if self.attended else _NOT_ATTENDED)
        rows = [row for row in self.findings.starvation if row.window == window]
        caveat, stalled_s = self._doubt_within(window, rows, own=False, received=True)
        doubt, stalled_s = caveat or records, None if records else stalled_s
        kept_by = self.state.value("progress_kept_by", 0)
        if window and isinstance(kept_by, Unknown):
            return kept_by
        if window:
            starved = steady_state.starved_once_healed(
                self.findings,
                self.facts,
                window,
                doubt,
                stalled_s,
                self.attendance,
                reassigned=kept_by == BROKERS,
            )
            short = isinstance(starved, Unknown) and self._cut_short(window, words.HEALED)
            return NotApplicable(_CUT_SHORT) if short else starved
        return steady_state.starved_in_steady_state(
            self.findings, self.facts, doubt, stalled_s, self.attendance
        )

    def too_little(self, window: int) -> Unknown | None:
        """Return why too little was due in a window for the absence of failures to prove
        anything."""
        rows = [one for one in self.findings.exposure if one.window == window]
        paced = self.facts.paced and self.facts.confirms
        seen = next((one.due if paced else one.sent for one in rows), 0)
        if seen >= words.ENOUGH[words.RUN]:
            return None
        noun = "publishes were due" if paced else "messages were sent"
        more = "" if self.state.slow_consumers else "send more, or "
        return Unknown(
            Why(f" {noun} while the fault was in force", seen, "only "),
            f"{more}let the fault last longer",
        )

    def _doubt_within(
        self,
        window: int,
        rows: Sequence[words.Service | words.Starvation],
        *,
        own: bool,
        received: bool = False,
    ) -> tuple[Caveat | None, float | None]:
        """Return the first doubt about availability in the time of these rows, and by how much
        stalls can have lengthened what was measured then; None where something else than stalls
        makes it unknown. `own`: the window's doubts count though that time lies in other
        windows. `received`: consumers measured it, and not publishers."""
        if not window or not rows:
            return self.doubts.measured(window, received)
        from_ns, until_ns = min(row.from_ns for row in rows), max(row.until_ns for row in rows)
        numbers = set(windows_of(self.facts, from_ns, until_ns)) | ({window} if own else set())
        doubts = self.doubts
        if not (own or received):
            doubts = without_earlier_stalls(self.findings.doubts, self.facts, from_ns)
        if not all_away(self.facts, words.PUBLISHER, from_ns, until_ns):
            doubts = doubts.without(PUBLISHERS_ABSENT, numbers - {window})
        found = [doubts.measured(number, received) for number in sorted(numbers or {window})]
        stalls_s = [lengthened_s for _, lengthened_s in found]
        stalled_s = None if None in stalls_s else sum(one or 0 for one in stalls_s)
        return next((caveat for caveat, _ in found if caveat), None), stalled_s

    def _consumed_until_ns(self, window: int) -> int:
        """Return when consumption had to have resumed: under the fault, before the next one."""
        ends = [row.until_ns for row in self.findings.exposure if row.window == window]
        later = [each.origin_ns for each in self.facts.windows if each.number > window]
        return min([*ends, *later[:1], self.facts.load_ended_ns])

    def _consumption(self, window: int) -> tuple[words.Consumption, ...]:
        """Return the rows of a window. Of a consumer that was not there nothing is expected."""
        of, until_ns = self.facts.window(window), self._consumed_until_ns(window)
        return tuple(
            row
            for row in self.findings.consumption
            if row.window == window
            and not (
                row.scope == words.CONSUMER
                and self.attendance.was_away(int(row.name), of.origin_ns, until_ns)
            )
        )

    def _cut_short(self, window: int, promise: str) -> bool:
        """Return whether another fault ended the recovery time of that window."""
        rows = served.rows_of(self.findings, window, promise) if promise == words.HEALED else ()
        return any(row.until_ns < self.facts.load_ended_ns for row in rows)

    def _only_late(self, rows: Sequence[words.Service], promise: str, window: int) -> bool | None:
        """Return whether all was served, but only by messages that were confirmed once the undo
        had begun; None: the publishers' clocks leave that open."""
        if promise == words.HEALED or self._served(rows, window) is not True:
            return False
        bound_ns = self.facts.clock_bound_ns(words.PUBLISHER)
        if self._late_confirm(window, -bound_ns) is not None:
            return True
        return None if self._late_confirm(window, bound_ns) is not None else False

    def _served(self, rows: Sequence[words.Service], window: int) -> bool | Unknown:
        late = self._late_confirm(window)

        def why_unknown(row: words.Service) -> Unknown:
            if row.verdict == words.SICK:
                return degraded(row, self.facts, self.findings.outages)
            if open_service.gone_unknown(row, self.findings.outages, self.facts):
                return open_service.UNKNOWN_GONE
            return open_service.reason(row, self.findings.outages, late, self.facts.deadline_ns)

        found = served.served(rows, why_unknown)
        alone = rows[0].scope == words.PUBLISHER
        if alone and found is True and spared.overloaded(rows, self.findings.outages, self.facts):
            return spared.OVERLOADED
        if found is True and (lacking := spared.unsent(rows, self.findings, self.facts)):
            return lacking
        return found

    def _late_confirm(self, window: int, by_ns: int = 0) -> LateConfirm | None:
        """Return the first confirm of what was sent into the fault, if its undo had begun by then;
        None: it had not. `by_ns`: so much the confirm may have come later than recorded."""
        first, of = self.recovery.stage("first_success", window), self.facts.window(window)
        if first is None or of.ended_ns is None:
            return None
        in_force = (one.until_ns for one in self.findings.exposure if one.window == window)
        undone_ns = next((at for at in in_force if at < self.facts.load_ended_ns), of.ended_ns)
        late = LateConfirm(first.after_ns, undone_ns - of.origin_ns, first.reached)
        moved_ns = by_ns if first.reached else 0
        return late if late.after_ns + moved_ns >= late.undone_ns else None

    def _late_text(self, window: int) -> str:
        first = self.recovery.stage("first_success", window)
        length_s = fault_length_s(self.facts.window(window))
        assert first is not None, "what is late was confirmed at some time, or never"
        return f"first confirmed {stage_text(first)}, of a fault of {length_s:.1f} s"
