"""Runs that are played together meet: who has come to which point, and whom nobody waits for.

1. A point is met when every run that takes part has come to it; who comes later finds it met.
2. A run that withdraws is waited for by nobody, and what it says counts no more. It may come to
   points all the same: there it waits for those that take part.
3. A fault that not all of them can suffer, or that does not mean the same to all, is none of
   theirs: to each run it would be another one.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Aim:
    """Whom a run's fault means now (faults/places.py), or why it cannot be: then nobody."""

    meant: str
    refusal: str = ""


NOTHING = Aim("")  # what a run says that only comes


@dataclass(slots=True)
class _Point:
    come: dict[str, Aim] = field(default_factory=dict)
    said: Mapping[str, Aim] | None = None  # by who took part when it was met; None: it is not met


class Rendezvous:
    """Of runs, by their names."""

    def __init__(self, runs: Collection[str]) -> None:
        self._taking_part = list(runs)
        self._points: dict[str, _Point] = {}

    def come(self, run: str, point: str, aim: Aim = NOTHING) -> tuple[str, ...]:
        """The points that are met by that."""
        self._points.setdefault(point, _Point()).come[run] = aim
        return self._newly_met()

    def withdraw(self, run: str) -> tuple[str, ...]:
        """The points that are met by that; again is harmless."""
        if run in self._taking_part:
            self._taking_part.remove(run)
        return self._newly_met()

    def met(self, point: str) -> bool:
        return point in self._points and self._points[point].said is not None

    def said(self, point: str) -> Mapping[str, Aim]:
        """What those said who took part when the point was met."""
        said = self._points[point].said
        assert said is not None, f"{point} is not met"
        return said

    def others_go_on(self, run: str) -> bool:
        """Whether a run has withdrawn, and others take part still."""
        return run not in self._taking_part and bool(self._taking_part)

    def _newly_met(self) -> tuple[str, ...]:
        found = []
        for name, point in self._points.items():
            if point.said is None and all(run in point.come for run in self._taking_part):
                point.said = {run: point.come[run] for run in self._taking_part}
                found.append(name)
        return tuple(found)


def disagreement(run: str, said: Mapping[str, Aim]) -> str:
    """Why a run suffers no fault that these runs aimed; "" where all of them suffer it."""
    own = said.get(run, NOTHING)
    if own.refusal:
        return own.refusal
    for other, aim in said.items():
        if aim.refusal:
            return f"{other}, played together with it, could not: {aim.refusal}"
        if run in said and aim.meant != own.meant:
            return (
                f"it means {own.meant} here, and {aim.meant} in {other}, played together with it"
            )
    return ""
