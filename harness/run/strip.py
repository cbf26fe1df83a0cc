"""The share on time by second while a run goes on: what publishers told so far, put together.

1. A preview; what is judged is what was recorded. For seconds that every publisher told both are
   the same. They differ where a publisher died before it told its last ones, and in the seconds
   that a client was kept away in: here they are left out whole, there publish by publish.
2. A second is known LATEST_NS after the last deadline of its publishes, or when all publishers
   have closed; until then it is pending.
3. Pure: times are nanoseconds of run time, seconds are counted from the run's origin.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spark_analysis.schema.facts import Absence

SECOND_NS = 1_000_000_000
LATEST_NS = SECOND_NS  # publishers speak twice a second
LONGEST = 600  # seconds; a long load is not put together from its beginning again and again


@dataclass(frozen=True, slots=True)
class Share:
    """What was due in one second, and how much of it was confirmed by its deadline."""

    due: int
    on_time: int


@dataclass(frozen=True, slots=True)
class Spell:
    """A fault from its action to its undo; None: it stands, or is never undone."""

    title: str
    from_ns: int
    until_ns: int | None


@dataclass(frozen=True, slots=True)
class Told:
    """One publisher's seconds: how many were due, and on time."""

    publisher: int
    seconds: Mapping[int, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Load:
    """Since when there is load, and how long a publish has."""

    from_ns: int
    until_ns: int | None  # None: it goes on
    deadline_ns: int
    closed: bool = False  # every publisher has told its last


@dataclass(frozen=True, slots=True)
class Strip:
    """The seconds of the load up to now, in order; None where nobody told a second that is over.
    After them come as many that nobody can know yet, before them as many that are left out."""

    first: int
    known: tuple[Share | None, ...]
    pending: int
    faults: tuple[Spell, ...] = ()
    left_out: int = 0


def strip(load: Load, now_ns: int, told: Sequence[Told], absences: Sequence[Absence]) -> Strip:
    """Without the faults."""
    began, end = load.from_ns // SECOND_NS, _end(load, now_ns, told)
    left_out = -(-max(0, end - began - LONGEST) // 10) * 10
    first = began + left_out
    # From there on nothing is known.
    final = end if load.closed else (now_ns - load.deadline_ns - LATEST_NS) // SECOND_NS
    known = range(first, max(first, min(final, end)))
    shares = tuple(_share(second, told, absences, load.deadline_ns) for second in known)
    return Strip(first, shares, max(0, end - known.stop), left_out=left_out)


def _end(load: Load, now_ns: int, told: Iterable[Told]) -> int:
    """The second after the last one that anything was due in."""
    if load.until_ns is None:
        return now_ns // SECOND_NS + 1
    # A publisher hears of the end a little after it.
    return (
        max([load.until_ns // SECOND_NS, *(second for one in told for second in one.seconds)]) + 1
    )


def _share(
    second: int, told: Iterable[Told], absences: Sequence[Absence], deadline_ns: int
) -> Share | None:
    found = [(one.publisher, one.seconds[second]) for one in told if second in one.seconds]
    if not found:
        return None
    counted = [
        share
        for publisher, share in found
        if not any(_away(absence, publisher, second, deadline_ns) for absence in absences)
    ]
    return Share(sum(due for due, _ in counted), sum(on_time for _, on_time in counted))


def _away(absence: Absence, publisher: int, second: int, deadline_ns: int) -> bool:
    """Whether it was away at any time between a second's begin and its last deadline."""
    from_ns = second * SECOND_NS
    return (
        absence.worker == publisher
        and from_ns + SECOND_NS + deadline_ns > absence.from_ns
        and (absence.until_ns is None or from_ns < absence.until_ns)
    )
