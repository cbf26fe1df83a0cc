"""Service of each scope by each promise, and the attempts while each fault was in force.

1. One search counts all rows of all scopes of one kind. Only scopes with an outage are examined
   one by one.
2. The rules are SERVICE and EXPOSURE of schema/service.py.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spark_analysis.engine.kernel.arrays import NEVER, Ints
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.windows import Force, Overlaps
from spark_analysis.engine.kernel.times.outages import Spell
from spark_analysis.engine.kernel.times.stretches import Course, few_bad
from spark_analysis.schema import service as words
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import Exposure, Service, allowance


@dataclass(frozen=True, slots=True)
class PromiseCheck:
    """One promise about one window. `from_ns`: None where it is each scope's own."""

    force: Force
    promise: str
    from_ns: int | None
    until_ns: int
    origin_ns: int  # before that the load was sick already


@dataclass(frozen=True, slots=True)
class _Row:
    """One promise of one scope: its interval, and its publishes' places [first, end)."""

    check: PromiseCheck
    scope: int
    from_ns: int
    first: int
    end: int
    in_force: int


def service(
    course: Course,
    found: Sequence[Spell],
    forces: Sequence[Force],
    overlaps: Sequence[Overlaps],
    facts: Facts,
) -> Iterator[Service]:
    """One row a window, scope and promise, of the scopes of one kind."""
    by_scope: dict[int, list[Spell]] = {}
    for spell in found:
        by_scope.setdefault(spell.scope, []).append(spell)
    bound_ns = facts.clock_bound_ns(words.PUBLISHER)
    bounds_ns = dict.fromkeys((0, bound_ns, -bound_ns))
    moved = [_moved(forces, each, by_ns) for by_ns in bounds_ns for each in overlaps]
    places = [_rows(course, _checks(*times, facts), by_scope) for times in moved]
    for rows in zip(*places, strict=True):
        own, spells = rows[: len(overlaps)], by_scope.get(rows[0].scope, [])
        verdicts = {
            _verdict(course, each, spells, _mattering(course, spells, each), facts.deadline_ns)
            for each in rows
        }
        yield Service(
            run=facts.run,
            window=own[0].check.force.window.number,
            scope=course.due.kind,
            name=course.due.names[own[0].scope],
            promise=own[0].check.promise,
            from_ns=min(row.from_ns for row in own),
            until_ns=min(row.check.until_ns for row in own),
            in_force=min(row.in_force for row in own),
            due=min(row.end - row.first for row in own),
            worst_ns=min(_worst_ns(course, spells, row) for row in own),
            verdict=_agreed(verdicts),
        )


def _moved(
    forces: Sequence[Force], overlaps: Overlaps, by_ns: int
) -> tuple[list[Force], Overlaps]:
    """Return the faults as publishers' clocks show them that are ahead by so much."""
    moved = {number: overlap.moved(by_ns) for number, overlap in overlaps.items()}
    return [force.moved(by_ns) for force in forces], moved


def _mattering(course: Course, spells: Sequence[Spell], row: _Row) -> list[Spell]:
    return [spell for spell in spells if _matters(course, spell, row)]


def _worst_ns(course: Course, spells: Sequence[Spell], row: _Row) -> int:
    return max((_cut_ns(spell, row) for spell in _mattering(course, spells, row)), default=0)


def _agreed(verdicts: set[str]) -> str:
    """Return the verdict that holds wherever the faults lie on the publishers' clocks, and
    whenever they were gone."""
    if len(verdicts) == 1:
        return next(iter(verdicts))
    return words.FEW if verdicts == {words.FEW, words.SERVED} else words.OPEN


def exposure(
    run_course: Course | None, messages: Messages, forces: Sequence[Force], facts: Facts
) -> list[Exposure]:
    """One row a window."""
    rows = []
    for force in forces:
        from_ns, until_ns = force.window.returned_ns, force.until_ns
        due = 0
        if run_course is not None:
            first, end = run_course.places(0, np.array([from_ns, until_ns])).tolist()
            due = max(0, end - first)
        sent_ns = messages.first_sent_ns
        sent = np.count_nonzero((sent_ns >= from_ns) & (sent_ns < until_ns))
        number = force.window.number
        rows.append(Exposure(facts.run, number, from_ns, until_ns, due, int(sent)))
    return rows


