"""Outages: the times in which a scope was not served, and the cause of their end.

1. An outage begins with a bad publish that lies in no good stretch, and ends where the next good
   stretch begins. If it has no more bad publishes than a stretch from there may have, it is no
   outage.
2. If no good stretch follows, it may have ended with the first good publish from which on few are
   bad: its end is unknown. Without such a publish it never ended.
3. Its end has the cause that the faults during it give: the undo of one, the system, or either.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from spark_analysis.schema import service
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import (
    EITHER,
    NEVER,
    PUBLISHER,
    SYSTEM,
    UNDO,
    UNKNOWN,
    allowance,
)
from tests.oracle.forces import Force
from tests.oracle.publishes import Publish
from tests.oracle.recovered_by import recovered_by
from tests.oracle.scopes import Scope, scopes
from tests.oracle.stretches import Served, few_bad, served


@dataclass(frozen=True, slots=True)
class Outage:
    """Its publishes are at the places [first, end) of its scope."""

    first: int
    end: int
    from_ns: int
    until_ns: int
    ended: str
    windows: tuple[int, ...]  # the numbers of those that it fell under
    undone: tuple[int, ...]  # of these: those whose undo ended it


@dataclass(frozen=True, slots=True)
class History:
    """The history of one scope, from the start of load to its end."""

    scope: Scope
    beginnings: Sequence[int]  # the places where good stretches begin
    outages: tuple[Outage, ...]

    def first_beginning(self, from_ns: int, before_ns: int) -> int | None:
        """The first place within that time at which service begins."""
        at = bisect_right(self.beginnings, self.scope.before(from_ns) - 1)
        if at == len(self.beginnings):
            return None
        place = self.beginnings[at]
        return place if self.scope.intended_ns[place] < before_ns else None


def histories(
    facts: Facts, publishes: Sequence[Publish], forces: Sequence[Force]
) -> tuple[History, ...]:
    """The run's is the first; none where there is no history."""
    if not (facts.paced and facts.confirms):
        return ()
    return tuple(_history(facts, scope, forces) for scope in scopes(facts, publishes))


def rows(run: str, histories: Sequence[History]) -> tuple[service.Outage, ...]:
    return tuple(
        service.Outage(
            run,
            history.scope.kind,
            history.scope.name,
            outage.from_ns,
            outage.until_ns,
            outage.ended,
            outage.end - outage.first,
            history.scope.bad(outage.first, outage.end),
            ",".join(str(number) for number in outage.windows),
        )
        for history in histories
        for outage in history.outages
    )


def _history(facts: Facts, scope: Scope, forces: Sequence[Force]) -> History:
    of_scope = served(facts, scope)
    found = tuple(_outages(facts, scope, of_scope, forces))
    return History(scope, of_scope.beginnings, found)


def _outages(
    facts: Facts, scope: Scope, of_scope: Served, forces: Sequence[Force]
) -> Iterator[Outage]:
    out = [
        place
        for place, one in enumerate(scope.publishes)
        if one.missed and not of_scope.served[place]
    ]
    back = 0
    for first in out:
        if first < back:
            continue
        begins = bisect_right(of_scope.beginnings, first)
        none_follows = begins == len(of_scope.beginnings)
        back = scope.size if none_follows else of_scope.beginnings[begins]
        if scope.bad(first, back) <= allowance(scope.length(scope.intended_ns[first])):
            continue
        if none_follows:
            yield _without_end(facts, scope, first, forces)
        else:
            yield _ended(facts, scope, first, back, forces)


def _ended(facts: Facts, scope: Scope, first: int, back: int, forces: Sequence[Force]) -> Outage:
    from_ns, until_ns = scope.intended_ns[first], scope.intended_ns[back]
    over = _over(forces, from_ns, until_ns)
    # A client that stands still ends no outage of the cluster, and neither does its return.
    deciding = [force for force in over if not force.window.of_clients] or over
    said = {force.number: _ended_by(facts, scope, first, back, force) for force in deciding}
    ended = next((by for by in (UNDO, EITHER) if by in said.values()), SYSTEM)
    undone = tuple(number for number, by in said.items() if by == UNDO)
    return Outage(first, back, from_ns, until_ns, ended, _numbers(over), undone)


def _without_end(facts: Facts, scope: Scope, first: int, forces: Sequence[Force]) -> Outage:
    from_ns = scope.intended_ns[first]
    end, until_ns, ended = scope.size, facts.load_ended_ns, NEVER
    for place in range(first + 1, scope.size):
        if not scope.publishes[place].missed and few_bad(scope, place, scope.size):
            end, until_ns, ended = place, scope.intended_ns[place], UNKNOWN
            break
    numbers = _numbers(_over(forces, from_ns, until_ns))
    return Outage(first, end, from_ns, until_ns, ended, numbers, ())


def _over(forces: Sequence[Force], from_ns: int, until_ns: int) -> list[Force]:
    """The faults that an outage fell under."""
    return [
        force
        for force in forces
        if force.origin_ns < until_ns
        and (force.window.ended_ns is None or from_ns < force.window.ended_ns)
    ]


def _numbers(over: Sequence[Force]) -> tuple[int, ...]:
    return tuple(sorted(force.number for force in over))


def _ended_by(facts: Facts, scope: Scope, first: int, back: int, force: Force) -> str:
    """Return the cause of an outage's end by one of the faults during it."""
    if force.window.ended_ns is None or scope.intended_ns[first] >= force.end_ns:
        return SYSTEM
    back_ns, bound_ns = scope.intended_ns[back], facts.clock_bound_ns(PUBLISHER)
    if force.undone_by(back_ns - bound_ns):
        return UNDO
    if force.undo_ns is None or force.undone_by(back_ns + bound_ns):
        return EITHER
    return recovered_by(facts, scope, back, force, force.undo_ns)
