"""Scenarios x systems x layouts x clients x repeats, with one seed -> an Experiment.

1. The same request makes the same experiment. A run's seed depends on its cell and repeat alone:
   one more layout changes no other run's choices.
2. Runs that can share a cluster (same system, layout, deployment) follow each other.
3. A cell that cannot run is an error if it is the only one; else it is Skipped with its reason. An
   experiment in which no cell can run is an error.
4. Runs of several clients may be played together. If they cannot, that is an error.
5. Names go into folders, DNS labels and brokers' names: letters, digits, hyphens, at most 63.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import groupby

from faults.core.targets import CLIENT
from harness.plan.checks import named_hosts
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.client_options import name_of
from harness.plan.clients.registry import option_problems
from harness.plan.clients.requirements import ChosenClient, chosen_client
from harness.plan.declared import wrong_values
from harness.plan.layouts import variants, worker_addresses
from harness.plan.model import (
    Cell,
    Experiment,
    Layout,
    RunPlan,
    Scenario,
    Skipped,
    System,
    split_label,
)
from harness.plan.problems import PlanError, Problem, nearest, none_of, twice, unknown
from harness.plan.schedule import resolve
from harness.plan.seeds import derive

# --- Together ------------------------------------------------------------------------------------
# Runs of several clients that are played together: at once, on one cluster, with one fault.
#
# 1. They differ by their client alone. Random choices (where masters are) are made once for all of
#    them, and each phase has the length of the longest one.
# 2. Some things cannot be shared, because they would differ by run: a fault of a client, an
#    operation for one run, a rhythm that each run plays by its own clock.


def group_obstacles(
    scenario: Scenario, system: System, layout: Layout, runs: int
) -> Iterator[str]:
    """Why so many runs of a scenario cannot be played together."""
    for number, fault in enumerate(scenario.faults, start=1):
        if fault.kind.applies_to == CLIENT:
            yield f"fault {number}: a {fault.kind} affects clients, and each run has its own"
        elif client := fault.target.client:
            whose = f"depends on a client, and each run has its own {client}"
            yield f"fault {number}: {fault.target} {whose}"
        elif fault.kind.repeats:
            yield f"fault {number}: a {fault.kind} comes and goes by the clock of one run"
    for number, operation in enumerate(scenario.operations, start=1):
        yield f"operation {number}: {operation.kind} would be done once for each run"
    yield from worker_addresses.obstacles(scenario, system.servers(layout), runs)


def joined(seed: int, runs: Sequence[RunPlan]) -> tuple[RunPlan, ...]:
    """The runs of one scenario and repeat that differ by their client; one is played alone.

    `seed`: the experiment's.
    """
    if len(runs) < 2:
        return tuple(runs)
    first = runs[0]
    schedule = replace(
        first.schedule,
        recovery_s=max(run.schedule.recovery_s for run in runs),
        settle_s=max(run.schedule.settle_s for run in runs),
    )
    assert all(run.schedule.windows == schedule.windows for run in runs), "clients move no window"
    of_all = derive(seed, "runs together", *first.cell[:3], str(first.repeat))
    names = tuple(run.name for run in runs)
    return tuple(replace(run, seed=of_all, schedule=schedule, together=names) for run in runs)


# --- Experiments ---------------------------------------------------------------------------------


TOGETHER = "--together"
NAME_FLAG = "--name"  # with which `mqproof nightly` finds the experiment that it began
EXPERIMENT_NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{4}")
REPEATS_MAX = 1000
RUNS_MAX = 10_000  # of one experiment
REASONS_MAX = 10  # listed for one cell


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What there is to choose from. `spoilt`: why a system of a package cannot be used."""

    systems: tuple[System, ...]
    layouts: tuple[Layout, ...]
    spoilt: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ExperimentOptions:
    """What the user asked for. Empty choices mean each system's default.

    A layout is named `NAME@PROFILE`, or `NAME` (the profile of the system's default), or by a
    pattern with `*`; each may end in a version of its own (`NAME@PROFILE+4.0.5`).
    """

    name: str  # the experiment's: it makes the names of its runs differ from any other's
    seed: int
    scenarios: tuple[Scenario, ...]
    systems: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    deployment: str = ""
    repeats: int = 1
    together: bool = False  # the runs of all clients at once, on one cluster, with one fault
    after: int = 0  # runs that the experiment has before these
    versions: tuple[str, ...] = ()  # of the brokers; every chosen layout is played in each
    images: tuple[tuple[str, str], ...] = ()  # product -> the user's own image of it


@dataclass(frozen=True, slots=True)
class _Cell:
    scenario: Scenario
    system: System
    layout: Layout
    client: ChosenClient
    deployment: str

    @property
    def labels(self) -> Cell:
        return (self.scenario.name, self.system.name, self.layout.label, self.client.word)


