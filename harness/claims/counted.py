"""Counts of one run as facts: the number, the total, and how much higher the number may be.

1. Counts that incomplete records can only raise are lower bounds: a proved violation stays one.
2. A loss count depends on the messages that were really left open (loss_unknown, unreachable), not
   on a doubt alone. If every confirmed message was delivered, nothing can be lost.
3. For fault windows only cases that they can have caused count (mart attributions): certainly
   those that no other window can have caused, and perhaps those that others can have caused, too.
4. An ambiguous duplicate delivery may have any source that the analysis could not exclude; so may
   the cases that a register entry calls `doubtful`.
5. A message that the audit found in a queue that was not drained may wait there for consumers: it
   is not certainly stranded.
6. Little evidence proves no claim. For a claim no count is certainly 0 if fewer than ENOUGH were
   judged, or fewer than all if the scenario sends fewer on purpose. The number itself stays as it
   is. Of several consumer groups each needs that much: what one got proves nothing for another.
7. A case that no broker could show is not applicable: with one queue nothing can be misrouted,
   logs give out by the progress of groups, and some measures need an opportunity, a message sent
   again or held. What the records show all the same counts.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from harness.claims.doubts import BY_CLOCKS, LATER, NO_CONSUMERS, UNREAD, Caveat, to_faults
from harness.claims.hidden import beyond, certainly_lost
from harness.claims.ordered import DELIVERED, too_few
from harness.claims.terms import no_promise, without_such
from harness.claims.values import (
    CountText,
    Interval,
    NotApplicable,
    Unknown,
    Value,
    Why,
    at_least,
    exactly,
)
from spark_analysis.schema import measures
from spark_analysis.schema.measure import Whole
from spark_analysis.schema.messages import NO_FAULT, Attribution, Count
from spark_analysis.schema.words import Strength, window_numbers

ENOUGH = 100
LOSS_DOUBTS = measures.BY_NAME["lost"].reasons
_LATE = "acknowledged_late"
_UNROUTED = Strength.UNROUTED_POSSIBLE.name.lower()
_WHOLE = {  # the count that says of how many a measure is a part, and its detail
    Whole.MESSAGES: ("state", ""),
    Whole.CONFIRMED: ("state", "acknowledged"),
    Whole.UNDECIDED: ("state", "indeterminate"),
}
# What says how many of a whole the scenario sends, where these are few on purpose.
PLANNED = {
    Whole.MESSAGES: "messages",
    Whole.DELAYED: "delayed_messages",
    Whole.IN_TRANSACTIONS: "messages_in_transactions",
    Whole.COMMITTED: "messages_to_commit",
    Whole.TO_BE_COMMITTED: "messages_to_check",
}
PLANNED_OF = {  # a whole that the scenario plans as what others leave of a first one
    Whole.ROLLED_BACK: (Whole.IN_TRANSACTIONS, Whole.COMMITTED, Whole.TO_BE_COMMITTED),
}

_ONE_QUEUE = "with one queue nothing could be misrouted"
_ONE_DESTINATION = "publishers send to one destination, so no message can go to a wrong one"
_OF_LOGS = "a log delivers by the progress of groups, so no connection holds a message"

# Deliveries that are violations even where nothing was sent.
_BY_NO_FAULT = frozenset((NO_FAULT,))
_INCOMPLETE = Caveat("", 0, "", Why("the records are not complete"), "")
_NEED_NO_MESSAGE = ("unexpected", "corrupt")

Among = frozenset[int] | None  # fault windows; None: the run, whatever happened in it


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The counts of one run. `doubt`: the first loss doubt with one of these reasons. `planned`:
    the numbers that the scenario sends on purpose; a whole without an entry is as large as all
    messages are."""

    counts: tuple[Count, ...]
    attributions: tuple[Attribution, ...]
    doubt: Callable[..., Caveat | None]
    planned: Mapping[Whole, float]
    has_consumers: bool = True  # before the drain
    undrained: frozenset[str] = frozenset()  # queues whose drain is not complete
    unclosed: frozenset[str] = frozenset()  # queues of which a consumer's log is not closed
    queues: frozenset[str] = frozenset()  # those that messages are sent to; none: not recorded
    hides: int | None = None  # messages at most that consumers hold off the record; None: any
    of_logs: bool = False  # what was delivered has a place in a log
    uncounted: frozenset[str] = frozenset()  # measures whose opportunities are unknown
    # Why no fault may be the cause instead of some windows, and what to do; the first that holds.
    without_fault: tuple[tuple[frozenset[int], tuple[str, str]], ...] = ()
    groups: int = 0  # consumer groups that each get every message; 0: no such groups
    queues_of_groups: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by their names

    def total(self, measure: str, detail: str = "") -> int:
        """Return the count of a measure (of one detail), over all queues."""
        return sum(_matching(self.counts, measure, detail))

    def details(self, measure: str) -> Counter[str]:
        """Return the counts of a measure by detail, over all queues; rows without a detail are
        left out."""
        sums: Counter[str] = Counter()
        for row in self.counts:
            if row.measure == measure and row.detail:
                sums[row.detail] += row.count
        return sums

    def value(self, measure: str, detail: str, among: Among = None) -> Value:
        if not self.total("state"):
            if measure in _NEED_NO_MESSAGE and (found := self.total(measure, detail)):
                return at_least(found, CountText(f"{found:,}"), "no message was sent")
            return Unknown("no message was sent", "see how the workers ended (manifest, workers)")
        if measure == "acknowledged":
            return exactly(self.total("state", "acknowledged"))
        if measure in measures.GONE:
            return self._loss(measure, detail, among)
        log = self.doubt("publisher_log")
        none = without_such(measure, self.total, self.planned, log)
        if none := none or self._impossible(measure, detail, among):
            return none
        if measure == "reordered":
            return self._order(among)
        of_denied = measures.BY_NAME[measure].part_of is Whole.DENIED
        whole = f" of {self.total('denied'):,}" if of_denied else ""
        counted = self._count(measure, detail, among, whole)
        if measure == "attempt_lost":
            counted = self._perhaps_unrouted(measure, detail, among, counted)
        return counted if among is None else self._with_opportunity(measure, counted)

    def _with_opportunity(self, measure: str, counted: Value) -> Value:
        """Return a count of windows, and beside a 0 why no message of the run could show a
        case."""
        none = self._without_opportunity(measure)
        if not isinstance(none, NotApplicable) or not isinstance(counted, Interval):
            return counted
        return counted if counted.high else counted.remarked(none.reason)

    def _impossible(
        self, measure: str, detail: str, among: Among
    ) -> NotApplicable | Unknown | None:
        """Return why no broker could do that in this run, or that this is unknown; None: it could,
        or it did."""
        if self.total(measure, detail):
            return None
        if measure == "misrouted":
            # Consumers and the drain read the queues of the workload, and no other. Of several
            # groups each has queues of its own.
            counted = {row.queue for row in self.counts if not self.groups}
            named = (self.queues | counted) - {""}
            why = _ONE_DESTINATION if self.groups else _ONE_QUEUE
            return None if len(named) > 1 else NotApplicable(why)
        if (measure, detail) == ("duplicated", "redelivered_without_cause"):
            return NotApplicable(_OF_LOGS) if self.of_logs else None
        # Opportunities belong to no window: a claim about windows names evidence of its own.
        return self._without_opportunity(measure) if among is None else None

    def _without_opportunity(self, measure: str) -> NotApplicable | Unknown | None:
        """Return why no message of the run could show it, or what may hide one that could; None:
        one could, or the count is unknown."""
        opportunity = measures.BY_NAME[measure].opportunity
        if opportunity is None or measure in self.uncounted or self.total("could_show", measure):
            return None
        doubt = self.doubt(*opportunity.hidden_by)
        return NotApplicable(opportunity.missing) if doubt is None else doubt.unknown

    def undecided(self, among: Among = None) -> int:
        """Return the number of confirmed messages (or perhaps confirmed ones) whose loss is
        undecided."""
        open_ends = sum(self._most(name, "", among) for name in measures.OPEN)
        if self.doubt("publisher_log"):
            # A confirm may have come that the log does not hold.
            open_ends += self._most("lost_indeterminate", "", among)
        return open_ends

    def requeued(self, among: Among = None) -> tuple[int, int]:
        """Return how many deliveries, at least, the broker had to repeat: of messages that were
        not acknowledged, and of messages whose acknowledgement perhaps came too late."""
        late = self._attributed(_LATE, "", among)[0]
        return self._attributed("duplicated", "redelivery", among)[0], late

    def perhaps_requeued(self, among: Among) -> bool:
        """Return whether these windows may have made the broker requeue a delivery."""
        return bool(self._most("duplicated", "redelivery", among))

    def not_by(self, windows: Collection[int], measure: str, detail: str, among: Among) -> int:
        """Return how many cases are certain that none of these windows can have caused."""
        return sum(
            row.count
            for row, causes in self._charged(measure, detail)
            if causes.isdisjoint(windows) and (among is None or causes <= among)
        )

    def _attributed(self, measure: str, detail: str, among: Among) -> tuple[int, int]:
        """At least so many, and at most."""
        number, charged = self.total(measure, detail), [*self._charged(measure, detail)]
        # Each case of such a measure is attributed, if only to no fault. Older marts attribute
        # fewer measures: there every case of the run counts.
        if among is None or not measures.BY_NAME[measure].attributed or not charged:
            return number, number
        low = high = 0
        for row, windows in charged:
            low += row.count if windows and windows <= among else 0
            high += row.count if windows & among else 0
        return low, high

    def _charged(self, measure: str, detail: str) -> Iterator[tuple[Attribution, frozenset[int]]]:
        """Yield the rows of a measure (of one detail), each with the windows that may have caused
        its cases; `NO_FAULT` if none can."""
        for row in self.attributions:
            if row.measure == measure and detail in ("", row.detail):
                yield row, frozenset(window_numbers(row.windows)) or _BY_NO_FAULT

    def _ambiguous(
        self, measure: str, detail: str, among: Among, whole: str, groups: str = ""
    ) -> Interval:
        """Return a count whose cases other faults, or none, may have caused. `whole`: ` of 2,315`,
        or "" if the count is part of nothing."""
        own = among or frozenset()
        low, high = self._attributed(measure, detail, among)
        charged = (windows for _, windows in self._charged(measure, detail))
        shared = (windows for windows in charged if windows & own and not windows <= own)
        causes = frozenset[int]().union(*shared)
        beside = f"certainly due {to_faults(own)}" if low else ""
        text = CountText(f"{low or high:,}{whole}", groups, beside)
        due = f" may be due {to_faults(causes)}"
        if not self.has_consumers and measure in measures.GONE and NO_FAULT not in causes:
            due += UNREAD
        advice = LATER if self.has_consumers else NO_CONSUMERS
        if NO_FAULT in causes:
            reasons = (it for windows, it in self.without_fault if causes & windows)
            also, advice = next(reasons, BY_CLOCKS)
            due = f"{due}: {also}"
        some, every = Why(f" more{due}", high - low), Why(due, high, "all " if high > 1 else "")
        return Interval(low, high, text, some if low else every, advice)

    def _most(self, measure: str, detail: str, among: Among) -> int:
        return self._attributed(measure, detail, among)[1]

    def _count(self, measure: str, detail: str, among: Among, whole: str = "") -> Value:
        low, high = self._attributed(measure, detail, among)
        text, entry = CountText(f"{low:,}{whole}"), measures.BY_NAME[measure]
        raised = entry.raised_by_publishers or any(map(self.total, entry.raised_by))
        logs = ("publisher_log",) if raised else ()
        if doubt := self.doubt("consumer_log", "drain", *logs):
            return at_least(low, text, doubt.why, doubt.advice)
        if high > low:
            return self._ambiguous(measure, detail, among, whole)
        return self._with_doubtful(measure, detail, among, exactly(low, text))

    def _with_doubtful(
        self, measure: str, detail: str, among: Among, counted: Interval
    ) -> Interval:
        """The count, and those that the analysis could not tell from it."""
        doubtful = measures.BY_NAME[measure].doubtful
        if doubtful is not None:
            more = self._most(doubtful.measure, detail, among)
            what, advice = f" more {doubtful.why}", doubtful.advice
        else:
            registered = measures.detail(measure, detail)
            open_ended = registered is not None and registered.may_be_ambiguous
            more = self._most(measure, "ambiguous", among) if open_ended else 0
            # What we acknowledged too late to be heard came again by right: that hides nothing.
            more -= min(more, self._attributed(_LATE, "", among)[0])
            what = " more are possible: events overlap, so the cause is not decided"
            advice = "look at the histories of these duplicate deliveries"
        if not more:
            return counted
        return replace(counted, high=counted.high + more, doubt=Why(what, more), advice=advice)

    def _loss(self, measure: str, detail: str, among: Among) -> Value:
        confirmed = self.total("state", "acknowledged")
        if not confirmed:
            return Unknown("no message was confirmed", "see why publishing failed (settlements)")
        low, high = self._attributed(measure, detail, among)
        of = f" of {self.total('confirmed', detail) if detail else confirmed:,}"
        groups = f" × {self.groups} groups" if self.groups > 1 else ""  # each gets every message
        text = CountText(f"{low:,}{of}", groups)
        # A consumer that died may have got what the audit found, and any client may look where it
        # finds what was not drained.
        open_ended = self.unclosed | self.undrained
        if measure == "stranded" and (perhaps := self._stranded_in(open_ended, detail)):
            doubt = self.doubt("consumer_log", "drain") or _INCOMPLETE
            return Interval(max(0, low - perhaps), high, text, doubt.why, doubt.advice)
        if undecided := self.undecided(among):
            doubt = self.doubt(*LOSS_DOUBTS) or _INCOMPLETE
            are = "message is" if undecided == 1 else "messages are"
            why = Why(f" {are} undecided, because {doubt.why}", undecided)
            certain = certainly_lost(self.total, self.hides, bool(self.undrained))
            if measure == "lost" and not detail and certain > low:
                low = certain
                text = CountText(f"at least {low:,}{of}", groups, beyond(self.hides))
            counted = at_least(low, text, why, doubt.advice)
            return self._perhaps_unrouted(measure, detail, among, counted)
        counted = exactly(low, text)
        if high > low:
            counted = self._ambiguous(measure, detail, among, of, groups)
        return self._perhaps_unrouted(measure, detail, among, counted)

    def _perhaps_unrouted(self, measure: str, detail: str, among: Among, counted: Value) -> Value:
        """Return a count of what is gone. A confirm of the level `unrouted_possible` may mean that
        no queue received it; what the audit found a queue had received."""
        known = detail or measure == "stranded"
        unrouted = 0 if known else self._attributed(measure, _UNROUTED, among)[0]
        if not unrouted or not isinstance(counted, Interval):
            return counted
        why = Why(" were confirmed though perhaps no queue received them", unrouted)
        advice = "publish with mandatory = true"
        return replace(counted, low=max(0, counted.low - unrouted), doubt=why, advice=advice)

    def _stranded_in(self, queues: frozenset[str], detail: str) -> int:
        """Return how many are stranded in these queues."""
        rows = (row for row in self.counts if row.queue in queues)
        return sum(_matching(rows, "stranded", detail))

    def _order(self, among: Among) -> Value:
        """Order holds where at least half of what each queue gave out could be judged for it."""
        judged = sum(self.total(name) for name in ("in_order", "reordered"))
        perhaps = self.total("reorder_unknown")
        if not judged + perhaps:
            return self._no_order()
        counted = self._count("reordered", "", among, f" of {judged + perhaps:,}")
        assert isinstance(counted, Interval), counted
        counted = self._beside_all("reordered", among, counted)
        reasons = (too_few(one.counts, name) for name, one in self._each())
        if few := next(filter(None, reasons), None):
            advice = (
                counted.advice or "extend `deadline`, so that publishers send fewer messages again"
            )
            return replace(counted, high=math.inf, doubt=counted.doubt or few, advice=advice)
        return counted

    def _beside_all(self, measure: str, among: Among, counted: Interval) -> Interval:
        """Return a count of windows, beside that of the run if others caused more of it."""
        every, (low, high) = self.total(measure), self._attributed(measure, "", among)
        if among is None or low < high or high >= every:
            return counted
        own = f"attributed {to_faults(among)}; {every:,} in the run"
        return counted.remarked(own)

    def _each(self) -> Iterator[tuple[str, "Counted"]]:
        """Yield ` in group NAME` and what its queues counted, for each consumer group; "" and all
        counts if there are none."""
        if not self.queues_of_groups:
            yield "", self
        for name, queues in self.queues_of_groups.items():
            own = tuple(row for row in self.counts if row.queue in queues)
            yield f" in group {name}", replace(self, counts=own, queues_of_groups={})

    def _no_order(self) -> Value:
        if not self._delivered:
            return Unknown("nothing was delivered", "see why the queues could not be read")
        if none := no_promise(self.queues, self.total):
            return none
        return Unknown("no delivery could be judged for order", "let fewer messages be sent again")

    @property
    def _delivered(self) -> int:
        return sum(self.total(name) for name in DELIVERED)

    def enough(self, measure: str, detail: str, counted: Value) -> Value:
        """Return the count that a claim may use: without an upper end if too little was judged.
        Of a loss under one confirm level, only messages with that level were judged."""
        if (
            measure == "acknowledged"
            or not isinstance(counted, Interval)
            or math.isinf(counted.high)
        ):
            return counted
        seen, of = self._looked_at(measure, detail)
        whole = measures.BY_NAME[measure].part_of
        planned = whole if whole in PLANNED or whole in PLANNED_OF else Whole.MESSAGES
        needed = min(ENOUGH, self.planned.get(planned, ENOUGH))
        if seen >= needed:
            return counted
        why = Why(f" {of}, and {needed:.0f} are needed", seen, "there were only ")
        return replace(counted, high=math.inf, doubt=counted.doubt or why)

    def _looked_at(self, measure: str, detail: str) -> tuple[int, str]:
        """Return how many could have shown a case, and what they are; of consumer groups the
        fewest that one of them had."""
        entry = measures.BY_NAME[measure]
        if entry.shown_by:
            return self._fewest(lambda one: one.total("could_show", measure), entry.shown_by)
        if entry.part_of is Whole.CONFIRMED and detail:
            return self.total("confirmed", detail), entry.part_of.value
        if entry.part_of in _WHOLE:
            return self.total(*_WHOLE[entry.part_of]), entry.part_of.value
        return self._fewest(lambda one: one._delivered, Whole.DELIVERED.value)

    def _fewest(self, number: Callable[["Counted"], int], of: str) -> tuple[int, str]:
        least, group = min((number(one), name) for name, one in self._each())
        return least, f"{of}{group}"


def _matching(rows: Iterable[Count], measure: str, detail: str) -> Iterable[int]:
    return (r.count for r in rows if r.measure == measure and detail in ("", r.detail))
