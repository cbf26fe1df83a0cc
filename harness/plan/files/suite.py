"""A suite: an experiment that brings its system, layouts and clients; its shape and its runs.

1. A suite has parts, each some scenarios on some layouts, all with the same clients.
2. It may be played on other systems than its own, with layouts and clients that they have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field

from harness.plan.experiment import Catalogue, ExperimentOptions, plan
from harness.plan.files.tables import Table
from harness.plan.model import Experiment, Scenario
from harness.plan.problems import PlanError, Problem


class Part(Table):
    """Scenarios on layouts, so many times."""

    scenarios: list[str] = Field(min_length=1)
    layouts: list[str] = Field(min_length=1)
    repeats: int = Field(ge=1)


class Played(Table):
    """What is played on one system. `compressed`: what instead where somebody has no time."""

    clients: list[str] = Field(min_length=1)
    part: list[Part] = Field(min_length=1)
    compressed: list[Part] = Field(min_length=1)

    @property
    def scenarios(self) -> tuple[str, ...]:
        """The names of all that any part plays."""
        every = (name for part in (*self.part, *self.compressed) for name in part.scenarios)
        return tuple(dict.fromkeys(every))


class Suite(Played):
    """One file. `on`: what is played instead on another system than its own."""

    title: str
    system: str
    together: bool
    on: dict[str, Played]

    @property
    def systems(self) -> tuple[str, ...]:
        """Its own first."""
        return (self.system, *self.on)

    def played(self, system: str) -> Played:
        return self.on.get(system, self)


@dataclass(frozen=True, slots=True)
class Wanted:
    """`repeats`: of every cell; None: as the suite says."""

    name: str  # the experiment's
    system: str  # one of the suite's
    seed: int
    repeats: int | None
    compressed: bool


def experiment_of(
    own: Suite, wanted: Wanted, scenarios: Sequence[Scenario], choices: Catalogue
) -> Experiment:
    """Part after part. `scenarios`: all that are played on its system. Raises PlanError."""
    by_name = {one.name: one for one in scenarios}
    played = own.played(wanted.system)
    parts = played.compressed if wanted.compressed else played.part
    wrong: list[Problem] = []
    found: list[Experiment] = []
    for part in parts:
        after = sum(len(one.runs) for one in found)
        try:
            found.append(plan(_request(own, part, wanted, by_name, after), choices))
        except PlanError as error:
            wrong += error.problems
    if wrong:
        raise PlanError(dict.fromkeys(wrong))  # each mistake once
    runs = tuple(run for one in found for run in one.runs)
    skipped = tuple(skip for one in found for skip in one.skipped)
    return Experiment(wanted.name, wanted.seed, runs, skipped)


def _request(
    own: Suite, part: Part, wanted: Wanted, by_name: dict[str, Scenario], after: int
) -> ExperimentOptions:
    return ExperimentOptions(
        name=wanted.name,
        seed=wanted.seed,
        scenarios=tuple(by_name[name] for name in part.scenarios),
        systems=(wanted.system,),
        layouts=tuple(part.layouts),
        clients=tuple(own.played(wanted.system).clients),
        repeats=part.repeats if wanted.repeats is None else wanted.repeats,
        together=own.together,
        after=after,
    )
