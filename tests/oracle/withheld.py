"""Messages that wait though their consumers have room: the queue withholds them.

1. A message is withheld while it waits and the queue gives less than half of what becomes ready in
   that time; else from when one that was ready later came, for that one passed it over.
2. Only more than a stretch counts, and only where the consumer that got it at last had room for at
   least half of that time; of what the drain got, any consumer of the queue.
3. What a consumer holds shows its room: it is full while it holds as much as it ever held, of all
   queues or of the message's. Where consumers do not acknowledge they always have room; where they
   poll they have none that is known.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import STRETCH_NS
from tests.oracle.channels import Channels
from tests.oracle.messages import Message


@dataclass(frozen=True, slots=True)
class Wait:
    """The wait of one message until its first delivery; inf where the drain got it."""

    ready_ns: int
    until_ns: int | float
    consumer: int  # that got it first


class ConsumerCapacity:
    """The times when consumers were full, and the consumers of each queue."""

    def __init__(self, facts: Facts, messages: Iterable[Message], channels: Channels) -> None:
        # By consumer and queue; None: all of its queues.
        steps = defaultdict[tuple[int, str | None], list[tuple[int, int]]](list)
        self._polls = facts.polls
        self._consumers = defaultdict[str, set[int]](set)
        for message in messages:
            for delivery in message.consumed:
                if not delivery.while_consuming:
                    continue
                self._consumers[message.queue].add(delivery.consumer)
                ends = (channels.acknowledged_ns(delivery), channels.ended_ns(delivery))
                known = [end_ns for end_ns in ends if end_ns is not None]
                for queue in (None, message.queue):
                    of = steps[delivery.consumer, queue]
                    of.append((delivery.received_ns, 1))
                    if known:
                        of.append((max(delivery.received_ns, min(known)), -1))
        self._full = {of: _Full(sorted(own)) for of, own in steps.items() if facts.acknowledges}

    def had(self, queue: str, wait: Wait, from_ns: int, until_ns: int) -> bool:
        """Return whether the consumer of that wait had capacity for half of the time at least."""
        drained = wait.until_ns == inf
        consumers = self._consumers[queue] if drained else {wait.consumer}
        return not self._polls and any(
            all(
                self._full_ns((consumer, of), from_ns, until_ns) * 2 <= until_ns - from_ns
                for of in (None, queue)
            )
            for consumer in consumers
        )

    def _full_ns(self, of: tuple[int, str | None], from_ns: int, until_ns: int) -> int:
        full = self._full.get(of)
        return 0 if full is None else full.until(until_ns) - full.until(from_ns)


class _Full:
    """The time for which one consumer had been full (of a queue), over time.

    `steps`: (time, +1 or -1) in order.
    """

    def __init__(self, steps: Sequence[tuple[int, int]]) -> None:
        self._times = [at_ns for at_ns, _ in steps]
        held = list(accumulate(step for _, step in steps))
        most = max(held)
        self._full = [many == most for many in held]
        pieces = (
            (later - at_ns) * full
            for at_ns, later, full in zip(self._times, self._times[1:], self._full, strict=False)
        )
        self._before = list(accumulate(pieces, initial=0))

    def until(self, at_ns: int) -> int:
        place = bisect_right(self._times, at_ns) - 1
        if place < 0:
            return 0
        return self._before[place] + (at_ns - self._times[place]) * self._full[place]


def longest(
    queue: str,
    time: tuple[int, int],
    waits: Sequence[Wait],
    came_ns: Sequence[int],
    capacity: ConsumerCapacity,
) -> tuple[int, int]:
    """The longest time for which a message was withheld within that time, and since when; of
    equals the earliest. `came_ns`: when consumers got something for the first time, in order."""
    from_ns, until_ns = time
    by_ready = sorted(waits, key=lambda wait: wait.ready_ns)
    ready_ns = [wait.ready_ns for wait in by_ready]
    soonest = list(accumulate((w.until_ns for w in reversed(by_ready)), min, initial=inf))[::-1]
    found = (0, from_ns)
    for wait in by_ready:
        start, end = max(wait.ready_ns, from_ns), int(min(wait.until_ns, until_ns))
        if end - start <= STRETCH_NS:
            continue
        given = max(0, bisect_left(came_ns, end) - bisect_right(came_ns, start))
        ready = bisect_left(ready_ns, end) - bisect_left(ready_ns, start)
        if given * 2 >= max(1, ready):
            start = int(max(start, min(end, soonest[bisect_right(ready_ns, wait.ready_ns)])))
        long = end - start
        better = long > found[0] or (long == found[0] and start < found[1])
        if long > STRETCH_NS and better and capacity.had(queue, wait, start, end):
            found = long, start
    return found