def _checks(forces: Sequence[Force], overlaps: Overlaps, facts: Facts) -> list[PromiseCheck]:
    checks = []
    for force in forces:
        window = force.window
        checks.append(PromiseCheck(force, words.FAULT, None, force.until_ns, window.origin_ns))
        for promise in facts.promises:
            from_ns = window.returned_ns + promise.after_ns
            checks.append(
                PromiseCheck(force, promise.name, from_ns, force.until_ns, window.origin_ns)
            )
        overlap = overlaps.get(window.number)
        if overlap is not None:
            from_ns = overlap.over_ns + facts.deadline_ns + facts.reconnect_ns
            checks.append(
                PromiseCheck(force, words.HEALED, from_ns, overlap.next_ns, overlap.from_ns)
            )
    return checks


def _rows(
    course: Course, checks: Sequence[PromiseCheck], spells: Mapping[int, Sequence[Spell]]
) -> Iterator[_Row]:
    scopes = np.arange(len(course.due.names))
    for each in checks:
        window, force = each.force.window, each.force
        from_ns = np.full(len(scopes), each.from_ns or 0, np.int64)
        if each.from_ns is None:
            good_ns = _own(_first_good_ns(course, scopes, force), spells)
            from_ns = np.maximum(good_ns, window.returned_ns)
        first = course.places(scopes, from_ns)
        end = np.maximum(first, course.places(scopes, each.until_ns))
        in_force = end - first
        if each.promise != words.HEALED:
            in_force = course.places(scopes, force.until_ns)
            in_force = np.maximum(in_force - course.places(scopes, window.returned_ns), 0)
        columns = (scopes, from_ns, first, end, in_force)
        for row in zip(*(column.tolist() for column in columns), strict=True):
            yield _Row(each, *row)


def _first_good_ns(course: Course, scopes: Ints, force: Force) -> Ints:
    """Return for each scope when its first good beginning in the fault's time was intended; or the
    smallest time of all."""
    starts = course.places(scopes, force.window.origin_ns)
    ends = course.places(scopes, force.until_ns)
    begin = course.begins.starting(starts)
    good_ns = np.full(len(scopes), -NEVER, np.int64)
    there = begin < ends
    good_ns[there] = course.due.intended_ns[begin[there]]
    return good_ns


def _own(good_ns: Ints, spells: Mapping[int, Sequence[Spell]]) -> Ints:
    """Return the same times without those that the fault's end alone may have caused."""
    own = good_ns.copy()
    for scope, of_scope in spells.items():
        for spell in of_scope:
            brought = spell.row.ended in (words.UNDO, words.EITHER)
            if brought and spell.row.until_ns == good_ns[scope]:
                own[scope] = -NEVER
    return own


def _matters(course: Course, spell: Spell, row: _Row) -> bool:
    first, end = max(spell.first, row.first), min(spell.end, row.end)
    if first >= end:
        return False
    from_ns = max(spell.row.from_ns, row.from_ns)
    borne = allowance(course.in_a_stretch(row.scope, from_ns))
    return course.bad_within(first, end) > borne


def _is_decided(course: Course, spell: Spell, row: _Row, last_ns: int) -> bool:
    """Return whether those of its publishes that were due before then make it an outage."""
    end = min(spell.end, course.place(row.scope, last_ns))
    from_ns = max(spell.row.from_ns, row.from_ns)
    return course.bad_within(spell.first, end) > allowance(course.in_a_stretch(row.scope, from_ns))


def _cut_ns(spell: Spell, row: _Row) -> int:
    until_ns = min(spell.row.until_ns, row.check.until_ns)
    return until_ns - max(spell.row.from_ns, row.from_ns)


