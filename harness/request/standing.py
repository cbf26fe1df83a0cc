"""`--on-standing`: runs on the clusters that `mqproof up` started, instead of new ones.

1. Systems, layouts and deployment are those that stand: giving others as well is an error.
2. The clusters' keeper says whether they are clean: that is asked just before the first run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faults.core.mechanisms import COMPOSE
from harness.deploy.by_hand_files import ByHandClusters, DamagedDocument, folders, is_held, load
from harness.deploy.by_hand_layouts import standing
from harness.outside.text import brief
from harness.plan.clients.client_options import name_of
from harness.plan.clients.registry import registry
from harness.plan.experiment import Catalogue
from harness.plan.model import Scenario, System
from harness.plan.problems import PlanError, Problem
from harness.systems.registry import registry as registry_of_systems

FLAG = "--on-standing"
HELP = "Play on the clusters of `mqproof up`, if they are clean; they keep running."
EVERY_LAYOUT = "*"  # of a system that has several clusters: each is played
_UP = "`mqproof up` starts some; see docs/by-hand.md"
_DOWN = "`mqproof down`, then `mqproof up`"


@dataclass(frozen=True, slots=True)
class StandingClusters:
    """What stands. `folder`: of the keeper; `choices`: its systems, with its layouts alone."""

    folder: Path
    deployment: str
    choices: Catalogue

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.choices.systems)


def problems(given: Mapping[str, object]) -> Iterator[Problem]:
    """Yield the flags that do not go with it. `given`: by flag, what was given."""
    for flag in (flag for flag, value in given.items() if value):
        yield Problem(flag, f"the clusters run already: leave {flag} out, or {FLAG}")


def unfit(
    scenarios: Sequence[Scenario], clients: Sequence[str], clusters: StandingClusters
) -> Iterator[Problem]:
    """Yield what would leave these clusters broken, or cannot run on them."""
    for one in scenarios:
        for number, fault in enumerate(one.faults, start=1):
            if not fault.returns and not fault.target.of_clients:
                text = f"fault {number} has `returns = false`: the cluster would stay broken"
                yield Problem(f"{FLAG}: {one.name}", text, advice=f"leave {FLAG} out")
    if clusters.deployment != COMPOSE:
        return
    offered = registry().packages
    there = {registry_of_systems().packages.get(one) for one in clusters.systems}
    for word in dict.fromkeys(clients):
        package = offered.get(name_of(word))
        if package is not None and package not in there:
            text = f"the workers' container of the running clusters does not have {package}"
            yield Problem(f"--client {brief(word)}", text, advice=f"leave {FLAG} out")


def folder() -> Path:
    """Return the keeper's folder. Raise PlanError if no clusters run."""
    return _kept()[0]


def found(systems: Sequence[System]) -> StandingClusters:
    """Return the running clusters. `systems`: every one. Raise PlanError if there are none."""
    where, clusters = _kept()
    by_name = {one.name: one for one in systems}
    try:
        layouts = tuple(standing(clusters))
    except PlanError as error:
        raise PlanError(
            replace(one, place=f"{FLAG}: {one.place}", advice=_DOWN) for one in error.problems
        ) from None
    labels: dict[str, list[str]] = {}
    for layout in layouts:
        labels.setdefault(layout.system, []).append(layout.label)
    own = tuple(
        replace(by_name[system], default_layout=one if not others else EVERY_LAYOUT)
        for system, (one, *others) in labels.items()
    )
    return StandingClusters(where, clusters.deployment, Catalogue(own, layouts))


def _kept() -> tuple[Path, ByHandClusters]:
    """Raises PlanError."""
    for where in folders():
        if not is_held(where):
            raise PlanError([Problem(FLAG, f"the keeper of {where} is dead", advice=_DOWN)])
        try:
            clusters = load(where)
        except DamagedDocument as error:
            raise PlanError([Problem(FLAG, str(error), advice=_DOWN)]) from None
        if not clusters.running:
            text = f"the clusters are still on their way (process {clusters.pid})"
            raise PlanError([Problem(FLAG, text, advice="wait until `mqproof up` is done")])
        return where, clusters
    raise PlanError([Problem(FLAG, "no clusters by hand are running", advice=_UP)])