def plan(request: ExperimentOptions, catalogue: Catalogue) -> Experiment:
    """The experiment that was asked for. Raises PlanError with every problem in the request."""
    if problems := check(request, catalogue):
        raise PlanError(problems)
    systems = _systems(request, catalogue)
    cells: list[_Cell] = []
    skipped: list[Skipped] = []
    for cell in _cells(request, systems, catalogue):
        reasons = obstacles(cell.scenario, cell.system, cell.layout, cell.client, cell.deployment)
        if reasons:
            skipped.append(Skipped(cell.labels, _several(reasons)))
        else:
            cells.append(cell)
    if not cells:
        raise PlanError(_nothing_applies(request, skipped, systems, catalogue))
    if len(cells) * request.repeats > RUNS_MAX:
        text = f"{len(cells) * request.repeats:,} runs are more than one experiment has"
        raise PlanError([Problem("--repeats", f"{text}: {RUNS_MAX:,} at most")])
    if request.together and (apart := list(_apart(cells))):
        raise PlanError(apart)
    runs = tuple(_runs(request, cells))
    if wrong := dict.fromkeys(_wrong_facts(runs)):
        raise PlanError(wrong)
    return Experiment(request.name, request.seed, runs, tuple(skipped))


def _wrong_facts(runs: Iterable[RunPlan]) -> Iterator[Problem]:
    """Yield the facts and counts of packages that are not what the package declares."""
    for run in {run.cell: run for run in runs}.values():
        yield from wrong_values(run.system, run.layout, run.client, run.scenario)
        try:
            run.client.counted(run.scenario.workload, run.schedule.load_s)
        except PlanError as error:
            yield from error.problems


def _apart(cells: list[_Cell]) -> Iterator[Problem]:
    """Why runs that were to be played together cannot be."""
    for group in _by_cluster_and_scenario(cells):
        first = group[0]
        reasons = group_obstacles(first.scenario, first.system, first.layout, len(group))
        if len(group) > 1 and (found := list(reasons)):
            place = f"{first.scenario.name} on {first.system.name} {first.layout.label}"
            yield Problem(TOGETHER, f"{place}: {_several(found)}")


def _by_cluster_and_scenario(cells: Sequence[_Cell]) -> list[list[_Cell]]:
    """The cells that differ by their client."""
    return [list(group) for _, group in groupby(cells, key=lambda cell: cell.labels[:3])]


def _several(reasons: Sequence[str]) -> str:
    more = len(reasons) - REASONS_MAX
    listed = "; ".join(reasons[:REASONS_MAX])
    return f"{listed}; and {more:,} more" if more > 0 else listed


def check(request: ExperimentOptions, catalogue: Catalogue) -> list[Problem]:
    """Every word of the request that names nothing, whatever its scenarios say."""
    names = [system.name for system in catalogue.systems]
    wrong = dict.fromkeys(word for word in request.systems if word not in names)
    problems = [
        Problem("--system", catalogue.spoilt[word], tuple(names))
        if word in catalogue.spoilt
        else unknown("--system", "system", word, names)
        for word in wrong
    ]
    systems = _systems(request, catalogue)
    problems += _layout_problems(request, systems, catalogue)
    meant = [
        layout
        for each in systems
        for word in request.layouts or (each.default_layout,)
        for layout in _chosen(word, each, catalogue)
    ]
    for scenario in request.scenarios:
        problems += named_hosts.problems(scenario, catalogue.layouts, meant)
    problems += variants.problems(
        request.versions,
        request.images,
        systems,
        request.layouts,
        has_image=bool(request.layouts) and any(layout.image for layout in meant),
    )
    clients = sorted({client for system in systems for client in system.clients})
    for word in dict.fromkeys(request.clients):
        if (name := name_of(word)) not in clients:
            problems.append(unknown("--client", "client", name, clients))
        else:
            problems += option_problems(word)
    deployments = sorted({name for system in systems for name in system.deployments})
    if request.deployment and request.deployment not in deployments:
        problems.append(unknown("--deployment", "deployment", request.deployment, deployments))
    if not 1 <= request.repeats <= REPEATS_MAX:
        problems.append(Problem("--repeats", f"must be from 1 to {REPEATS_MAX}"))
    if request.together and len(request.clients) < 2:
        text = "it takes several clients, whose runs are played at once"
        problems.append(Problem(TOGETHER, text, tuple(clients)))
    problems += twice("SCENARIO", (scenario.name for scenario in request.scenarios))
    problems += twice("--system", request.systems)
    return problems + twice("--client", request.clients)


def _systems(request: ExperimentOptions, catalogue: Catalogue) -> tuple[System, ...]:
    """Those that were asked for, in the catalogue's order; else the first."""
    chosen = tuple(one for one in catalogue.systems if one.name in request.systems)
    return chosen or catalogue.systems[:1]


