"""The absences of workers that a fault had frozen, killed, or kept from starting.

1. A publish that was open at such a time does not count against the broker: no worker sent it, or
   none read its confirm.
2. A worker that runs late because of its own absence is no stall of the instrument.
"""

from collections.abc import Iterable

from spark_analysis.schema.facts import Absence, Facts

_FOR_EVER_NS = 2**63


class Absences:
    """The absences of one run, by worker."""

    def __init__(self, facts: Facts) -> None:
        self._of: dict[int, list[Absence]] = {}
        for absence in facts.absences:
            if absence.until_ns is not None and absence.until_ns <= absence.from_ns:
                continue  # it was over before it began
            self._of.setdefault(absence.worker, []).append(absence)

    def touch(self, worker: int, from_ns: int, last_ns: int) -> bool:
        """Return whether the worker was away at any instant of [from_ns, last_ns]."""
        return any(
            absence.from_ns <= last_ns and (absence.until_ns is None or from_ns < absence.until_ns)
            for absence in self._of.get(worker, ())
        )

    def times(self, worker: int) -> list[tuple[int, int]]:
        """From when until when the worker was away; for ever is later than anything."""
        return [
            (absence.from_ns, _FOR_EVER_NS if absence.until_ns is None else absence.until_ns)
            for absence in self._of.get(worker, ())
        ]

    def all_touch(self, workers: Iterable[int], from_ns: int, until_ns: int) -> bool:
        """Return whether there are workers and each was away at some time of [from, until)."""
        touched = [self.touch(worker, from_ns, until_ns - 1) for worker in workers]
        return from_ns < until_ns and bool(touched) and all(touched)
