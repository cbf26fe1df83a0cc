"""The backlog: how many messages are confirmed and have yet to be delivered, as time goes by.

1. A message is in it from its confirm until its first delivery. One that is never delivered is
   left out: its loss is counted elsewhere, and it would hide that all others came.
2. A delayed message is not late before it is due. When a broker asks for a commit nobody knows, so
   what waits for that is left out, too.
3. What only the drain brought was in the backlog until the end.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from spark_analysis.definition.messages import Message
from spark_analysis.schema.words import Fate, Via


@dataclass(frozen=True, slots=True)
class Backlog:
    """How deep the backlog is from each time on; before the first it is empty."""

    levels: tuple[tuple[int, int], ...]  # (from_ns, depth), by time

    def largest(self, from_ns: int, before_ns: int) -> int:
        """The deepest it was within [from_ns, before_ns); 0 if that is no time at all."""
        if before_ns <= from_ns:
            return 0
        within = (depth for at_ns, depth in self.levels if from_ns <= at_ns < before_ns)
        return max(self._at(from_ns), max(within, default=0))

    def settled_ns(self, base: int, from_ns: int, until_ns: int) -> int | None:
        """From when on it stays at `base` or below until `until_ns`; None: it does not."""
        if self._at(until_ns) > base:
            return None
        settled_ns = from_ns
        above = False
        for at_ns, depth in self.levels:
            if at_ns > until_ns:
                break
            if above and depth <= base:
                settled_ns = max(settled_ns, at_ns)
            above = depth > base
        return settled_ns

    def _at(self, time_ns: int) -> int:
        before = [depth for at_ns, depth in self.levels if at_ns <= time_ns]
        return before[-1] if before else 0


def of(messages: Iterable[Message]) -> Backlog:
    steps = Counter[int]()
    for message in messages:
        confirmed_ns, consumed = message.confirmed_ns, message.consumed
        if confirmed_ns is None or not consumed or message.fate is Fate.COMMIT_WHEN_ASKED:
            continue
        first = consumed[0]
        from_ns = max([confirmed_ns, *(terms.due_ns for terms in message.terms if terms.delayed)])
        if first.via is Via.DRAIN:
            steps[from_ns] += 1
        elif from_ns < first.received_ns:
            steps[from_ns] += 1
            steps[first.received_ns] -= 1
    times = sorted(steps)
    depths = accumulate(steps[at_ns] for at_ns in times)
    return Backlog(tuple(zip(times, depths, strict=True)))