def _layout_problems(
    request: ExperimentOptions, systems: tuple[System, ...], catalogue: Catalogue
) -> Iterator[Problem]:
    layouts = [layout for system in systems for layout in _layouts_of(system, catalogue)]
    labels = tuple(layout.label for layout in layouts)
    named = {
        word: {system.name for system in systems if _chosen(word, system, catalogue)}
        for word in request.layouts
    }
    for word in (word for word, found in named.items() if not found):
        guess = nearest(word, [*labels, *(layout.name for layout in layouts)])
        problem = unknown("--layout", "layout", word, labels)
        yield replace(problem, guess=guess)
    # Only then: a word that is misspelt may have meant one of its layouts.
    if named and all(named.values()):
        whose = set().union(*named.values())
        for system in (one for one in systems if one.name not in whose):
            own = tuple(layout.label for layout in _layouts_of(system, catalogue))
            text = f"none of those named is a layout of {system.name}"
            yield none_of("--layout", text, request.layouts[0], own, f"layout of {system.name}")


def _cells(
    request: ExperimentOptions, systems: tuple[System, ...], catalogue: Catalogue
) -> Iterator[_Cell]:
    """Every cell that was asked for, cluster by cluster."""
    for system in systems:
        clients = [chosen_client(word) for word in request.clients or system.clients[:1]]
        for layout in _layouts(request, system, catalogue):
            for scenario in request.scenarios:
                for client in clients:
                    deployment = request.deployment or system.deployments[0]
                    yield _Cell(scenario, system, layout, client, deployment)


def _layouts(request: ExperimentOptions, system: System, catalogue: Catalogue) -> list[Layout]:
    """The layouts of `system` that were asked for, each once, in the order of asking."""
    chosen: dict[str, Layout] = {}
    for word in request.layouts or (system.default_layout,):
        label, own = variants.split(word)
        versions = (own,) if own else request.versions
        for layout in _chosen(label, system, catalogue):
            for one in variants.of(layout, system, versions, request.images):
                chosen.setdefault(one.label, one)
    return list(chosen.values())


def _chosen(word: str, system: System, catalogue: Catalogue) -> list[Layout]:
    """The layouts that a word means, in the versions that the catalogue has them in."""
    word, _ = variants.split(word)
    _, profile = split_label(system.default_layout)
    label = word if "@" in word or "*" in word else f"{word}@{profile}"
    every = _layouts_of(system, catalogue)
    return [one for one in every if fnmatchcase(one.unversioned, label)]


def _layouts_of(system: System, catalogue: Catalogue) -> list[Layout]:
    return [layout for layout in catalogue.layouts if layout.system == system.name]


def _runs(request: ExperimentOptions, cells: list[_Cell]) -> Iterator[RunPlan]:
    """Repeats go round the scenarios of a cluster, so that a drift of it meets all alike."""
    number = request.after
    clusters = dict.fromkeys((cell.system.name, cell.layout.label) for cell in cells)
    for cluster in clusters:
        members = [c for c in cells if (c.system.name, c.layout.label) == cluster]
        for repeat in range(1, request.repeats + 1):
            for group in _by_cluster_and_scenario(members):
                runs = [_run(request, cell, repeat, number + n) for n, cell in enumerate(group, 1)]
                number += len(runs)
                yield from joined(request.seed, runs) if request.together else runs


def _run(request: ExperimentOptions, cell: _Cell, repeat: int, number: int) -> RunPlan:
    labels = (*cell.labels, str(repeat))
    mark = derive(request.seed, "name", request.name, *labels) % 0x10000
    name = f"{cell.scenario.name}-{number}-{mark:04x}"
    assert len(name) <= 63, name
    return RunPlan(
        name=name,
        number=derive(request.seed, "number", request.name, *labels),
        scenario=cell.scenario,
        system=cell.system,
        layout=cell.layout,
        client=cell.client,
        deployment=cell.deployment,
        repeat=repeat,
        seed=derive(request.seed, "run", *labels),
        schedule=resolve(
            cell.scenario, cell.layout, cell.system.guarantees(cell.layout), cell.client
        ),
    )


def _nothing_applies(
    request: ExperimentOptions,
    skipped: list[Skipped],
    systems: tuple[System, ...],
    catalogue: Catalogue,
) -> Iterator[Problem]:
    """Why each cell cannot run, with the layouts on which its scenario can."""
    scenarios = {scenario.name: scenario for scenario in request.scenarios}

    @cache
    def fitting(scenario: str, client: str) -> tuple[str, ...]:
        return tuple(
            layout.label
            for system in systems
            for declared in _layouts_of(system, catalogue)
            for layout in variants.of(declared, system, request.versions, request.images)
            if not obstacles(
                scenarios[scenario],
                system,
                layout,
                chosen_client(client),
                request.deployment or system.deployments[0],
            )
        )

    for skip in skipped:
        scenario, system, layout, client = skip.cell
        place = f"{scenario} on {system} {layout} with {client}"
        yield Problem(place, f"not applicable: {skip.reason}", fitting(scenario, client))
