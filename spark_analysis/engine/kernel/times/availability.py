"""Missed publishes and silence, by second, window and queue.

1. Silence is the longest gap between consecutive confirms that overlaps the time in question. The
   load's start and end count as confirms, so an outage at either end is seen.
2. It counts only while something is due: from the first publish that is intended in the gap.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spark_analysis.engine.kernel.arrays import (
    MANY,
    NANOSECONDS,
    NEVER,
    Bools,
    Ints,
    ascending_places,
    blocks,
    split,
    value_counts,
)
from spark_analysis.engine.kernel.events.arrivals import Arrivals
from spark_analysis.engine.kernel.events.messages import Messages
from spark_analysis.engine.kernel.events.publishes import Publishes
from spark_analysis.engine.kernel.events.windows import Judged, in_order, judged_times
from spark_analysis.schema.availability import Availability, Second, Stage
from spark_analysis.schema.facts import Facts

_Chosen = Ints | slice


@dataclass(frozen=True, slots=True)
class _Span:
    """The times of one row of availability: one for its publishes, another for its silence."""

    window: int
    from_ns: int
    publishes_until_ns: int
    silence_until_ns: int


def seconds(messages: Messages, arrived: Arrivals, publishes: Publishes, run: str) -> list[Second]:
    """One row for every second in which anything counts."""
    columns = (
        publishes.intended_ns,
        publishes.intended_ns[publishes.missed],
        messages.confirmed_ns[messages.confirmed_ns < NEVER],
        arrived.received_ns(arrived.firsts),
    )
    counts: defaultdict[int, list[int]] = defaultdict(lambda: [0] * len(columns))
    for number, times_ns in enumerate(columns):
        for second, count in zip(*value_counts(times_ns // NANOSECONDS), strict=True):
            counts[second][number] = count
    return [Second(run, second, *row) for second, row in counts.items()]


def availability(
    messages: Messages, publishes: Publishes, stages: list[Stage], facts: Facts
) -> list[Availability]:
    """One row a window and queue; no rows where nothing is confirmed by design."""
    if not facts.confirms:
        return []
    confirmed = np.flatnonzero(_within(messages.confirmed_ns, facts))
    times_ns = messages.confirmed_ns[confirmed]
    words = messages.queue.words
    present = np.flatnonzero(
        np.bincount(messages.queue.numbers[messages.slots.taken], minlength=len(words))
    )
    chosen = _by_queue(words, present, messages.queue.numbers[confirmed], publishes)
    spans = _spans(stages, facts)
    return [
        row
        for queue, (confirms, intended) in chosen
        for row in _rows(
            queue,
            times_ns[confirms],
            publishes.intended_ns[intended],
            publishes.missed[intended],
            spans,
            facts,
        )
    ]


def _by_queue(
    words: Sequence[str], present: Ints, confirmed: Ints, publishes: Publishes
) -> Iterator[tuple[str, tuple[_Chosen, _Chosen]]]:
    """The confirms and the publishes of each queue, and those of all last: what has no queue is
    only in that. `confirmed`: the number of each confirm's queue."""
    every = slice(None), slice(None)
    named = [number for number in present.tolist() if words[number]]
    if len(present) == len(named) == 1:
        yield words[named[0]], every
    else:
        confirms = split(confirmed, len(words))
        intended = split(publishes.queue.numbers, len(words))
        for number in named:
            yield words[number], (confirms[number], intended[number])
        del confirms, intended
    yield "", every


def _within(times_ns: Ints, facts: Facts) -> Bools:
    return (times_ns >= facts.load_started_ns) & (times_ns <= facts.load_ended_ns)


