"""The share on time by second during a run, from what publishers have reported so far.

1. This is a preview; verdicts use the recorded data. For seconds that every publisher reported
   both are the same. They differ if a publisher died before its last report, and in seconds in
   which a client was kept away: the strip omits the whole second, verdicts omit single publishes.
2. A second is known LATEST_NS after the last deadline of its publishes, or when all publishers
   have closed. Until then it is pending.
3. Pure: times are nanoseconds of run time, seconds are counted from the run's origin.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spark_analysis.schema.facts import Absence

SECOND_NS = 1_000_000_000
LATEST_NS = SECOND_NS  # publishers report twice a second
LONGEST = 600  # seconds; a long load is not summed from its beginning each time


@dataclass(frozen=True, slots=True)
class Share:
    """The publishes due in one second, and how many were confirmed by their deadline."""

    due: int
    on_time: int


@dataclass(frozen=True, slots=True)
class Spell:
    """A fault from its action to its undo; None: it is active, or is never undone."""

    title: str
    from_ns: int
    until_ns: int | None


@dataclass(frozen=True, slots=True)
class PublisherSeconds:
    """One publisher's seconds: how many publishes were due, and how many were on time."""

    publisher: int
    seconds: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Load:
    """The time of the load, and the deadline of a publish."""

    from_ns: int
    until_ns: int | None  # None: it goes on
    deadline_ns: int
    closed: bool = False  # every publisher has sent its last report


@dataclass(frozen=True, slots=True)
class Strip:
    """The seconds of the load up to now, in order; None: no publisher reported that second.

    `pending`: seconds after them that are not known yet. `left_out`: seconds before them.
    """

    first: int
    known: tuple[Share | None, ...]
    pending: int
    faults: tuple[Spell, ...] = ()
    left_out: int = 0


def strip(
    load: Load, now_ns: int, reports: Sequence[PublisherSeconds], absences: Sequence[Absence]
) -> Strip:
    """Return the strip without the faults."""
    began, end = load.from_ns // SECOND_NS, _end(load, now_ns, reports)
    left_out = -(-max(0, end - began - LONGEST) // 10) * 10
    first = began + left_out
    # From there on nothing is known.
    final = end if load.closed else (now_ns - load.deadline_ns - LATEST_NS) // SECOND_NS
    known = range(first, max(first, min(final, end)))
    shares = tuple(_share(second, reports, absences, load.deadline_ns) for second in known)
    return Strip(first, shares, max(0, end - known.stop), left_out=left_out)


def _end(load: Load, now_ns: int, reports: Iterable[PublisherSeconds]) -> int:
    """Return the second after the last one in which a publish was due."""
    if load.until_ns is None:
        return now_ns // SECOND_NS + 1
    # A publisher hears of the end a little after it.
    return (
        max([load.until_ns // SECOND_NS, *(second for one in reports for second in one.seconds)])
        + 1
    )


def _share(
    second: int, reports: Iterable[PublisherSeconds], absences: Sequence[Absence], deadline_ns: int
) -> Share | None:
    found = [(one.publisher, one.seconds[second]) for one in reports if second in one.seconds]
    if not found:
        return None
    counted = [
        share
        for publisher, share in found
        if not any(_away(absence, publisher, second, deadline_ns) for absence in absences)
    ]
    return Share(sum(due for due, _ in counted), sum(on_time for _, on_time in counted))


def _away(absence: Absence, publisher: int, second: int, deadline_ns: int) -> bool:
    """Return whether the publisher was away between a second's begin and its last deadline."""
    from_ns = second * SECOND_NS
    return (
        absence.worker == publisher
        and from_ns + SECOND_NS + deadline_ns > absence.from_ns
        and (absence.until_ns is None or from_ns < absence.until_ns)
    )
