"""The times in which clients were not there, by their own doing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from spark_analysis.schema.service import PUBLISHER, QUEUE, RUN, Outage

Times = Sequence[tuple[int, int]]  # [from, until) in ns of run time, in order


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A publish that its publisher did not send in time, by its own doing as far as is known."""

    intended_ns: int
    queue: str
    producer: int

    @property
    def names(self) -> Mapping[str, str]:
        """Return the names of its scopes."""
        return {RUN: "", QUEUE: self.queue, PUBLISHER: str(self.producer)}


@dataclass(frozen=True, slots=True)
class Attendance:
    """When a consumer was not there, and when no consumer of a queue could receive anything.

    Clients of our own runs are always there: without an entry they were.
    """

    away: Mapping[int, Times] = field(default_factory=dict)  # by consumer
    idle: Mapping[str, Times] = field(default_factory=dict)  # by queue
    # Whether publishers waited for confirms until a deadline after the load.
    waited: bool = True
    # By queue, and of all queues by "": when no attempt at rate `max` waited for its answer.
    paused: Mapping[str, Times] = field(default_factory=dict)
    # Publishes that went out too late, or never, though their publisher waited for no answer.
    held_back: Sequence[HeldBack] = ()

    def was_away(self, consumer: int, from_ns: int, until_ns: int) -> bool:
        """Return whether it was not there at some instant of that time."""
        return _within(self.away.get(consumer, ()), from_ns, until_ns) > 0

    def held_back_within(self, of: Outage) -> int:
        """Return how many publishes of an outage their publishers held back."""
        return sum(
            of.from_ns <= one.intended_ns < of.until_ns and of.name == one.names[of.scope]
            for one in self.held_back
        )

    def idle_ns(self, queue: str, from_ns: int, until_ns: int) -> int:
        """Return how much of that time no consumer of the queue could receive anything."""
        return _within(self.idle.get(queue, ()), from_ns, until_ns)


def _within(times: Times, from_ns: int, until_ns: int) -> int:
    cut = ((max(start_ns, from_ns), min(end_ns, until_ns)) for start_ns, end_ns in times)
    return sum(end_ns - start_ns for start_ns, end_ns in cut if end_ns > start_ns)
