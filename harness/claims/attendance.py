"""The times in which clients were not there, by their own doing."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spark_analysis.schema.service import PUBLISHER, QUEUE, RUN, Outage

Times = Sequence[tuple[int, int]]  # [from, until) in ns of run time, in order


@dataclass(frozen=True, slots=True)
class LatePublish:
    """A publish that was not confirmed in time, perhaps by its publisher's own doing."""

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
    # By queue, and of all queues by "": when no attempt at rate `max` waited for its answer.
    paused: Mapping[str, Times] = field(default_factory=dict)
    # Publishes that went out too late, or never, though their publisher waited for no answer.
    held_back: Sequence[LatePublish] = ()
    # Late publishes of the last deadline of the load, if no publisher waited for their confirms.
    not_waited: Sequence[LatePublish] = ()

    def was_away(self, consumer: int, from_ns: int, until_ns: int) -> bool:
        """Return whether it was not there at some instant of that time."""
        return _within(self.away.get(consumer, ()), from_ns, until_ns) > 0

    def idle_ns(self, queue: str, from_ns: int, until_ns: int) -> int:
        """Return how much of that time no consumer of the queue could receive anything."""
        return _within(self.idle.get(queue, ()), from_ns, until_ns)


def number_within(publishes: Iterable[LatePublish], of: Outage) -> int:
    """Return how many of these publishes belong to an outage."""
    return sum(
        of.from_ns <= one.intended_ns < of.until_ns and of.name == one.names[of.scope]
        for one in publishes
    )


def _within(times: Times, from_ns: int, until_ns: int) -> int:
    cut = ((max(start_ns, from_ns), min(end_ns, until_ns)) for start_ns, end_ns in times)
    return sum(end_ns - start_ns for start_ns, end_ns in cut if end_ns > start_ns)
