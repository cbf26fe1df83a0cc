"""Availability: operations missed, and the longest silence between confirms, a window and queue.

1. Window 0 is the run as a whole, calm and stormy; the others count what was intended in their
   judged time.
2. Silence is the longest gap between consecutive confirms that touches the outage: from the
   window's origin until success was sustained and the fault was undone.
3. The start and the end of load bound the gaps. One that only the end of load closes is censored.
4. Queue "" is all queues together.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from spark_analysis.definition.messages import Message
from spark_analysis.definition.operations import Operation
from spark_analysis.definition.stages import Outages
from spark_analysis.definition.windows import Faulted, faulted
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import Availability

ALL_QUEUES = ""


@dataclass(frozen=True, slots=True)
class Silence:
    """The gap from `from_ns`, so long; censored where no confirm ended it."""

    length_ns: int
    from_ns: int
    censored: bool


@dataclass(frozen=True, slots=True)
class _Span:
    """One window: its operations of [from_ns, until_ns), its silences of [from_ns, quiet_ns]."""

    number: int
    from_ns: int
    until_ns: int | None  # None: every operation of the run
    quiet_ns: int

    def covers(self, operation: Operation) -> bool:
        return self.until_ns is None or self.from_ns <= operation.intended_ns < self.until_ns


def rows(
    facts: Facts,
    messages: Sequence[Message],
    operations: Sequence[Operation],
    sustained: Outages,
) -> tuple[Availability, ...]:
    if not facts.confirms:
        return ()
    return tuple(_rows(facts, messages, operations, tuple(_spans(facts, sustained))))


def _rows(
    facts: Facts,
    messages: Iterable[Message],
    operations: Sequence[Operation],
    spans: Iterable[_Span],
) -> Iterator[Availability]:
    for queue, confirms in _confirm_times(messages).items():
        gaps = _gaps(facts, confirms)
        of_queue = _of_queue(queue, operations)
        for span in spans:
            yield _row(facts.run, span, queue, gaps, of_queue)


def _confirm_times(messages: Iterable[Message]) -> Mapping[str, list[int]]:
    """The confirm times of every queue that was tried, and of all together."""
    times: dict[str, list[int]] = {ALL_QUEUES: []}
    for message in messages:
        of_queue = times.setdefault(message.queue, [])
        if message.confirmed_ns is not None:
            of_queue.append(message.confirmed_ns)
            times[ALL_QUEUES].append(message.confirmed_ns)
    return times


def _of_queue(queue: str, operations: Sequence[Operation]) -> Sequence[Operation]:
    if queue == ALL_QUEUES:
        return operations
    return tuple(operation for operation in operations if operation.message.queue == queue)


def _spans(facts: Facts, sustained: Outages) -> Iterator[_Span]:
    yield _Span(0, facts.load_started_ns, None, facts.load_ended_ns)
    for fault in faulted(facts):
        quiet_ns = _outage_over_ns(facts, fault, sustained)
        yield _Span(fault.window.number, fault.window.origin_ns, fault.until_ns, quiet_ns)


def _outage_over_ns(facts: Facts, fault: Faulted, sustained: Outages) -> int:
    """When success was sustained and the fault undone; at the latest the end of load."""
    search = sustained.get(fault.window.number)
    ended_ns = fault.window.ended_ns
    if search is None or not search.found or ended_ns is None:
        return facts.load_ended_ns
    return min(max(search.at_ns, ended_ns), facts.load_ended_ns)


def _gaps(facts: Facts, confirms: Iterable[int]) -> tuple[Silence, ...]:
    """Every gap of the load, in time; the last one ends with the load and not in a confirm."""
    start_ns, end_ns = facts.load_started_ns, facts.load_ended_ns
    within = sorted(at_ns for at_ns in confirms if start_ns <= at_ns <= end_ns)
    edges = [start_ns, *within, end_ns]
    last = len(edges) - 2
    return tuple(
        Silence(after - before, before, censored=index == last)
        for index, (before, after) in enumerate(pairwise(edges))
    )


def _longest(gaps: Iterable[Silence], from_ns: int, until_ns: int) -> Silence:
    """The longest gap that overlaps the interval, of equals the earliest; else no silence."""
    overlapping = (
        gap for gap in gaps if gap.from_ns < until_ns and gap.from_ns + gap.length_ns > from_ns
    )
    none = Silence(0, from_ns, censored=False)
    return max(overlapping, key=lambda gap: gap.length_ns, default=none)


def _row(
    run: str, span: _Span, queue: str, gaps: Iterable[Silence], operations: Iterable[Operation]
) -> Availability:
    judged = [operation for operation in operations if span.covers(operation)]
    missed = sum(operation.missed for operation in judged)
    silence = _longest(gaps, span.from_ns, span.quiet_ns)
    return Availability(
        run,
        span.number,
        queue,
        len(judged),
        missed,
        silence.length_ns,
        silence.from_ns,
        silence.censored,
    )