def _verdict(
    course: Course,
    row: _Row,
    spells: Sequence[Spell],
    matter: Sequence[Spell],
    deadline_ns: int,
) -> str:
    due = row.end - row.first
    if due < words.JUDGED_MIN:
        mostly_bad = course.bad_within(row.first, row.end) * 2 > due
        waiting = mostly_bad or _was_left_waiting(course, row, deadline_ns)
        return words.OPEN if waiting else words.FEW
    if any(_reaches_over(spell, row.check.origin_ns, deadline_ns) for spell in spells):
        return words.SICK
    if _held(course, row):
        return words.OUT
    last_ns = row.check.until_ns - deadline_ns
    if any(_is_decided(course, each, row, last_ns) and _breaks(each, row) for each in matter):
        return words.OPEN if _was_well_at_last(course, row, last_ns) else words.OUT
    borne = row.check.promise == words.FAULT
    ended = [spell for spell in matter if borne and spell.row.ended == words.SYSTEM]
    if len(ended) < len(matter):
        return words.OPEN
    if len(ended) > 1:
        return words.OUT if len(ended) > words.RELAPSES_MAX else words.OPEN
    if ended:
        back_ns = max(spell.row.until_ns for spell in ended)
        first, end = course.places(row.scope, np.array([back_ns, last_ns])).tolist()
        if end - first < course.due.enough:
            return words.OPEN
    return words.FEW if row.in_force < course.due.enough else words.SERVED


def _was_well_at_last(course: Course, row: _Row, last_ns: int) -> bool:
    """Return whether, under the fault, few publishes of the last 5 s before then were bad, or of
    as many more as make them enough."""
    if row.check.promise != words.FAULT:
        return False
    times_ns = np.array([row.from_ns, last_ns - words.STRETCH_NS, last_ns])
    earliest, first, end = course.places(row.scope, times_ns).tolist()
    first = min(first, end - course.due.enough)
    return first >= earliest and few_bad(course, first, end)


def _was_left_waiting(course: Course, row: _Row, deadline_ns: int) -> bool:
    """Return whether nothing was due for more than 5 s after a last publish that was bad, and due
    a deadline before the fault at the earliest."""
    long = row.check.until_ns - row.from_ns > words.STRETCH_NS
    last = row.first - 1
    if row.end > row.first or not long or last < course.due.starts[row.scope]:
        return False
    since_ns = row.check.origin_ns - deadline_ns
    return bool(course.due.bad[last]) and int(course.due.intended_ns[last]) >= since_ns


def _held(course: Course, row: _Row) -> bool:
    """Return whether most of what had waited for 5 s at the undo was good, and confirmed after
    it."""
    undo_ns = row.check.force.surely_ns
    if row.check.promise == words.HEALED or undo_ns == NEVER:
        return False
    until_ns = undo_ns - words.STRETCH_NS
    from_ns = max(row.from_ns, until_ns - words.STRETCH_NS)
    first, end = course.places(row.scope, np.array([from_ns, until_ns])).tolist()
    if end - first < course.due.enough:
        return False
    late = ~course.due.bad[first:end] & (course.due.confirmed_ns[first:end] >= undo_ns)
    return bool(int(np.count_nonzero(late)) * 2 > end - first)


def _reaches_over(spell: Spell, origin_ns: int, deadline_ns: int) -> bool:
    """Return whether the load was sick before the fault."""
    outage = spell.row
    lasts = outage.ended == words.NEVER or outage.until_ns > origin_ns
    return outage.from_ns < origin_ns - deadline_ns and lasts


def _breaks(spell: Spell, row: _Row) -> bool:
    """Return whether an outage that matters breaks the promise, as far as its end shows."""
    healed = row.check.promise == words.HEALED
    if spell.row.ended == words.UNKNOWN:
        certain = healed and spell.row.bad * 2 > spell.row.due
        return certain or spell.row.until_ns >= row.check.until_ns
    if healed:
        return True
    if row.check.promise != words.FAULT:
        return spell.row.ended in {words.UNDO, words.NEVER, words.SYSTEM}
    undone = spell.row.ended == words.UNDO and row.check.force.window.number in spell.undone
    return undone or spell.row.ended == words.NEVER
