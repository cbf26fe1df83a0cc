"""The times in which an operation may explain what a claim about a fault refutes.

1. An outage, a wait or a loss that an operation explains begins before the operation is over. A
   leader may move later still; that is in `Facts.leadership_changes`.
2. Older runs recorded only the latter, and called unplanned ends of processes operations, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

NOTICED_WITHIN_NS = 500_000_000  # so late a deployment may report that a process has ended


@dataclass(frozen=True, slots=True)
class OperationTime:
    """The time of one operation; run time in ns."""

    origin_ns: int  # the instant before it began
    over_ns: int | None  # nothing that it explains begins later; None: unknown
    out_until_ns: int | None = None  # an outage that it explains may last so long; None: for good
    moves_leader: bool = True  # False: it explains outages and waits, but no loss


class _Change(Protocol):
    @property
    def origin_ns(self) -> int: ...
    @property
    def over_ns(self) -> int | None: ...
    @property
    def of_process_end(self) -> bool: ...


def of_older_run(changes: Iterable[_Change], ends_ns: Iterable[int]) -> tuple[OperationTime, ...]:
    """Return the operations among leadership changes. `ends_ns`: when the deployment noticed
    unplanned ends of processes."""
    noticed = {at_ns - NOTICED_WITHIN_NS for at_ns in ends_ns}
    return tuple(
        OperationTime(one.origin_ns, one.over_ns)
        for one in changes
        if not one.of_process_end and (one.over_ns is not None or one.origin_ns not in noticed)
    )
