"""Service from the promised time on: one answer per window, scope and promise.

1. `fault`: for sources that name no time, from when service began under the fault, until its undo.
   A promise of the facts: from its own time on. `healed`: from when the fault and all overlapping
   ones were gone, clients had time to reconnect, and a deadline was over, until the next fault.
2. An outage matters if it has more bad publishes in that time than a stretch may have. One that
   the fault's own undo ended breaks a promise; one that another fault's undo, or the system, ended
   breaks those that name a time.
3. Publishes of the last deadline of that time were not decided. An outage with too few bad ones
   before leaves it open. So does one whose end has an unknown cause. But after recovery the cause
   of its end no longer matters if most of it was missed. Under the fault, its own undo ended no
   outage for certain if all was well for a stretch before: too few publishes may have been due to
   make one.
4. Patient clients miss nothing if a fault holds their publishes back until its undo. It held them
   if most publishes that had waited for 5 s at the undo were confirmed only after it.
5. The fault gets no verdict if the load was sick before it, or too little was due. If most of that
   little was bad, or if nothing more was due after a last bad publish, it is open.
6. If the publishers' clocks are not the run's, the verdict has to be the same wherever the fault
   lies within their bound. If no record says when a fault was gone, it has to be the same for the
   earliest and for the latest time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import (
    EITHER,
    FAULT,
    FEW,
    HEALED,
    JUDGED_MIN,
    NEVER,
    OPEN,
    OUT,
    PUBLISHER,
    RELAPSES_MAX,
    SERVED,
    SICK,
    STRETCH_NS,
    SYSTEM,
    UNDO,
    UNKNOWN,
    Service,
    allowance,
)
from tests.oracle.forces import Force, OverlappingFaults
from tests.oracle.outages import History, Outage
from tests.oracle.stretches import few_bad


@dataclass(frozen=True, slots=True)
class _PromiseCheck:
    """One question: was this scope served in [from_ns, until_ns)?"""

    history: History
    force: Force
    promise: str
    from_ns: int
    until_ns: int
    overlap: OverlappingFaults | None = None  # of "healed"

    @property
    def due(self) -> int:
        return self.history.scope.due(self.from_ns, self.until_ns)

    @property
    def mostly_bad(self) -> bool:
        """Return whether most of the publishes that were due were bad."""
        scope = self.history.scope
        bad = scope.bad(scope.before(self.from_ns), scope.before(self.until_ns))
        return bad * 2 > self.due

    def was_left_waiting(self, deadline_ns: int) -> bool:
        """Return whether nothing was due for longer than a stretch after a last publish that was
        bad, and may have met the fault."""
        scope, end = self.history.scope, self.history.scope.before(self.from_ns)
        if self.due or self.until_ns - self.from_ns <= STRETCH_NS or not end:
            return False
        last = scope.publishes[end - 1]
        return last.missed and last.intended_ns >= self.origin_ns - deadline_ns

    @property
    def held(self) -> bool:
        """Return whether most publishes that had waited for a stretch at the undo were confirmed
        after it."""
        window, undo_ns = self.force.window, self.force.undo_ns
        undo_ns = window.ended_ns if undo_ns is None else undo_ns
        if self.promise == HEALED or undo_ns is None:
            return False
        scope, until_ns = self.history.scope, undo_ns - STRETCH_NS
        start = scope.before(max(self.from_ns, until_ns - STRETCH_NS))
        those = scope.publishes[start : scope.before(until_ns)]
        late = sum(not (one.missed or one.confirmed_before(undo_ns)) for one in those)
        return len(those) >= scope.enough and late * 2 > len(those)

    def was_well_at_last(self, decided_ns: int) -> bool:
        """Return whether few of the publishes due in the last 5 s before then were bad, or in as
        many more as make them enough."""
        scope, end = self.history.scope, self.history.scope.before(decided_ns)
        start = min(scope.before(decided_ns - STRETCH_NS), end - scope.enough)
        return start >= scope.before(self.from_ns) and few_bad(scope, start, end)

    @property
    def origin_ns(self) -> int:
        """Return when the first possible harm began."""
        return self.force.origin_ns if self.overlap is None else self.overlap.begins_ns

    @property
    def in_force(self) -> int:
        if self.promise == HEALED:
            return self.due
        return self.history.scope.due(self.force.returned_ns, self.force.end_ns)

    def matters(self, outage: Outage) -> bool:
        scope = self.history.scope
        start = max(outage.first, scope.before(self.from_ns))
        end = min(outage.end, scope.before(self.until_ns))
        length = scope.length(max(outage.from_ns, self.from_ns))
        return scope.bad(start, end) > allowance(length)

    def is_decided(self, outage: Outage, decided_ns: int) -> bool:
        """Return whether those of its publishes that were due before then make it an outage."""
        scope = self.history.scope
        end = min(outage.end, scope.before(decided_ns))
        length = scope.length(max(outage.from_ns, self.from_ns))
        return scope.bad(outage.first, end) > allowance(length)

    def _mostly_missed(self, outage: Outage) -> bool:
        """Then it was one, however it went on behind the end of load."""
        bad = self.history.scope.bad(outage.first, outage.end)
        return bad * 2 > outage.end - outage.first

    def length_ns(self, outage: Outage) -> int:
        """Return how much of the outage lies within the promised time."""
        return min(outage.until_ns, self.until_ns) - max(outage.from_ns, self.from_ns)

    def breaks(self, outage: Outage) -> bool:
        """Return whether an outage that is decided breaks this promise."""
        if outage.ended == UNKNOWN:
            return outage.until_ns >= self.until_ns or (
                self.promise == HEALED and self._mostly_missed(outage)
            )
        if self.promise == HEALED or outage.ended == NEVER:
            return True
        if self.promise == FAULT:
            return outage.ended == UNDO and self.force.number in outage.undone
        return outage.ended in (UNDO, SYSTEM)


def rows(
    facts: Facts, histories: Sequence[History], forces: Sequence[Force]
) -> tuple[Service, ...]:
    bound_ns = facts.clock_bound_ns(PUBLISHER)
    found = []
    for history in histories:
        for force in forces:
            moved = [force.moved(by_ns) for by_ns in {bound_ns, -bound_ns} - {0}]
            checks = [_checks(facts, history, each) for each in (force, *moved)]
            found += [_row(facts, *same) for same in zip(*checks, strict=True)]
    return tuple(found)


def _checks(facts: Facts, history: History, force: Force) -> Iterator[list[_PromiseCheck]]:
    """Yield each promise's checks: more than one if it is unknown when it begins."""
    returned_ns = force.returned_ns
    yield [_PromiseCheck(history, force, FAULT, _served_from(history, force), force.end_ns)]
    for promise in facts.promises:
        from_ns = returned_ns + promise.after_ns
        yield [_PromiseCheck(history, force, promise.name, from_ns, force.end_ns)]
    back_ns = facts.deadline_ns + facts.reconnect_ns
    if force.overlaps:
        yield [
            _PromiseCheck(history, force, HEALED, one.over_ns + back_ns, one.next_ns, one)
            for one in force.overlaps
        ]


