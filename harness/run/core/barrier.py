"""PURE: the barrier of runs that are played together: which run has arrived at which point.

1. A point is met when every participating run has arrived. A run that arrives later does not wait.
2. After a run withdraws, no other run waits for it, and its proposals stop counting. It may still
   arrive at points, and waits there for the participating runs.
3. A fault is injected only if every run can suffer it and it means the same target in all. Else
   each run would have a different fault.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from spark_analysis.schema.words import UnverifiedCause


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a window does not open."""

    text: str
    cause: UnverifiedCause = UnverifiedCause.NEVER_BEGAN


@dataclass(frozen=True, slots=True)
class TargetProposal:
    """The target that a run's fault means now (faults/core/places.py), or why there is none."""

    meant: str
    refusal: Refusal | None = None


NOTHING = TargetProposal("")  # of a run that only arrives


@dataclass(slots=True)
class _Point:
    arrived: dict[str, TargetProposal] = field(default_factory=dict)
    # Those of the runs that took part when the point was met; None: it is not met.
    proposals: Mapping[str, TargetProposal] | None = None


class Barrier:
    """A barrier for runs, which it knows by their names."""

    def __init__(self, runs: Collection[str]) -> None:
        self._taking_part = list(runs)
        self._points: dict[str, _Point] = {}

    def arrive(self, run: str, point: str, proposal: TargetProposal = NOTHING) -> tuple[str, ...]:
        """Return the points that this meets."""
        self._points.setdefault(point, _Point()).arrived[run] = proposal
        return self._newly_met()

    def withdraw(self, run: str) -> tuple[str, ...]:
        """Return the points that this meets. A second call is harmless."""
        if run in self._taking_part:
            self._taking_part.remove(run)
        return self._newly_met()

    def met(self, point: str) -> bool:
        return point in self._points and self._points[point].proposals is not None

    def proposals(self, point: str) -> Mapping[str, TargetProposal]:
        """Return the proposals of the runs that took part when the point was met."""
        proposals = self._points[point].proposals
        assert proposals is not None, f"{point} is not met"
        return proposals

    def others_go_on(self, run: str) -> bool:
        """Return whether the run has withdrawn while others still take part."""
        return run not in self._taking_part and bool(self._taking_part)

    def _newly_met(self) -> tuple[str, ...]:
        found = []
        for name, point in self._points.items():
            if point.proposals is None and all(run in point.arrived for run in self._taking_part):
                point.proposals = {run: point.arrived[run] for run in self._taking_part}
                found.append(name)
        return tuple(found)


def disagreement(run: str, proposals: Mapping[str, TargetProposal]) -> Refusal | None:
    """Return why the run does not get the proposed fault; None if every run gets it."""
    own = proposals.get(run, NOTHING)
    if own.refusal is not None:
        return own.refusal
    for other, proposal in proposals.items():
        if (refusal := proposal.refusal) is not None:
            text = f"{other}, played together with it, could not: {refusal.text}"
            return Refusal(text, refusal.cause)
        if run in proposals and proposal.meant != own.meant:
            theirs = f"{proposal.meant} in {other}, played together with it"
            return Refusal(f"it means {own.meant} here, and {theirs}")
    return None
