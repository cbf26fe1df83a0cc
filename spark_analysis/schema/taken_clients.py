"""The clients that each fault of client processes took, as far as absences show.

1. An absence belongs to the fault that was in force when it began. If several overlap then, it
   belongs to the one that began last: the others had taken their clients before. Faults that
   began at one instant share it.
2. Without any absence of its own a fault may have taken every client.
"""

from collections.abc import Iterable

from spark_analysis.schema.facts import Facts, LeadershipChange, Unsettled, Window


def known_taken(facts: Facts, window: Unsettled) -> frozenset[int] | None:
    """Return the workers that a fault of client processes took. None: the records do not say, or
    it is another fault, which may have affected any."""
    if isinstance(window, LeadershipChange) or not window.of_clients:
        return None
    return taken(facts, window) or None


def taken(facts: Facts, window: Window) -> frozenset[int]:
    """Return the workers that a fault of client processes took; none if no record says whom."""
    of_clients = [one for one in facts.windows if one.of_clients]
    return frozenset(
        one.worker
        for one in facts.absences
        if _began_last_ns(of_clients, one.from_ns) == window.origin_ns
    )


def _began_last_ns(windows: Iterable[Window], at_ns: int) -> int | None:
    """Return the origin of the one that began last of those in force then; None: none was."""
    return max(
        (
            one.origin_ns
            for one in windows
            if one.origin_ns <= at_ns and (one.ended_ns is None or at_ns <= one.ended_ns)
        ),
        default=None,
    )