def _served_from(history: History, force: Force) -> int:
    """Return when service began under the fault; when the fault was active if its end alone may
    have caused it."""
    begins = history.first_beginning(force.origin_ns, force.end_ns)
    if begins is None:
        return force.returned_ns
    since_ns = history.scope.intended_ns[begins]
    brought = any(
        outage.until_ns == since_ns and outage.ended in (UNDO, EITHER)
        for outage in history.outages
    )
    return force.returned_ns if brought else max(force.returned_ns, since_ns)


def _row(facts: Facts, own: list[_PromiseCheck], *moved: list[_PromiseCheck]) -> Service:
    """`moved`: the same checks, had the publishers' clocks been ahead or behind by their bound."""
    every = [each for checks in (own, *moved) for each in checks]
    verdicts = {_verdict(facts, each, _mattering(each)) for each in every}
    verdict = verdicts.pop() if len(verdicts) == 1 else FEW if verdicts == {FEW, SERVED} else OPEN
    check, scope = own[0], own[0].history.scope
    return Service(
        facts.run,
        check.force.number,
        scope.kind,
        scope.name,
        check.promise,
        min(each.from_ns for each in own),
        min(each.until_ns for each in own),
        min(each.in_force for each in own),
        min(each.due for each in own),
        min(_worst_ns(each) for each in own),
        verdict,
    )


def _worst_ns(check: _PromiseCheck) -> int:
    return max((check.length_ns(outage) for outage in _mattering(check)), default=0)


def _mattering(check: _PromiseCheck) -> list[Outage]:
    return [outage for outage in check.history.outages if check.matters(outage)]


def _verdict(facts: Facts, check: _PromiseCheck, mattering: Sequence[Outage]) -> str:
    """`mattering`: the outages that matter here."""
    if check.due < JUDGED_MIN:
        waiting = check.was_left_waiting(facts.deadline_ns)
        return OPEN if check.mostly_bad or waiting else FEW
    if any(_sick(facts, check.origin_ns, outage) for outage in check.history.outages):
        return SICK
    if check.held:
        return OUT
    decided_ns = check.until_ns - facts.deadline_ns
    well = check.promise == FAULT and check.was_well_at_last(decided_ns)
    if any(check.is_decided(one, decided_ns) and check.breaks(one) for one in mattering):
        return OPEN if well else OUT
    mended = [one for one in mattering if check.promise == FAULT and one.ended == SYSTEM]
    if len(mended) < len(mattering):
        return OPEN
    if len(mended) > 1:
        return OUT if len(mended) > RELAPSES_MAX else OPEN
    scope = check.history.scope
    if mended and scope.due(mended[-1].until_ns, decided_ns) < scope.enough:
        return OPEN
    return FEW if check.in_force < scope.enough else SERVED


def _sick(facts: Facts, origin_ns: int, outage: Outage) -> bool:
    """Return whether the load was out before the fault, and still when it came."""
    long_before = outage.from_ns < origin_ns - facts.deadline_ns
    return long_before and (outage.until_ns > origin_ns or outage.ended == NEVER)
