"""How long each fault was in force for certain, and when it was seen to be gone.

1. A fault that is being undone is in force no more for certain. Where nobody noted when the undo
   was issued it was in force until the undo had returned; one that was never undone, to the end of
   load.
2. Of steps that were noted twice the first counts.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from spark_analysis.definition.events import Step
from spark_analysis.definition.windows import faulted
from spark_analysis.schema.facts import Facts, Window


@dataclass(frozen=True, slots=True)
class Force:
    """One fault, with the times that bound what is asked of it."""

    window: Window
    limit_ns: int  # the end of its judged time
    undo_ns: int | None  # when its undo was issued
    gone_ns: int | None  # when it was seen to be gone
    end_ns: int  # in force until then
    next_ns: int  # the next fault's origin, or the end of load

    @property
    def number(self) -> int:
        return self.window.number

    @property
    def origin_ns(self) -> int:
        return self.window.origin_ns

    @property
    def returned_ns(self) -> int:
        return self.window.returned_ns


def forces(facts: Facts, steps: Iterable[Step]) -> tuple[Force, ...]:
    """Every fault, in the order of the schedule."""
    noted: dict[tuple[int, str], int] = {}
    for step in steps:
        key = step.window, step.event
        noted[key] = min(step.at_ns, noted.get(key, step.at_ns))
    windows = faulted(facts)
    origins = [fault.window.origin_ns for fault in windows[1:]]
    nexts = [min(at_ns, facts.load_ended_ns) for at_ns in origins] + [facts.load_ended_ns]
    found = []
    for fault, next_ns in zip(windows, nexts, strict=False):
        window = fault.window
        undo_ns = noted.get((window.number, "undo_issued"))
        gone_ns = noted.get((window.number, "gone"))
        ends_ns = [at_ns for at_ns in (undo_ns, window.ended_ns) if at_ns is not None]
        end_ns = min([*ends_ns[:1], facts.load_ended_ns])
        found.append(Force(window, fault.until_ns, undo_ns, gone_ns, end_ns, next_ns))
    return tuple(found)
