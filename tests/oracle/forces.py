"""The time in which each fault was certainly in force, and when it was verified as ended.

1. A fault whose undo has begun is no longer certainly in force. If no record shows when the undo
   was issued, the fault was in force until the undo had returned. One that was never undone was in
   force to the end of load.
2. If a step was recorded twice, the first counts.
3. Faults of the cluster that are in force one into another overlap, and recovery begins only after
   the last of them. A fault of one client alone does not join another's overlap. If no record
   says when a fault was gone, the overlap is found for the earliest and for the latest time.
4. If the next fault comes before service can be judged again, what was broken between them was
   broken by them: the load was not degraded before.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from spark_analysis.schema.facts import Facts, Window
from tests.oracle.events import Step
from tests.oracle.windows import faulted


@dataclass(frozen=True, slots=True)
class OverlappingFaults:
    """Faults in force one into another; `next_ns`: the next fault's origin, or the end of load.

    `begins_ns`: when the first of them began, or of those before that left no time to recover.
    """

    begins_ns: int
    over_ns: int
    next_ns: int

    def moved(self, by_ns: int) -> "OverlappingFaults":
        """Return the same times, as a clock shows them that is ahead by so much."""
        return OverlappingFaults(
            self.begins_ns + by_ns, self.over_ns + by_ns, self.next_ns + by_ns
        )


@dataclass(frozen=True, slots=True)
class Force:
    """One fault, with the times that bound its verdicts."""

    window: Window
    limit_ns: int  # the end of its judged time
    undo_ns: int | None  # when its undo was issued
    end_ns: int  # in force until then
    overlaps: tuple[OverlappingFaults, ...]  # the earliest, and the latest; (): never over

    @property
    def number(self) -> int:
        return self.window.number

    @property
    def origin_ns(self) -> int:
        return self.window.origin_ns

    @property
    def returned_ns(self) -> int:
        return self.window.returned_ns

    def undone_by(self, at_ns: int) -> bool:
        """Return whether its undo had certainly been issued by then: it had when it returned."""
        known_ns = self.window.ended_ns if self.undo_ns is None else self.undo_ns
        return known_ns is not None and at_ns >= known_ns

    def moved(self, by_ns: int) -> "Force":
        """Return the same fault, as a clock shows it that is ahead by so much."""
        window, undo_ns = self.window, self.undo_ns
        ended_ns = None if window.ended_ns is None else window.ended_ns + by_ns
        return Force(
            replace(
                window,
                origin_ns=window.origin_ns + by_ns,
                returned_ns=window.returned_ns + by_ns,
                ended_ns=ended_ns,
            ),
            self.limit_ns + by_ns,
            None if undo_ns is None else undo_ns + by_ns,
            self.end_ns + by_ns,
            tuple(one.moved(by_ns) for one in self.overlaps),
        )


def forces(facts: Facts, steps: Iterable[Step]) -> tuple[Force, ...]:
    """Every fault, in the order of the schedule."""
    noted: dict[tuple[int, str], int] = {}
    for step in steps:
        key = step.window, step.event
        noted[key] = min(step.at_ns, noted.get(key, step.at_ns))
    gone = {w.number: w.gone_between_ns(noted.get((w.number, "gone"))) for w in facts.windows}
    earliest = {number: between and between[0] for number, between in gone.items()}
    latest = {number: between and between[1] for number, between in gone.items()}
    found = []
    for fault in faulted(facts):
        window = fault.window
        undo_ns = noted.get((window.number, "undo_issued"))
        ends_ns = [at_ns for at_ns in (undo_ns, window.ended_ns) if at_ns is not None]
        end_ns = min([*ends_ns[:1], facts.load_ended_ns])
        either = [_overlap(facts, window, gone_ns) for gone_ns in (earliest, latest)]
        known = [one for one in either if one is not None]
        overlaps = tuple(dict.fromkeys(known)) if len(known) == len(either) else ()
        found.append(Force(window, fault.until_ns, undo_ns, end_ns, overlaps))
    return tuple(found)


def _overlap(
    facts: Facts, window: Window, gone: Mapping[int, int | None]
) -> OverlappingFaults | None:
    inside = {window.number: window}
    while True:
        ends_ns = [gone[number] for number in inside]
        known_ns = [at_ns for at_ns in ends_ns if at_ns is not None]
        if len(known_ns) < len(ends_ns):
            return None
        begins_ns, over_ns = min(one.origin_ns for one in inside.values()), max(known_ns)
        more = {}
        for other in facts.windows:
            other_ns = gone[other.number]
            lasts = other_ns is None or other_ns >= begins_ns
            alone = other.number in inside or other.of_clients
            if not alone and other.origin_ns <= over_ns and lasts:
                more[other.number] = other
        if not more:
            break
        inside |= more
    later = [one.origin_ns for one in facts.windows if one.origin_ns > over_ns]
    begins_ns = _unhealed_since(facts, gone, begins_ns)
    return OverlappingFaults(begins_ns, over_ns, min([*later, facts.load_ended_ns]))


def _unhealed_since(facts: Facts, gone: Mapping[int, int | None], begins_ns: int) -> int:
    """Return when the first began of the faults of the cluster that were followed, one by the
    other, before service could be judged again."""
    back_ns = facts.deadline_ns + facts.reconnect_ns
    while True:
        earlier_ns = [
            one.origin_ns
            for one in facts.windows
            if one.origin_ns < begins_ns
            and not one.of_clients
            and (gone_ns := gone[one.number]) is not None
            and gone_ns + back_ns >= begins_ns
        ]
        if not earlier_ns:
            return begins_ns
        begins_ns = min(earlier_ns)
