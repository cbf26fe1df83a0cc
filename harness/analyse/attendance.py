"""The times in which clients were not there, by their own doing.

1. The readers of a queue are the consumers that received something from it under load. Those that
   consume and got nothing are readers, too, if it is the only queue, or the only one of their
   group.
2. A reader is away until it first consumes, and from when it closed its last connection. If the
   connection was lost, that was not its own doing.
3. A reader could receive nothing, too, while it was full: it held as many unacknowledged
   deliveries as it ever held, of all queues or of this one, until it acknowledged one.
4. If each consumer read other queues, and none says that it consumes this one, it has no reader.
5. Publishers waited for their last confirms if one of their records is so late.
6. A publisher held back what it sent too late, though it waited for no answer.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from harness.claims.attendance import Attendance, LatePublish
from harness.histories.history import Cell, Columns
from spark_analysis.engine.kernel.arrays import NEVER, Ints
from spark_analysis.engine.kernel.events.acknowledged import ended_ns, written_ns
from spark_analysis.engine.kernel.records import (
    Acknowledgements,
    ClientEvents,
    Deliveries,
    Reader,
)
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import NEVER_SENT, Outcome

Times = list[tuple[int, int]]  # [from, until) in ns of run time
Attempt = tuple[int, int, int]
_ATTEMPT = ("producer", "sequence", "attempt")
_FirstSend = tuple[int, int, str, Attempt]  # when it was intended, and sent; its queue


def attendance(facts: Facts, reader: Reader, named: Collection[Cell] = ()) -> Attendance:
    """Return when each consumer was away, and each queue had no consumer that could receive.
    `named`: the queues that events of clients name."""
    deliveries, events = reader.read(Deliveries), reader.read(ClientEvents)
    rows = deliveries.pick(np.isin(deliveries.via, facts.way_numbers.direct_load))
    away: dict[int, Times] = {}
    for consumer in np.unique(rows.consumer).tolist():
        first_ns = int(rows.received_ns[rows.consumer == consumer].min())
        away[consumer] = [*_away(consumer, first_ns, events)]
    consumers = {worker.number for worker in facts.workers if worker.role == "consumer"}
    unread = {one.queue for one in facts.queues} - {*named} if consumers <= away.keys() else set()
    idle: dict[str, Times] = {queue: [(0, NEVER)] for queue in unread}
    silent = (consumers - away.keys()) & _consuming(events)
    away |= {consumer: [*_away(consumer, NEVER, events)] for consumer in silent}
    unable = _unable(rows, reader.read(Acknowledgements), events, facts, away)
    for queue, times in unable.items():
        times += [away[consumer] for consumer in silent if _readable(consumer, facts) == {queue}]
        idle[queue] = [*_together(times, len(times))]
    return Attendance(away, idle)


def _unable(
    rows: Deliveries,
    acknowledgements: Acknowledgements,
    events: ClientEvents,
    facts: Facts,
    away: Mapping[int, Times],
) -> dict[str, list[Times]]:
    """Return by queue when each consumer that received something from it could receive nothing."""
    acknowledged_ns, over_ns = written_ns(rows, acknowledgements), ended_ns(rows, events)
    acknowledged_ns[acknowledged_ns > over_ns] = NEVER
    over_ns = np.minimum(acknowledged_ns, over_ns)
    found = defaultdict[str, list[Times]](list)
    for number, queue in enumerate(rows.queue.words):
        of_queue = rows.queue.numbers == number
        for consumer in np.unique(rows.consumer[of_queue]).tolist():
            own = rows.consumer == consumer
            times = [*away[consumer]]
            for held in (own, own & of_queue) if facts.acknowledges else ():
                times += _full(rows.received_ns[held], over_ns[held], acknowledged_ns[held])
            found[queue].append([*_together([times], 1)])
    return found


def _readable(consumer: int, facts: Facts) -> set[str]:
    """Return the queues that it may read: those of its consumer group, or all."""
    groups = [one for one in facts.consumer_groups if consumer in one.consumers]
    own = {queue for group in groups for queue in group.names.values()}
    return own or {one.queue for one in facts.queues}


def _consuming(events: ClientEvents) -> set[int]:
    words = np.array([word == "consuming" for word in events.kind.words], np.bool_)
    return {*events.worker[words[events.kind.numbers]].tolist()} if len(words) else set()


def waited(facts: Facts, tables: Mapping[str, Columns]) -> bool:
    """Return whether an answer, or an event of a publisher, shows that publishers were there until
    a deadline after the load."""
    until_ns = facts.load_ended_ns + facts.deadline_ns
    publishers = {worker.number for worker in facts.workers if worker.role == "publisher"}
    events = tables.get("client_events", {})
    times = [
        *tables.get("settlements", {}).get("settled_ns", []),
        *(
            at_ns
            for worker, at_ns in zip(
                events.get("worker", []), events.get("at_ns", []), strict=True
            )
            if worker in publishers
        ),
    ]
    return any(isinstance(at_ns, int) and at_ns >= until_ns for at_ns in times)


def held_back(facts: Facts, tables: Mapping[str, Columns]) -> tuple[LatePublish, ...]:
    """Return the publishes that went out after their deadline, or never, though all that their
    publisher had sent before was confirmed, and so was what it sent next. None if the records show
    late ticks: these say who stood still."""
    if tables.get("lateness") or not facts.paced:
        return ()
    confirmed = _confirmed_ns(tables.get("settlements", {}))
    of = defaultdict[int, list[_FirstSend]](list)
    for producer, sequence, number, intended_ns, sent_ns, queue in _rows(
        tables.get("attempts", {}), *_ATTEMPT, "intended_ns", "sent_ns", "queue"
    ):
        attempt = producer, sequence, number
        of[producer].append((intended_ns, sent_ns, queue, attempt))
    return tuple(
        LatePublish(intended_ns, queue, producer)
        for producer, own in of.items()
        for intended_ns, queue in _held_back(own, facts.deadline_ns, confirmed)
    )


def not_waited(facts: Facts, tables: Mapping[str, Columns]) -> tuple[LatePublish, ...]:
    """Return the publishes of the last deadline of the load that were not confirmed in time, if no
    publisher waited for their confirms."""
    if waited(facts, tables):
        return ()
    times = dict[tuple[int, int], int]()
    for (producer, sequence, _), at_ns in _confirmed_ns(tables.get("settlements", {})).items():
        message = producer, sequence
        times[message] = min(at_ns, times.get(message, at_ns))
    publishes = _rows(tables.get("attempts", {}), "producer", "sequence", "intended_ns", "queue")
    from_ns, until_ns = facts.load_ended_ns - facts.deadline_ns, facts.load_ended_ns
    return tuple(
        LatePublish(intended_ns, queue, producer)
        for producer, sequence, intended_ns, queue in publishes
        if from_ns <= intended_ns < until_ns
        and times.get((producer, sequence), NEVER) > intended_ns + facts.deadline_ns
    )


def _confirmed_ns(settlements: Columns) -> dict[Attempt, int]:
    """Return when each attempt was first confirmed."""
    found: dict[Attempt, int] = {}
    for *names, at_ns, outcome in _rows(settlements, *_ATTEMPT, "settled_ns", "outcome"):
        if outcome == Outcome.CONFIRMED:
            producer, sequence, number = names
            attempt = producer, sequence, number
            found[attempt] = min(found.get(attempt, at_ns), at_ns)
    return found


def _rows(columns: Columns, *names: str) -> Iterator[tuple[Any, ...]]:
    if all(name in columns for name in names):
        yield from zip(*(columns[name] for name in names), strict=True)


def _held_back(
    own: Sequence[_FirstSend], deadline_ns: int, confirmed: Mapping[Attempt, int]
) -> Iterator[tuple[int, str]]:
    """Yield when it was due, and its queue, of each publish of one publisher."""
    sent = sorted((sent_ns, attempt) for _, sent_ns, _, attempt in own if sent_ns != NEVER_SENT)
    times = [at_ns for at_ns, _ in sent]
    ends = [*accumulate((confirmed.get(attempt, NEVER) for _, attempt in sent), max)]
    for intended_ns, sent_ns, queue, _ in own:
        late = sent_ns == NEVER_SENT or sent_ns > intended_ns + deadline_ns
        place = bisect_right(times, intended_ns)
        if intended_ns < 0 or not late or not 0 < place < len(sent):
            continue
        if ends[place - 1] <= intended_ns and sent[place][1] in confirmed:
            yield intended_ns, queue


def _away(consumer: int, first_ns: int, events: ClientEvents) -> Iterator[tuple[int, int]]:
    """Yield when the consumer was not there. `first_ns`: when it received something first."""
    own = np.flatnonzero(events.worker == consumer)
    own = own[np.argsort(events.at_ns[own], kind="stable")]
    open_ones: set[int] = set()
    lost: set[int] = set()
    since_ns: int | None = 0
    for row in own.tolist():
        kind = events.kind.words[int(events.kind.numbers[row])]
        at_ns, connection = int(events.at_ns[row]), int(events.connection[row])
        if kind == "consuming":
            if since_ns is not None:
                yield since_ns, min(at_ns, first_ns) if not since_ns else at_ns
            open_ones, lost, since_ns = (open_ones - lost) | {connection}, set(), None
        elif kind == "lost":
            lost.add(connection)
        elif kind == "closed" and open_ones and not (open_ones := open_ones - {connection}):
            since_ns = at_ns
    if since_ns:
        yield since_ns, NEVER


def _full(received_ns: Ints, over_ns: Ints, acknowledged_ns: Ints) -> Iterator[tuple[int, int]]:
    """Yield when the consumer held as much as ever, until it acknowledged something."""
    ends = [(at_ns, -1) for at_ns in np.maximum(over_ns, received_ns).tolist() if at_ns < NEVER]
    steps = sorted([*((at_ns, 1) for at_ns in received_ns.tolist()), *ends])
    held = [*accumulate(step for _, step in steps)]
    most, answers = max(held), set(acknowledged_ns.tolist())
    for (from_ns, _), (until_ns, _), many in zip(steps, steps[1:], held, strict=False):
        if many == most and until_ns in answers and from_ns < until_ns:
            yield from_ns, until_ns


def _together(every: Iterable[Times], number: int) -> Iterator[tuple[int, int]]:
    """Yield the times in which as many as `number` of these hold at once; of one alone, joined."""
    depth = defaultdict[int, int](int)
    for times in every:
        for from_ns, until_ns in times:
            depth[from_ns] += 1
            depth[until_ns] -= 1
    since_ns: int | None = None
    deep = accumulate(depth[at_ns] for at_ns in sorted(depth))
    for at_ns, now in zip(sorted(depth), deep, strict=True):
        if now >= number and since_ns is None:
            since_ns = at_ns
        elif now < number and since_ns is not None:
            yield since_ns, at_ns
            since_ns = None