def _rows(
    queue: str,
    confirms_ns: Ints,
    intended_ns: Ints,
    missed: Bools,
    spans: list[_Span],
    facts: Facts,
) -> list[Availability]:
    due_ns = intended_ns if facts.paced else None
    gaps = Gaps(confirms_ns, facts.load_started_ns, facts.load_ended_ns, due_ns)
    rows = []
    for span in spans:
        first, last = np.searchsorted(intended_ns, [span.from_ns, span.publishes_until_ns])
        if span.window == 0:
            first, last = 0, len(intended_ns)
        silence = gaps.longest(span.from_ns, span.silence_until_ns)
        # A window that opened after the load ended has no publishes, not fewer than none.
        inside = missed[first:last]
        late = int(np.count_nonzero(inside))
        rows.append(Availability(facts.run, span.window, queue, len(inside), late, *silence))
    return rows


def _spans(stages: list[Stage], facts: Facts) -> list[_Span]:
    whole = _Span(0, facts.load_started_ns, facts.load_ended_ns, facts.load_ended_ns)
    recovered_ns = {
        stage.window: stage.after_ns
        for stage in stages
        if stage.stage == "sustained_success" and stage.reached
    }
    spans = [whole]
    for window, judged in zip(in_order(facts), judged_times(facts)[1:], strict=True):
        ends_ns = [facts.load_ended_ns if window.ended_ns is None else window.ended_ns]
        if window.number in recovered_ns:
            ends_ns.append(window.origin_ns + recovered_ns[window.number])
        else:
            ends_ns.append(facts.load_ended_ns)
        spans.append(_span(judged, min(max(ends_ns), facts.load_ended_ns)))
    return spans


def _span(judged: Judged, silence_until_ns: int) -> _Span:
    return _Span(judged.number, judged.from_ns, judged.until_ns, silence_until_ns)


class Gaps:
    """The gaps between confirms, including those to the ends of the load. Each starts when
    something was due in it. `due_ns`: those times, ascending; None if unknown."""

    def __init__(
        self, confirms_ns: Ints, started_ns: int, ended_ns: int, due_ns: Ints | None
    ) -> None:
        until_ns = np.append(confirms_ns, ended_ns)
        until_ns[:-1].sort(kind="stable")  # they ascend, nearly
        from_ns = np.empty_like(until_ns)
        from_ns[0], from_ns[1:] = started_ns, until_ns[:-1]
        count, closing = len(until_ns), len(confirms_ns)
        if due_ns is not None:
            count, closing = _with_due(due_ns, from_ns, until_ns)
        self._from_ns, self._until_ns = from_ns[:count], until_ns[:count]
        self._closing = closing

    def longest(self, from_ns: int, until_ns: int) -> tuple[int, int, bool]:
        """(length, start, censored) of the longest gap that overlaps; of equals the earliest."""
        first = int(np.searchsorted(self._until_ns, from_ns, side="right"))
        last = int(np.searchsorted(self._from_ns, until_ns))
        if first >= last:
            return 0, from_ns, False
        lengths = self._until_ns[first:last] - self._from_ns[first:last]
        longest = int(np.argmax(lengths))
        place = first + longest
        return int(lengths[longest]), int(self._from_ns[place]), place == self._closing


def _with_due(due_ns: Ints, from_ns: Ints, until_ns: Ints) -> tuple[int, int]:
    """Has the gaps in which anything was due lie in front, each from then on: how many they are,
    and the place of the last gap of all among them, or -1."""
    count, closing = 0, -1
    for some in blocks(len(from_ns), MANY):
        first_ns, end_ns = _first_due(due_ns, from_ns[some]), until_ns[some]
        held = first_ns < end_ns
        before, count = count, count + int(np.count_nonzero(held))
        from_ns[before:count], until_ns[before:count] = first_ns[held], end_ns[held]
        closing = count - 1 if held[-1] else -1
    return count, closing


def _first_due(due_ns: Ints, times_ns: Ints) -> Ints:
    """From each of these times on, which ascend, when something is due first; or NEVER."""
    if not len(due_ns):
        return np.full(len(times_ns), NEVER, np.int64)
    places = ascending_places(due_ns, times_ns)
    first_ns: Ints = due_ns[np.minimum(places, len(due_ns) - 1)]
    first_ns[places == len(due_ns)] = NEVER
    return first_ns
