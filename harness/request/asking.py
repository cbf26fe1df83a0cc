"""What the user asked for, from words on a command line to an experiment.

1. Scenarios and layouts are taken by name or by path; every word that names nothing is a problem,
   and all problems are told at once.
2. Reading files is done here, so that harness.plan stays pure.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from faults.mechanisms import EXTERNAL
from harness.outside.files import TOML_BYTES_MAX, Unreadable, text_of
from harness.plan import bound, experiment, misbehave, suite
from harness.plan.model import Experiment, Layout, Scenario, System
from harness.plan.problems import EMPTY, PlanError, Problem, twice, unknown
from harness.plan.toml import read_scenario
from harness.request import own_layouts, suites, topology_file
from harness.systems import catalogue


@dataclass(frozen=True, slots=True)
class Asked:
    """The words that say what an experiment is. Empty, or None: each system's default.

    Where None may stand, an empty text is a mistake: a variable of a shell that is not set.
    """

    scenarios: tuple[str, ...]
    systems: tuple[str, ...]
    layouts: tuple[str, ...]
    clients: tuple[str, ...]
    deployment: str | None
    repeats: int | None  # None: nothing was said of it
    seed: int
    misbehave: str | None = None
    topology: str | None = None  # a file: a cluster that is there
    bound: str | None = None  # a share of runs
    together: bool = False  # the clients at once, on one cluster
    compressed: bool = False  # of a suite: what it plays in little time


def experiment_of(asked: Asked, name: str) -> Experiment:
    """The experiment. Raises PlanError with everything that is wrong with words and files."""
    if asked.compressed or any(word in suites.names() for word in asked.scenarios):
        return _of_suite(asked, name)
    scenarios, problems = _scenarios(asked.scenarios)
    problems += [*_unset(asked), *misbehave.problems(asked.misbehave)]
    problems += twice("--layout", asked.layouts)
    problems += bound.problems(asked.bound, repeats=asked.repeats is not None)
    if asked.topology is not None or asked.deployment == EXTERNAL:
        return _of_topology(asked, name, scenarios, problems)
    found, built_in = systems(), layouts()
    own = own_layouts.read(asked.layouts, asked.systems, found, built_in)
    request = _request(asked, name, scenarios, asked.systems, own.labels)
    choices = experiment.Catalogue(found, (*own.layouts, *built_in))
    return _planned(request, choices, [*problems, *own.problems])


def _of_suite(asked: Asked, name: str) -> Experiment:
    brought = {
        "--layout": asked.layouts,
        "--client": asked.clients,
        "--deployment": asked.deployment is not None,
        "--topology": asked.topology is not None,
        experiment.TOGETHER: asked.together,
        bound.FLAG: asked.bound is not None,
        misbehave.FLAG: asked.misbehave is not None,
    }
    flags = [flag for flag, given in brought.items() if given]
    found = list(suites.problems(asked.scenarios, asked.systems, flags, asked.compressed))
    if found:
        raise PlanError(found)
    own = suites.suite(asked.scenarios[0])
    system = (*asked.systems, own.system)[0]
    wanted = suite.Wanted(name, system, asked.seed, asked.repeats, asked.compressed)
    choices = experiment.Catalogue(systems(), layouts())
    played = [scenario(one) for one in own.played(system).scenarios]
    return suite.experiment_of(own, wanted, played, choices)


def _of_topology(
    asked: Asked, name: str, scenarios: Sequence[Scenario], problems: list[Problem]
) -> Experiment:
    flags = topology_file.problems(asked.systems, asked.layouts, asked.deployment or "")
    problems = [*problems, *flags]
    found = systems()
    try:
        chosen = topology_file.chosen(asked.topology, found, layouts())
    except PlanError as error:
        # Which system it is nobody knows: what any of them has may be asked for.
        every = tuple(one for one in found if EXTERNAL in one.deployments)
        request = _request(asked, name, scenarios, tuple(one.name for one in every), ())
        more = experiment.check(request, experiment.Catalogue(every, ()))
        raise PlanError([*problems, *error.problems, *more]) from None
    request = _request(asked, name, scenarios, (chosen.system.name,), (chosen.layout.label,))
    choices = experiment.Catalogue((chosen.system,), (chosen.layout,))
    return _planned(replace(request, deployment=EXTERNAL), choices, problems)


def _request(
    asked: Asked,
    name: str,
    scenarios: Sequence[Scenario],
    of_systems: tuple[str, ...],
    labels: tuple[str, ...],
) -> experiment.Request:
    return experiment.Request(
        name=name,
        seed=asked.seed,
        scenarios=tuple(scenarios),
        systems=of_systems,
        layouts=labels,
        clients=asked.clients,
        deployment=asked.deployment or "",
        repeats=_repeats(asked),
        together=asked.together,
    )


def _repeats(asked: Asked) -> int:
    """At most: with a bound a cell may be over before."""
    wanted = bound.parse(asked.bound)
    if wanted is not None and asked.repeats is None:
        return wanted.planned
    return 1 if asked.repeats is None else asked.repeats


def _planned(
    request: experiment.Request, choices: experiment.Catalogue, problems: Sequence[Problem]
) -> Experiment:
    if problems:
        raise PlanError([*problems, *experiment.check(request, choices)])
    return experiment.plan(request, choices)


def _unset(asked: Asked) -> Iterator[Problem]:
    """Flags that were given with nothing; topology_file.py tells those of a topology."""
    for flag, word in (("--deployment", asked.deployment), (misbehave.FLAG, asked.misbehave)):
        if word == "":
            yield Problem(flag, EMPTY)


def replay(asked: Asked, judge: str) -> str:
    """The command that does the same experiment again."""
    words = ["mqproof", "run", *asked.scenarios]
    for flag, values in (
        ("--system", asked.systems),
        ("--layout", asked.layouts),
        ("--client", asked.clients),
        ("--deployment", (asked.deployment,) if asked.deployment else ()),
        ("--topology", (asked.topology,) if asked.topology else ()),
    ):
        words += [part for value in values for part in (flag, value)]
    of_suite = any(word in suites.names() for word in asked.scenarios)
    by_itself = None if of_suite else 1  # so often a cell is run where nothing is said of it
    if asked.repeats not in (None, by_itself):
        words += ["--repeats", str(asked.repeats)]
    words += [experiment.TOGETHER] if asked.together else []
    words += [suites.COMPRESSED] if asked.compressed else []
    words += [bound.FLAG, asked.bound] if asked.bound else []
    words += [misbehave.FLAG, asked.misbehave] if asked.misbehave else []
    return shlex.join([*words, "--judge", judge, "--seed", str(asked.seed)])


def systems() -> tuple[System, ...]:
    """Every system of this installation."""
    return tuple(catalogue.load_system(name) for name in catalogue.system_names())


def layouts() -> tuple[Layout, ...]:
    """Every built-in layout of every system."""
    return tuple(
        catalogue.load_layout(system, label)
        for system in catalogue.system_names()
        for label in catalogue.layout_names(system)
    )


def scenario_names() -> list[str]:
    """The scenarios that come with mqproof."""
    folder = resources.files("harness.plan").joinpath("scenarios")
    names = (entry.name for entry in folder.iterdir())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def scenario_text(name: str) -> str:
    """The TOML text of a scenario that comes with mqproof."""
    folder = resources.files("harness.plan").joinpath("scenarios")
    return folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")


def scenario(word: str) -> Scenario:
    """A scenario by its name or its path. Raises PlanError."""
    if not catalogue.is_path(word):
        if word not in scenario_names():
            known = [*scenario_names(), *suites.names()]
            raise PlanError([unknown("SCENARIO", "scenario", word, known)])
        return read_scenario(word, scenario_text(word))
    path = Path(word)
    try:
        text = text_of(path, TOML_BYTES_MAX)
    except Unreadable as reason:
        raise PlanError([Problem(word, f"cannot be read: {reason}")]) from None
    return read_scenario(path.stem, text, word)


def _scenarios(words: Iterable[str]) -> tuple[list[Scenario], list[Problem]]:
    scenarios: list[Scenario] = []
    problems: list[Problem] = []
    for word in words:
        try:
            scenarios.append(scenario(word))
        except PlanError as error:
            problems += error.problems
    return scenarios, problems
