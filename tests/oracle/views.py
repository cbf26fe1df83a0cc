"""The views of name servers over time: changes, silences, and when a fault was visible.

1. A look bounds a change from one side each: it came after the last look that showed the old view
   began, and before the first that showed the new one ended.
2. An answer to a question that is older than another's answer is no news.
3. Silence is no view: what a name server would have shown meanwhile is unknown.
4. A name server that was silent from the fault on cannot show when it noticed the fault.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.views import (
    KINDS,
    NOTHING_BEFORE,
    ROUTE,
    STOOD_STILL,
    Change,
    QueryTotals,
    Silence,
    Views,
    sentences,
)
from tests.oracle.events import Row
from tests.oracle.windows import Faulted, faulted


@dataclass(frozen=True, slots=True)
class _Look:
    started_ns: int
    ended_ns: int
    answered: bool
    detail: str

    @property
    def view(self) -> frozenset[str]:
        return sentences(self.detail)

    @property
    def stalled(self) -> bool:
        return not self.answered and self.detail.endswith(STOOD_STILL)


@dataclass(frozen=True, slots=True)
class _Way:
    """One kind of question of one prober to one name server, repeated all the time."""

    prober: int
    kind: str
    name_server: str
    looks: tuple[_Look, ...]  # in the order in which they ended

    @property
    def who(self) -> tuple[int, str, str]:
        return self.prober, self.kind, self.name_server

    @property
    def news(self) -> tuple[_Look, ...]:
        """The looks that count."""
        found, newest_ns = [], NOTHING_BEFORE
        for look in self.looks:
            if look.started_ns < newest_ns:
                continue
            if look.answered:
                newest_ns = look.started_ns
            if not look.stalled:
                found.append(look)
        return tuple(found)

    @property
    def answers(self) -> tuple[_Look, ...]:
        return tuple(look for look in self.news if look.answered)


@dataclass(frozen=True, slots=True)
class _Between:
    """Something happened after the one and by the other."""

    least_ns: int
    most_ns: int


def views(facts: Facts, rows: Mapping[str, Iterable[Row]]) -> Views:
    """The three marts of one run; `rows` maps raw tables to rows by column."""
    ways = _ways(rows)
    return Views(
        queries=tuple(_query_totals(facts.run, way) for way in ways),
        changes=tuple(change for way in ways for change in _changes(facts.run, way)),
        silences=tuple(silence for way in ways for silence in _silences(facts.run, way)),
    )


def stages(facts: Facts, rows: Mapping[str, Iterable[Row]]) -> tuple[Stage, ...]:
    """The stages of each window, where name servers were asked for the route."""
    ways = [way for way in _ways(rows) if way.kind == ROUTE]
    return tuple(stage for fault in faulted(facts) for stage in _stages(facts.run, fault, ways))


def _ways(rows: Mapping[str, Iterable[Row]]) -> tuple[_Way, ...]:
    found: dict[tuple[int, str, str], list[_Look]] = {}
    for row in rows.get("probes", ()):
        prober, kind, target, detail = row["prober"], row["kind"], row["target"], row["detail"]
        started_ns, ended_ns = row["started_ns"], row["ended_ns"]
        if kind not in KINDS:
            continue
        assert isinstance(prober, int)
        assert isinstance(kind, str)
        assert isinstance(started_ns, int)
        assert isinstance(ended_ns, int)
        look = _Look(started_ns, ended_ns, bool(row["ok"]), str(detail or ""))
        found.setdefault((prober, kind, str(target or "")), []).append(look)
    return tuple(
        _Way(*who, tuple(sorted(looks, key=lambda look: (look.ended_ns, look.started_ns))))
        for who, looks in found.items()
    )


def _query_totals(run: str, way: _Way) -> QueryTotals:
    starts = sorted(look.started_ns for look in way.looks)
    return QueryTotals(
        run,
        *way.who,
        looks=len(way.looks),
        answered=sum(look.answered for look in way.looks),
        first_ns=starts[0],
        last_ns=starts[-1],
        gap_ns=max((after - before for before, after in pairwise(starts)), default=0),
    )


def _changes(run: str, way: _Way) -> Iterator[Change]:
    before: frozenset[str] = frozenset()
    after_ns = NOTHING_BEFORE
    for look in way.answers:
        for what in before ^ look.view:
            yield Change(run, *way.who, what, what in look.view, after_ns, look.ended_ns)
        before, after_ns = look.view, look.started_ns


def _silences(run: str, way: _Way) -> Iterator[Silence]:
    silent: tuple[_Look, ...] = ()
    for answered, looks in groupby(way.news, key=lambda look: look.answered):
        if not answered:
            silent = tuple(looks)
        elif silent:
            yield _silence(run, way, silent, next(iter(looks)))
            silent = ()
    if silent:
        yield _silence(run, way, silent, None)


def _silence(run: str, way: _Way, silent: tuple[_Look, ...], end: _Look | None) -> Silence:
    until_ns = silent[-1].ended_ns if end is None else end.ended_ns
    first = silent[0]
    return Silence(
        run, *way.who, first.started_ns, until_ns, end is not None, len(silent), first.detail
    )


def _stages(run: str, fault: Faulted, ways: Iterable[_Way]) -> Iterator[Stage]:
    heard = [
        way for way in ways if _known_before(way, fault) and not _silent_from_the_start(way, fault)
    ]
    if not heard:
        return
    found = [_changed(way, fault) for way in heard]
    changed = [each for each in found if each is not None]
    first, everywhere = None, None
    if changed:
        first = _Between(min(t.least_ns for t in changed), min(t.most_ns for t in changed))
    if len(changed) == len(found):
        everywhere = _Between(max(t.least_ns for t in changed), max(t.most_ns for t in changed))
    yield _stage(run, fault, "route_changed", first)
    yield _stage(run, fault, "route_changed_everywhere", everywhere)


def _known_before(way: _Way, fault: Faulted) -> bool:
    return any(look.ended_ns <= fault.window.origin_ns for look in way.answers)


def _silent_from_the_start(way: _Way, fault: Faulted) -> bool:
    """Return whether it answered nothing in the fault before it showed another view."""
    looks = []
    shown = _shown_before(way, fault)
    for look in (look for look in way.news if look.ended_ns <= fault.until_ns):
        if look.ended_ns > fault.window.origin_ns and look.answered and look.view != shown:
            break
        if look.started_ns >= fault.window.returned_ns:
            looks.append(look)
    return bool(looks) and not any(look.answered for look in looks)


def _shown_before(way: _Way, fault: Faulted) -> frozenset[str]:
    return [look for look in way.answers if look.ended_ns <= fault.window.origin_ns][-1].view


def _changed(way: _Way, fault: Faulted) -> _Between | None:
    """Return when the way showed another view than before the fault."""
    shown = _shown_before(way, fault)
    for last, look in pairwise(way.news):
        later = fault.window.origin_ns < look.ended_ns <= fault.until_ns
        if later and look.answered and look.view != shown:
            return _Between(last.started_ns, look.ended_ns)
    return None


def _stage(run: str, fault: Faulted, name: str, at: _Between | None) -> Stage:
    window = fault.window
    if at is None:
        uncertainty_ns = window.returned_ns - window.origin_ns
        after_ns = fault.until_ns - window.origin_ns
        return Stage(run, window.number, name, False, after_ns, uncertainty_ns)
    after_ns = at.most_ns - window.origin_ns
    least_ns = max(0, at.least_ns - window.returned_ns)
    return Stage(run, window.number, name, True, after_ns, after_ns - least_ns)
