"""The times in which a queue may have changed its leader: under faults, and under operations.

1. Such a time ends when its end was observed. If a host never returns, it ends once serving and
   consuming have resumed: the change of leader is done then. Else its end is unknown.
2. It lies between two deliveries if it began before the later and was not over before the earlier
   one. Whether the fault was verified, and of what kind it is, does not matter.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from spark_analysis.schema.availability import Stage
from spark_analysis.schema.facts import Facts, Window
from spark_analysis.schema.taken_clients import known_taken


@dataclass(frozen=True, slots=True)
class Unrest:
    """One such time. None: the time of its end is unknown."""

    number: int | None  # of the fault window; None: of an operation
    origin_ns: int
    over_ns: int | None
    effective_ns: int  # by then its fault was in force; of an operation its origin
    taken: frozenset[int] | None = None  # the only clients that it affected; None: any

    def lasts_to(self, at_ns: int) -> bool:
        """Return whether it was not over before then."""
        return self.over_ns is None or self.over_ns >= at_ns


def unrest(facts: Facts, stages: Iterable[Stage]) -> tuple[Unrest, ...]:
    reached = {(row.window, row.stage): row.after_ns for row in stages if row.reached}
    windows = sorted(facts.windows, key=lambda window: window.number)
    return (
        *(
            Unrest(
                window.number,
                window.origin_ns,
                _over_ns(window, reached),
                window.returned_ns,
                known_taken(facts, window),
            )
            for window in windows
        ),
        *(Unrest(None, each.origin_ns, each.over_ns, each.origin_ns) for each in facts.unplanned),
    )


def _over_ns(window: Window, reached: dict[tuple[int, str], int]) -> int | None:
    if window.over_ns is not None or window.ended_ns is not None:
        return window.over_ns
    served = reached.get((window.number, "first_success"))
    consumed = reached.get((window.number, "consumers_resumed"))
    if served is None or consumed is None:
        return None
    return window.origin_ns + max(served, consumed) - 1
