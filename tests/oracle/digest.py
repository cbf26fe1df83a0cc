"""Affected messages for a page: their numbers over time, the first ones, and the later late
ones."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.digest import EXAMPLES_MAX, GOOD_NS, MISSED, SUSTAINED, Later, Mark
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.messages import Affected

NS_PER_S = 1_000_000_000


def marks(run: str, affected: Iterable[Affected]) -> tuple[Mark, ...]:
    counts = Counter((row.measure, row.at_ns // NS_PER_S) for row in affected if row.at_ns >= 0)
    return tuple(Mark(run, *when, cases) for when, cases in sorted(counts.items()))


def examples(affected: Iterable[Affected]) -> tuple[Affected, ...]:
    firsts: defaultdict[tuple[str, str], dict[tuple[int, ...], Affected]] = defaultdict(dict)
    for row in sorted(affected, key=_order):
        firsts[row.measure, row.detail].setdefault(_message(row), row)
    return tuple(row for first in firsts.values() for row in [*first.values()][:EXAMPLES_MAX])


def _order(row: Affected) -> tuple[int, int, int, int, str]:
    return row.at_ns, row.producer, row.sequence, row.attempt, row.queue


def _message(row: Affected) -> tuple[int, ...]:
    if row.producer < 0:
        return row.at_ns, row.producer, row.sequence, row.attempt
    return row.producer, row.sequence


def later(
    facts: Facts, affected: Iterable[Affected], stages: Iterable[Stage]
) -> tuple[Later, ...]:
    missed = [row.at_ns for row in affected if row.measure == MISSED]
    after_ns = {
        row.window: row.after_ns for row in stages if row.stage == SUSTAINED and row.reached
    }
    return tuple(_later(facts, missed, after_ns))


def _later(facts: Facts, missed: Sequence[int], after_ns: dict[int, int]) -> Iterator[Later]:
    for window in facts.windows:
        if window.number in after_ns:
            from_ns = window.origin_ns + after_ns[window.number] + GOOD_NS
            until_ns = _next_origin_ns(facts, window)
            late = [at for at in missed if from_ns <= at and (until_ns is None or at < until_ns)]
            yield Later(facts.run, window.number, len(late))


def _next_origin_ns(facts: Facts, window: Window) -> int | None:
    origins = (other.origin_ns for other in facts.windows if other.number > window.number)
    return min(origins, default=None)
