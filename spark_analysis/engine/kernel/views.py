"""The views of name servers over time: changes, silences, and the stages of the route.

1. There are a few ways (prober, kind, name server), each with many looks. The kernel takes ways
   one by one, and their looks as arrays.
2. It compares views by number, and their sentences only if two differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spark_analysis.engine.kernel.arrays import Bools, Ints
from spark_analysis.engine.kernel.events.windows import Judged, in_order, judged_times
from spark_analysis.engine.kernel.records import Probes
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.views import (
    KINDS,
    NOTHING_BEFORE,
    ROUTE,
    STAGES,
    STOOD_STILL,
    Change,
    QueryTotals,
    Silence,
    sentences,
)


@dataclass(frozen=True)
class Way:
    """The looks of one way, in order."""

    who: tuple[int, str, str]  # prober, kind, name server
    started_ns: Ints
    ended_ns: Ints
    answered: Bools
    details: tuple[str, ...]
    detail: Ints  # the number of each look's

    @cached_property
    def current(self) -> Ints:
        """The places of the looks that count."""
        newest_ns = np.maximum.accumulate(np.where(self.answered, self.started_ns, NOTHING_BEFORE))
        news = np.ones(len(newest_ns), np.bool_)
        news[1:] = self.started_ns[1:] >= newest_ns[:-1]
        still = np.array([text.endswith(STOOD_STILL) for text in self.details], np.bool_)
        return np.flatnonzero(news & (self.answered | ~still[self.detail]))

    @cached_property
    def answers(self) -> Ints:
        return self.current[self.answered[self.current]]

    @cached_property
    def views(self) -> tuple[frozenset[str], ...]:
        """Return the views by number, those of all details; only those of answers have a
        meaning."""
        return tuple(dict.fromkeys(map(sentences, self.details)))

    @cached_property
    def view(self) -> Ints:
        """The number of what each answer showed."""
        numbers = {view: number for number, view in enumerate(self.views)}
        of_detail = np.array([numbers[sentences(text)] for text in self.details], np.int64)
        return of_detail[self.detail[self.answers]]


def ways(probes: Probes) -> tuple[Way, ...]:
    """The ways of a run."""
    rows = np.flatnonzero(probes.kind.among(*KINDS))
    order = np.lexsort((probes.started_ns[rows], probes.ended_ns[rows]))
    looks = probes.pick(rows[order])
    who = np.stack([looks.prober, looks.kind.numbers, looks.target.numbers])
    distinct, member = np.unique(who, axis=1, return_inverse=True)
    return tuple(
        _way(looks.pick(np.flatnonzero(member.ravel() == number)))
        for number in range(distinct.shape[1])
    )


def _way(looks: Probes) -> Way:
    kind, target = looks.kind.words, looks.target.words
    used, detail = np.unique(looks.detail.numbers, return_inverse=True)
    return Way(
        (int(looks.prober[0]), kind[looks.kind.numbers[0]], target[looks.target.numbers[0]]),
        looks.started_ns,
        looks.ended_ns,
        looks.ok != 0,
        tuple(looks.detail.words[number] for number in used.tolist()),
        detail,
    )


def query_totals(known: Sequence[Way], run: str) -> list[QueryTotals]:
    """Return one row per way."""
    return [
        QueryTotals(
            run,
            *way.who,
            len(way.started_ns),
            int(np.count_nonzero(way.answered)),
            int(way.started_ns.min()),
            int(way.started_ns.max()),
            int(np.diff(np.sort(way.started_ns)).max(initial=0)),
        )
        for way in known
    ]


def changes(known: Sequence[Way], run: str) -> list[Change]:
    """One row a sentence that came or went."""
    return [
        Change(run, *way.who, what, shown, after_ns, by_ns)
        for way in known
        for before, now, after_ns, by_ns in _steps(way)
        for sentences_moved, shown in ((now - before, True), (before - now, False))
        for what in sentences_moved
    ]


def _steps(way: Way) -> Iterator[tuple[frozenset[str], frozenset[str], int, int]]:
    """Each change of view: what was shown before and after it, and its bounds."""
    if not len(way.answers):
        return
    first = way.answers[0]
    now = way.views[way.view[0]]
    yield frozenset(), now, NOTHING_BEFORE, int(way.ended_ns[first])
    for place in (np.flatnonzero(np.diff(way.view)) + 1).tolist():
        before, now = way.views[way.view[place - 1]], way.views[way.view[place]]
        earlier, later = way.answers[place - 1], way.answers[place]
        yield before, now, int(way.started_ns[earlier]), int(way.ended_ns[later])


def silences(known: Sequence[Way], run: str) -> list[Silence]:
    """One row a stretch of looks without an answer."""
    return [silence for way in known for silence in _silences(way, run)]


def _silences(way: Way, run: str) -> Iterator[Silence]:
    silent = ~way.answered[way.current]
    edges = np.diff(np.concatenate([[False], silent, [False]]).astype(np.int8))
    begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        ended = end < len(silent)
        last = way.current[end if ended else end - 1]
        first = way.current[begin]
        yield Silence(
            run,
            *way.who,
            int(way.started_ns[first]),
            int(way.ended_ns[last]),
            ended,
            end - begin,
            way.details[way.detail[first]],
        )


def stages(known: Sequence[Way], facts: Facts) -> list[Stage]:
    """Two rows a window, where the route was known before it."""
    routes = [way for way in known if way.who[1] == ROUTE]
    return [
        stage
        for window, judged in zip(in_order(facts), judged_times(facts)[1:], strict=True)
        for stage in _stages(routes, window, judged, facts.run)
    ]


def _stages(routes: Sequence[Way], window: Window, judged: Judged, run: str) -> Iterator[Stage]:
    bounds = [each for way in routes if (each := _bounds(way, window, judged)) is not None]
    if not bounds:
        return
    changed = np.array([each for each in bounds if each], np.int64).reshape(-1, 2)
    first = changed.min(axis=0) if len(changed) else None
    last = changed.max(axis=0) if len(changed) == len(bounds) else None
    for name, found in zip(STAGES, (first, last), strict=True):
        if found is None:
            after_ns = judged.until_ns - window.origin_ns
            uncertainty_ns = window.returned_ns - window.origin_ns
        else:
            least, most = found.tolist()
            after_ns = most - window.origin_ns
            uncertainty_ns = after_ns - max(0, least - window.returned_ns)
        yield Stage(run, window.number, name, found is not None, after_ns, uncertainty_ns)


def _bounds(way: Way, window: Window, judged: Judged) -> tuple[()] | tuple[int, int] | None:
    """Between when the way's view changed; () if it did not; None if none was known before, or it
    was silent from the fault on."""
    ended_ns = way.ended_ns[way.answers]
    before = int(np.searchsorted(ended_ns, window.origin_ns, side="right"))
    if not before:
        return None
    end = int(np.searchsorted(ended_ns, judged.until_ns, side="right"))
    others = np.flatnonzero(way.view[before:end] != way.view[before - 1])
    current_ns = way.ended_ns[way.current]
    if not len(others):
        last = int(np.searchsorted(current_ns, judged.until_ns, side="right"))
        return None if _silent(way, window, last) else ()
    place = before + int(others[0])
    in_current = int(np.searchsorted(way.current, way.answers[place]))
    if _silent(way, window, in_current):
        return None
    return int(way.started_ns[way.current[in_current - 1]]), int(ended_ns[place])


def _silent(way: Way, window: Window, end: int) -> bool:
    """Return whether no look that counts, before the place `end` of them, was answered since the
    fault was in force, and there was one."""
    looks = way.current[:end]
    since = looks[way.started_ns[looks] >= window.returned_ns]
    return len(since) > 0 and not way.answered[since].any()
