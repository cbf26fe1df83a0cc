"""Which runs of an experiment are still wanted, where each cell goes on until a bound is reached.

1. A cell is over when a promise was broken, when so many runs as the bound takes were judged
   without, or when more could not be judged than there are to spare.
2. Every run that was begun counts, whatever came of it; those of a cell that is over are not
   begun, and are no runs of the experiment any more.
3. Without a bound every run is wanted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from harness.claims.judge import ClaimVerdict
from harness.compare.rates import decided, rate, violates
from harness.plan.bound import Bound
from harness.plan.model import Cell, Experiment, RunPlan


@dataclass(slots=True)
class _Count:
    judged: int = 0
    unjudged: int = 0
    over: bool = False


@dataclass(slots=True)
class Bounded:
    """An experiment on its way."""

    bound: Bound | None
    _cells: dict[Cell, _Count] = field(default_factory=dict)
    _begun: set[str] = field(default_factory=set)

    def wanted(self, plan: RunPlan) -> bool:
        """Asked once of each run, just before it would begin."""
        if self.bound is not None and self._of(plan).over:
            return False
        self._begun.add(plan.name)
        return True

    def ended(self, plan: RunPlan, verdicts: Sequence[ClaimVerdict]) -> str:
        """What a run's verdicts (none: it was not judged) mean for its cell, in words; or ""."""
        assert self.bound is not None, "only a bounded cell counts its runs"
        count = self._of(plan)
        if decided(verdicts):
            count.judged += 1
        else:
            count.unjudged += 1
        broken = [one.claim for one in verdicts if violates(one)]
        count.over = (
            bool(broken) or count.judged >= self.bound.runs or count.unjudged > self.bound.spare
        )
        return self._reason(count, broken) if count.over else ""

    def carried_out(self, experiment: Experiment) -> Experiment:
        """Return the experiment without the runs that the bound made needless."""
        if self.bound is None:
            return experiment
        runs = tuple(
            plan for plan in experiment.runs if plan.name in self._begun or not self._of(plan).over
        )
        return replace(experiment, runs=runs)

    def _of(self, plan: RunPlan) -> _Count:
        return self._cells.setdefault(plan.cell, _Count())

    def _reason(self, count: _Count, broken: Sequence[str]) -> str:
        unjudged = f"; {count.unjudged} could not be judged" if count.unjudged else ""
        if broken:
            return f"a promise was broken in judged run {count.judged} of this cell: " + (
                f"{', '.join(broken)}{unjudged}"
            )
        if self.bound is not None and count.judged >= self.bound.runs:
            return f"the bound is reached: {rate(0, count.judged).describe('violated')}{unjudged}"
        return f"the bound is not reached: {count.unjudged} runs of this cell could not be judged"
