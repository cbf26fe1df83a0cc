"""What the user asked for, from words on a command line to an experiment.

1. Scenarios and layouts are taken by name or by path; every word that names nothing is a problem,
   and all problems are told at once.
2. Reading files is done here, so that harness.plan stays pure.
"""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from faults.kinds import EXTERNAL
from harness.deploy import catalogue
from harness.plan import experiment, misbehave
from harness.plan.model import Experiment, Layout, Scenario, System
from harness.plan.problems import PlanError, Problem, unknown
from harness.plan.toml import read_scenario
from harness.report import external


@dataclass(frozen=True, slots=True)
class Asked:
    """The words that say what an experiment is. Empty: each system's default."""

    scenarios: tuple[str, ...]
    systems: tuple[str, ...]
    layouts: tuple[str, ...]
    clients: tuple[str, ...]
    deployment: str
    repeats: int
    seed: int
    misbehave: str = ""
    topology: str = ""  # a file: a cluster that is there


def experiment_of(asked: Asked, name: str) -> Experiment:
    """The experiment. Raises PlanError, or CatalogueError where a layout's file is wrong."""
    scenarios, problems = _scenarios(asked.scenarios)
    if asked.topology or asked.deployment == EXTERNAL:
        return _of_topology(asked, name, scenarios, problems)
    found = systems()
    layouts, labels = _layouts(asked, found)
    request = experiment.Request(
        name=name,
        seed=asked.seed,
        scenarios=tuple(scenarios),
        systems=asked.systems,
        layouts=labels,
        clients=asked.clients,
        deployment=asked.deployment,
        repeats=asked.repeats,
    )
    choices = experiment.Catalogue(found, layouts)
    if problems:
        raise PlanError([*problems, *experiment.check(request, choices)])
    return experiment.plan(request, choices)


def _of_topology(
    asked: Asked, name: str, scenarios: Sequence[Scenario], problems: list[Problem]
) -> Experiment:
    problems = [*problems, *external.problems(asked.systems, asked.layouts, asked.deployment)]
    try:
        chosen = external.chosen(asked.topology, systems(), layouts())
    except PlanError as error:
        raise PlanError([*problems, *error.problems]) from None
    request = experiment.Request(
        name=name,
        seed=asked.seed,
        scenarios=tuple(scenarios),
        systems=(chosen.system.name,),
        layouts=(chosen.layout.label,),
        clients=asked.clients,
        deployment=EXTERNAL,
        repeats=asked.repeats,
    )
    choices = experiment.Catalogue((chosen.system,), (chosen.layout,))
    if problems:
        raise PlanError([*problems, *experiment.check(request, choices)])
    return experiment.plan(request, choices)


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
    words += ["--repeats", str(asked.repeats)] if asked.repeats != 1 else []
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
    if not _is_path(word):
        if word not in scenario_names():
            raise PlanError([unknown("SCENARIO", "scenario", word, scenario_names())])
        return read_scenario(word, scenario_text(word))
    path = Path(word)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise PlanError([Problem(word, f"cannot be read: {reason}")]) from None
    return read_scenario(path.stem, text, word)


def _layouts(asked: Asked, found: Sequence[System]) -> tuple[tuple[Layout, ...], tuple[str, ...]]:
    """All layouts, the user's own in place of built-in ones of that label; the words as labels."""
    chosen = [one for one in found if one.name in asked.systems] or found[:1]
    known: dict[tuple[str, str], Layout] = {}
    labels = []
    for word in asked.layouts:
        if not _is_path(word.partition("@")[0]):
            labels.append(word)
            continue
        for system in chosen:
            layout = catalogue.load_layout(system.name, word)
            known[system.name, layout.label] = layout
            labels.append(layout.label)
    for layout in layouts():
        known.setdefault((layout.system, layout.label), layout)
    return tuple(known.values()), tuple(dict.fromkeys(labels))


def _scenarios(words: Iterable[str]) -> tuple[list[Scenario], list[Problem]]:
    scenarios: list[Scenario] = []
    problems: list[Problem] = []
    for word in words:
        try:
            scenarios.append(scenario(word))
        except PlanError as error:
            problems += error.problems
    return scenarios, problems


def _is_path(word: str) -> bool:
    return "/" in word or word.endswith(".toml")
