"""Scopes: the run, each queue, each publisher, with the publishes that were due of each.

1. Due is what was intended within the load.
2. The run is there even if nothing was due.
3. Publishes are in order of their intended time; a place among them is a number from 0 on.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from spark_analysis.schema.facts import Facts
from spark_analysis.schema.service import ENOUGH, LEAST, PUBLISHER, QUEUE, RUN, STRETCH_NS
from tests.oracle.publishes import Publish


@dataclass(frozen=True, slots=True)
class Scope:
    """The publishes that were due of the run, or of one queue or publisher."""

    kind: str
    name: str
    publishes: Sequence[Publish]
    intended_ns: Sequence[int]
    bad_before: Sequence[int]  # by place: how many of the earlier ones were bad

    @property
    def size(self) -> int:
        return len(self.publishes)

    @property
    def least(self) -> int:
        """Return the least number of publishes in a stretch."""
        return LEAST[self.kind]

    @property
    def enough(self) -> int:
        """Return the least number of publishes that is evidence."""
        return ENOUGH[self.kind]

    def before(self, at_ns: int) -> int:
        """Return how many were intended before then; the place of the first that was not."""
        return bisect_left(self.intended_ns, at_ns)

    def by(self, at_ns: int) -> int:
        """Return how many were intended by then."""
        return bisect_right(self.intended_ns, at_ns)

    def due(self, from_ns: int, until_ns: int) -> int:
        """Return how many were intended within [from_ns, until_ns)."""
        return max(0, self.before(until_ns) - self.before(from_ns))

    def bad(self, start: int, end: int) -> int:
        """Return how many at the places [start, end) were bad."""
        return self.bad_before[end] - self.bad_before[start] if start < end else 0

    def length(self, from_ns: int) -> int:
        """Return how many publishes a stretch from there would have at least."""
        return max(self.least, self.due(from_ns, from_ns + STRETCH_NS))


def scopes(facts: Facts, publishes: Sequence[Publish]) -> tuple[Scope, ...]:
    """The run's is the first. `operations` in the order of their intended time."""
    due = [
        one for one in publishes if facts.load_started_ns <= one.intended_ns <= facts.load_ended_ns
    ]
    queues, publishers = (
        defaultdict[str, list[Publish]](list),
        defaultdict[str, list[Publish]](list),
    )
    for publish in due:
        queues[publish.message.queue].append(publish)
        publishers[str(publish.message.producer)].append(publish)
    return (
        _scope(RUN, "", due),
        *(_scope(QUEUE, name, queues[name]) for name in sorted(queues)),
        *(_scope(PUBLISHER, name, publishers[name]) for name in sorted(publishers)),
    )


def _scope(kind: str, name: str, publishes: Iterable[Publish]) -> Scope:
    these = tuple(publishes)
    bad_before = tuple(accumulate((int(one.missed) for one in these), initial=0))
    return Scope(kind, name, these, tuple(one.intended_ns for one in these), bad_before)
