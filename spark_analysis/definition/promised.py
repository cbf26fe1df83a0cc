"""Who was served from the promised time on: one answer a window, scope and promise.

1. `fault`: of sources that name no time, from when service began under the fault, until its undo.
   A promise of the facts: from its own time on. `healed`: from when it was gone, and all
   that was in force with it, clients had time to be back, and a deadline was over, until the next
   fault.
2. An outage matters where it has more bad publishes in that time than a stretch may have. One
   that the undo ended breaks a promise; one that the system ended breaks those that name a time.
3. An outage that began within the last deadline of that time leaves it open: its publishes were
   not decided. So does one of which nobody knows what ended it; but when all is healed it matters
   no more what ended one, if most of it was missed.
4. Where the load was sick before the fault nothing is said of the fault, nor where too little was
   due.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spark_analysis.definition.forces import Force
from spark_analysis.definition.outages import History, Outage
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
    SERVED,
    SICK,
    SYSTEM,
    UNDO,
    UNKNOWN,
    Service,
    allowance,
)


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question: was this scope served in [from_ns, until_ns)?"""

    history: History
    force: Force
    promise: str
    from_ns: int
    until_ns: int

    @property
    def due(self) -> int:
        return self.history.scope.due(self.from_ns, self.until_ns)

    @property
    def origin_ns(self) -> int:
        """When what may have done harm began."""
        if self.promise == HEALED and self.force.storm is not None:
            return self.force.storm.begins_ns
        return self.force.origin_ns

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

    def _mostly_missed(self, outage: Outage) -> bool:
        """Then it was one, however it went on behind the end of load."""
        bad = self.history.scope.bad(outage.first, outage.end)
        return bad * 2 > outage.end - outage.first

    def length_ns(self, outage: Outage) -> int:
        """How much of the outage lies within the time that is asked for."""
        return min(outage.until_ns, self.until_ns) - max(outage.from_ns, self.from_ns)

    def breaks(self, outage: Outage) -> bool:
        """Whether an outage that began early enough to be decided breaks this promise."""
        if outage.ended == UNKNOWN:
            return outage.until_ns >= self.until_ns or (
                self.promise == HEALED and self._mostly_missed(outage)
            )
        if self.promise == HEALED or outage.ended in (UNDO, NEVER):
            return True
        return outage.ended == SYSTEM and self.promise != FAULT


def rows(
    facts: Facts, histories: Sequence[History], forces: Sequence[Force]
) -> tuple[Service, ...]:
    return tuple(
        _row(facts, asked)
        for history in histories
        for force in forces
        for asked in _asked(facts, history, force)
    )


def _asked(facts: Facts, history: History, force: Force) -> Iterator[_Asked]:
    returned_ns = force.returned_ns
    yield _Asked(history, force, FAULT, _served_from(history, force), force.end_ns)
    for promise in facts.promises:
        from_ns = returned_ns + promise.after_ns
        yield _Asked(history, force, promise.name, from_ns, force.end_ns)
    if force.storm is not None:
        from_ns = force.storm.over_ns + facts.deadline_ns + facts.reconnect_ns
        yield _Asked(history, force, HEALED, from_ns, force.storm.next_ns)


def _served_from(history: History, force: Force) -> int:
    """When service began under the fault; when the fault was made where its end alone may have
    brought it."""
    begins = history.first_beginning(force.origin_ns, force.end_ns)
    if begins is None:
        return force.returned_ns
    since_ns = history.scope.intended_ns[begins]
    brought = any(
        outage.until_ns == since_ns and outage.ended in (UNDO, EITHER)
        for outage in history.outages
    )
    return force.returned_ns if brought else max(force.returned_ns, since_ns)


def _row(facts: Facts, asked: _Asked) -> Service:
    mattering = [outage for outage in asked.history.outages if asked.matters(outage)]
    worst_ns = max((asked.length_ns(outage) for outage in mattering), default=0)
    scope = asked.history.scope
    return Service(
        facts.run,
        asked.force.number,
        scope.kind,
        scope.name,
        asked.promise,
        asked.from_ns,
        asked.until_ns,
        asked.in_force,
        asked.due,
        worst_ns,
        _verdict(facts, asked, mattering),
    )


def _verdict(facts: Facts, asked: _Asked, mattering: Sequence[Outage]) -> str:
    """`mattering`: the outages that matter here."""
    if asked.due < JUDGED_MIN:
        return FEW
    if any(_sick(facts, asked.origin_ns, outage) for outage in asked.history.outages):
        return SICK
    decided_ns = asked.until_ns - facts.deadline_ns
    if any(one.from_ns < decided_ns and asked.breaks(one) for one in mattering):
        return OUT
    mended = [one for one in mattering if asked.promise == FAULT and one.ended == SYSTEM]
    if len(mended) < len(mattering):
        return OPEN
    scope = asked.history.scope
    if mended and scope.due(mended[-1].until_ns, decided_ns) < scope.enough:
        return OPEN
    return FEW if asked.in_force < scope.enough else SERVED


def _sick(facts: Facts, origin_ns: int, outage: Outage) -> bool:
    """Whether the load was out before the fault, and still when it came."""
    long_before = outage.from_ns < origin_ns - facts.deadline_ns
    return long_before and (outage.until_ns > origin_ns or outage.ended == NEVER)
