"""Availability: publishes missed, and the longest silence between confirms, a window and queue.

1. Window 0 is the run as a whole, with its steady state and its faults; the others count what was
   intended in their judged time.
2. Silence is the longest gap between consecutive confirms that touches the outage: from the
   window's origin until success was sustained and the fault was undone. It runs only while
   something is due: from the first publish after the confirm on.
3. The start and the end of load bound the gaps. One that only the end of load closes is censored.
4. Queue "" is all queues together.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from spark_analysis.schema.availability import Availability, Stage
from spark_analysis.schema.facts import Facts
from tests.oracle.messages import Message
from tests.oracle.publishes import Publish
from tests.oracle.windows import Faulted, faulted

ALL_QUEUES = ""


@dataclass(frozen=True, slots=True)
class Silence:
    """The gap from `from_ns`, so long; censored where no confirm ended it."""

    length_ns: int
    from_ns: int
    censored: bool


@dataclass(frozen=True, slots=True)
class _Span:
    """One window: its publishes of [from_ns, until_ns), its silences of [from_ns, quiet_ns]."""

    number: int
    from_ns: int
    until_ns: int | None  # None: every publish of the run
    quiet_ns: int


@dataclass(frozen=True, slots=True)
class _Intended:
    """The publishes of one queue, by intended time."""

    intended_ns: Sequence[int]
    missed_before: Sequence[int]

    def of(self, span: _Span) -> tuple[int, int]:
        """Return the number of publishes in the window, and the number of missed ones."""
        start, end = 0, len(self.intended_ns)
        if span.until_ns is not None:
            start = bisect_left(self.intended_ns, span.from_ns)
            end = max(start, bisect_left(self.intended_ns, span.until_ns))
        return end - start, self.missed_before[end] - self.missed_before[start]

    def first_from(self, at_ns: int) -> int | None:
        place = bisect_left(self.intended_ns, at_ns)
        return self.intended_ns[place] if place < len(self.intended_ns) else None


def rows(
    facts: Facts,
    messages: Sequence[Message],
    publishes: Sequence[Publish],
    stages: Iterable[Stage],
) -> tuple[Availability, ...]:
    if not facts.confirms:
        return ()
    spans = tuple(_spans(facts, stages))
    return tuple(_rows(facts, messages, publishes, spans))


def _rows(
    facts: Facts,
    messages: Iterable[Message],
    publishes: Sequence[Publish],
    spans: Iterable[_Span],
) -> Iterator[Availability]:
    intended = _intended(publishes)
    for queue, confirms in _confirm_times(messages).items():
        of_queue = intended.get(queue, _Intended((), (0,)))
        gaps = tuple(_gaps(facts, confirms, of_queue))
        for span in spans:
            yield _row(facts.run, span, queue, gaps, of_queue)


def _confirm_times(messages: Iterable[Message]) -> Mapping[str, list[int]]:
    """The confirm times of every queue that was tried, and of all together."""
    times: dict[str, list[int]] = {}
    for message in messages:
        of_queue = times.setdefault(message.queue, [])
        if message.confirmed_ns is not None:
            of_queue.append(message.confirmed_ns)
    return {**times, ALL_QUEUES: [at_ns for of_queue in times.values() for at_ns in of_queue]}


def _intended(publishes: Sequence[Publish]) -> Mapping[str, _Intended]:
    """The publishes of every queue that had any, and of all together."""
    of_queue: dict[str, list[Publish]] = {}
    for publish in publishes:
        of_queue.setdefault(publish.message.queue, []).append(publish)
    of_queue[ALL_QUEUES] = list(publishes)
    return {
        queue: _Intended(
            tuple(one.intended_ns for one in these),
            tuple(accumulate((int(one.missed) for one in these), initial=0)),
        )
        for queue, these in of_queue.items()
    }


def _spans(facts: Facts, stages: Iterable[Stage]) -> Iterator[_Span]:
    yield _Span(0, facts.load_started_ns, None, facts.load_ended_ns)
    sustained = {
        row.window: row.after_ns
        for row in stages
        if row.stage == "sustained_success" and row.reached
    }
    for fault in faulted(facts):
        quiet_ns = _outage_over_ns(facts, fault, sustained.get(fault.window.number))
        yield _Span(fault.window.number, fault.window.origin_ns, fault.until_ns, quiet_ns)


def _outage_over_ns(facts: Facts, fault: Faulted, after_ns: int | None) -> int:
    """Return when success was sustained and the fault undone; at the latest the end of load."""
    ended_ns = fault.window.ended_ns
    if after_ns is None or ended_ns is None:
        return facts.load_ended_ns
    return min(max(fault.window.origin_ns + after_ns, ended_ns), facts.load_ended_ns)


def _gaps(facts: Facts, confirms: Iterable[int], intended: _Intended) -> Iterator[Silence]:
    """Every gap of the load, in time; the last one ends with the load and not in a confirm."""
    start_ns, end_ns = facts.load_started_ns, facts.load_ended_ns
    within = sorted(at_ns for at_ns in confirms if start_ns <= at_ns <= end_ns)
    edges = [start_ns, *within, end_ns]
    last = len(edges) - 2
    for index, (before, after) in enumerate(pairwise(edges)):
        from_ns = intended.first_from(before) if facts.paced else before
        if from_ns is not None and (from_ns < after or not facts.paced):
            yield Silence(after - from_ns, from_ns, censored=index == last)


def _longest(gaps: Iterable[Silence], from_ns: int, until_ns: int) -> Silence:
    """The longest gap that overlaps the interval, of equals the earliest; else no silence."""
    overlapping = (
        gap for gap in gaps if gap.from_ns < until_ns and gap.from_ns + gap.length_ns > from_ns
    )
    none = Silence(0, from_ns, censored=False)
    return max(overlapping, key=lambda gap: gap.length_ns, default=none)


def _row(
    run: str, span: _Span, queue: str, gaps: Iterable[Silence], intended: _Intended
) -> Availability:
    publishes, missed = intended.of(span)
    silence = _longest(gaps, span.from_ns, span.quiet_ns)
    return Availability(
        run,
        span.number,
        queue,
        publishes,
        missed,
        silence.length_ns,
        silence.from_ns,
        silence.censored,
    )
