"""The few affected messages that a page shows, out of all listed cases.

1. Nothing is sorted as a whole. The first messages of a class are among its earliest cases, and
   the search takes more of these until it has enough messages.
2. Several kernels may find cases of one class; each reports its own first ones.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from spark_analysis.engine.kernel.arrays import NANOSECONDS, NEVER, Ints
from spark_analysis.engine.kernel.cases import Cases
from spark_analysis.schema.availability import Stage
from spark_analysis.schema.digest import EXAMPLES_MAX, GOOD_NS, MISSED, SUSTAINED, Later, Mark
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.messages import Affected

_FIRST_LOOK = 64  # rows; eight times as many at each further one


def marks(run: str, listed: Iterable[Cases]) -> list[Mark]:
    counts: Counter[tuple[str, int]] = Counter()
    for cases in listed:
        seconds, numbers = np.unique(
            cases.at_ns[cases.at_ns >= 0] // NANOSECONDS, return_counts=True
        )
        for second, number in zip(seconds.tolist(), numbers.tolist(), strict=True):
            counts[cases.census.measure, second] += number
    return [Mark(run, *when, number) for when, number in counts.items()]


def examples(run: str, listed: Iterable[Cases]) -> list[Affected]:
    firsts: dict[tuple[str, str], list[Affected]] = {}
    for cases in listed:
        detail = cases.census.detail
        for number in np.unique(detail.numbers).tolist():
            places = np.flatnonzero(detail.numbers == number)
            name = cases.census.measure, detail.words[number]
            firsts.setdefault(name, []).extend(_first(run, cases, name, places))
    return [row for found in firsts.values() for row in _of_messages(found)]


def _first(run: str, cases: Cases, name: tuple[str, str], places: Ints) -> Sequence[Affected]:
    """The first rows of the first messages among these places."""
    at_ns, some = cases.at_ns[places], _FIRST_LOOK
    while some < len(places):
        latest = np.partition(at_ns, some - 1)[some - 1]
        found = _of_messages(_rows(run, cases, name, places[at_ns <= latest]))
        if len(found) == EXAMPLES_MAX:
            return found
        some *= 8
    return _of_messages(_rows(run, cases, name, places))


def _rows(run: str, cases: Cases, name: tuple[str, str], places: Ints) -> Iterator[Affected]:
    queue = cases.census.queue
    columns = (cases.producer, cases.sequence, cases.attempt, cases.at_ns)
    values = (column[places].tolist() for column in columns)
    for number, *rest in zip(queue.numbers[places].tolist(), *values, strict=True):
        yield Affected(run, queue.words[number], *name, *rest)


def _of_messages(rows: Iterable[Affected]) -> list[Affected]:
    found: dict[tuple[int, ...], Affected] = {}
    for row in sorted(
        rows, key=lambda one: (one.at_ns, one.producer, one.sequence, one.attempt, one.queue)
    ):
        is_known = row.producer >= 0
        itself = (row.at_ns, row.producer, row.sequence, row.attempt)
        found.setdefault((row.producer, row.sequence) if is_known else itself, row)
        if len(found) == EXAMPLES_MAX:
            break
    return [*found.values()]


def later(facts: Facts, listed: Iterable[Cases], stages: Iterable[Stage]) -> list[Later]:
    missed = [cases.at_ns for cases in listed if cases.census.measure == MISSED]
    reached = {
        row.window: row.after_ns for row in stages if row.stage == SUSTAINED and row.reached
    }
    found = []
    for window in facts.windows:
        if window.number in reached:
            from_ns = window.origin_ns + reached[window.number] + GOOD_NS
            origins = [one.origin_ns for one in facts.windows if one.number > window.number]
            until_ns = min(origins, default=NEVER)
            late = sum(
                int(np.count_nonzero((at_ns >= from_ns) & (at_ns < until_ns))) for at_ns in missed
            )
            found.append(Later(facts.run, window.number, late))
    return found
