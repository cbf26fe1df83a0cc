"""What the user asked for, from words on a command line to an experiment.

1. Scenarios and layouts are given by name or by path; every unknown word is a problem, and all
   problems are reported at once.
2. Reading files is done here, so that harness.plan stays pure.
"""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from faults.core.mechanisms import EXTERNAL
from harness.outside.files import TOML_BYTES_MAX, Unreadable, text_of, why_not_written
from harness.outside.text import brief
from harness.plan import bound, experiment, misbehave
from harness.plan.files import suite
from harness.plan.files.toml import read_scenario
from harness.plan.layouts import variants
from harness.plan.model import Experiment, Layout, Scenario, System
from harness.plan.problems import EMPTY, PlanError, Problem, twice, unknown, unreadable
from harness.request import (
    distribution,
    kernel,
    own_layouts,
    standing,
    suites,
    topology_file,
)
from harness.systems import catalogue
from harness.systems.files import text_in


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The words that say what an experiment is. Empty, or None: each system's default.

    Where None may stand, an empty text is a mistake: a variable of a shell that is not set.
    """

    scenarios: tuple[str, ...]
    seed: int
    systems: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    deployment: str | None = None
    repeats: int | None = None
    misbehave: str | None = None
    topology: str | None = None  # a file: a cluster that is there
    bound: str | None = None  # a share of runs
    together: bool = False  # the clients at once, on one cluster
    compressed: bool = False  # of a suite: what it plays in little time
    versions: tuple[str, ...] = ()  # of the brokers
    images: tuple[str, ...] = ()  # the user's own: PRODUCT=IMAGE
    on_standing: bool = False  # on the clusters that `mqproof up` started
    distribution: str | None = None  # the folder of a vendor's own build
    keep: bool = False  # the clusters, when the experiment is over
    results: Path = Path()  # the folder that the experiment's folder is made in


@dataclass(frozen=True, slots=True)
class PlannedRequest:
    """What a request means: the experiment, and how its runs differ from plain ones."""

    experiment: Experiment
    misbehave: misbehave.Misbehave | None
    bound: bound.Bound | None


def planned(request: RunRequest, name: str, wrong: Sequence[Problem]) -> PlannedRequest:
    """Return the experiment of that name, and its options.

    `wrong`: the problems of other options. Raise PlanError with all problems of words and files;
    then with a folder for results that cannot be written, or nodes that cannot misbehave so.
    """
    try:
        made = experiment_of(request, name)
    except PlanError as error:
        raise PlanError([*error.problems, *wrong]) from None
    if wrong:
        raise PlanError(wrong)
    if reason := why_not_written(request.results / name):
        raise PlanError([Problem("--results", f"{request.results}: {reason}")])
    wanted = bound.parse(request.bound)
    return PlannedRequest(made, misbehave.parse(request.misbehave, made), wanted)


def experiment_of(request: RunRequest, name: str) -> Experiment:
    """The experiment. Raises PlanError with everything that is wrong with words and files."""
    if request.compressed or any(word in suites.names() for word in request.scenarios):
        return _of_suite(request, name)
    scenarios, problems = _scenarios(request.scenarios)
    problems += [*_unset(request), *misbehave.problems(request.misbehave)]
    problems += [*twice("--layout", request.layouts), *_image_problems(request.images)]
    problems += bound.problems(request.bound, repeats=request.repeats is not None)
    if request.on_standing:
        return _on_standing(request, name, scenarios, problems)
    if request.topology is not None or request.deployment == EXTERNAL:
        return _of_topology(request, name, scenarios, problems)
    found, built_in = systems(), layouts()
    own = own_layouts.read(request.layouts, request.systems, found, built_in)
    plan_request = _request(request, name, scenarios, request.systems, own.labels)
    chosen = [one for one in found if one.name in request.systems] or found[:1]
    every = distribution.applied(request.distribution, chosen, (*own.layouts, *built_in))
    choices = experiment.Catalogue(found, every.layouts, catalogue.spoilt())
    problems += [*own.problems, *every.problems, *_versions_of_distribution(request)]
    return _planned(plan_request, choices, problems)


def _of_suite(request: RunRequest, name: str) -> Experiment:
    brought = {
        "--layout": request.layouts,
        "--client": request.clients,
        "--deployment": request.deployment is not None,
        "--topology": request.topology is not None,
        experiment.TOGETHER: request.together,
        bound.FLAG: request.bound is not None,
        misbehave.FLAG: request.misbehave is not None,
        variants.VERSION: request.versions,
        variants.IMAGE: request.images,
        standing.FLAG: request.on_standing,
        distribution.FLAG: request.distribution is not None,
    }
    flags = [flag for flag, given in brought.items() if given]
    found = list(suites.problems(request.scenarios, request.systems, flags, request.compressed))
    if found:
        raise PlanError(found)
    own = suites.suite(request.scenarios[0])
    system = request.systems[0] if request.systems else own.system
    wanted = suite.Wanted(name, system, request.seed, request.repeats, request.compressed)
    choices = experiment.Catalogue(systems(), layouts())
    played = [scenario(one) for one in own.played(system).scenarios]
    return kernel.fitting(suite.experiment_of(own, wanted, played, choices))


def _on_standing(
    request: RunRequest, name: str, scenarios: Sequence[Scenario], problems: list[Problem]
) -> Experiment:
    given = {
        "--layout": request.layouts,
        "--deployment": request.deployment,
        topology_file.FLAG: request.topology is not None,
        experiment.TOGETHER: request.together,
        misbehave.FLAG: request.misbehave,
        variants.VERSION: request.versions,
        variants.IMAGE: request.images,
        distribution.FLAG: request.distribution is not None,
        "--keep": request.keep,
    }
    problems = [*problems, *standing.problems(given)]
    try:
        clusters = standing.found(systems())
    except PlanError as error:
        raise PlanError([*problems, *error.problems]) from None
    bare = replace(request, layouts=(), versions=(), images=(), together=False)
    plan_request = _request(bare, name, scenarios, bare.systems or clusters.systems, ())
    plan_request = replace(plan_request, deployment=clusters.deployment)
    problems += standing.unfit(scenarios, request.clients, clusters)
    return _planned(plan_request, clusters.choices, problems)


def _of_topology(
    request: RunRequest, name: str, scenarios: Sequence[Scenario], problems: list[Problem]
) -> Experiment:
    flags = topology_file.problems(request.systems, request.layouts, request.deployment or "")
    problems = [*problems, *flags, *_versions_of_foreign(request)]
    found = systems()
    try:
        chosen = topology_file.chosen(request.topology, found, layouts())
    except PlanError as error:
        # The system is unknown: accept what any of them has.
        every = tuple(one for one in found if EXTERNAL in one.deployments)
        every_name = tuple(one.name for one in every)
        plan_request = _request(request, name, scenarios, every_name, ())
        more = experiment.check(plan_request, experiment.Catalogue(every, ()))
        raise PlanError([*problems, *error.problems, *more]) from None
    labels = (chosen.layout.label,)
    plan_request = _request(request, name, scenarios, (chosen.system.name,), labels)
    choices = experiment.Catalogue((chosen.system,), (chosen.layout,))
    return _planned(replace(plan_request, deployment=EXTERNAL), choices, problems)


def _request(
    request: RunRequest,
    name: str,
    scenarios: Sequence[Scenario],
    of_systems: tuple[str, ...],
    labels: tuple[str, ...],
) -> experiment.ExperimentOptions:
    return experiment.ExperimentOptions(
        name=name,
        seed=request.seed,
        scenarios=tuple(scenarios),
        systems=of_systems,
        layouts=labels,
        clients=request.clients,
        deployment=request.deployment or "",
        repeats=_repeats(request),
        together=request.together,
        versions=request.versions,
        images=tuple(_images(request.images)),
    )


def _images(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        product, _, image = word.partition("=")
        if product and image:
            yield product, image


def _image_problems(words: Iterable[str]) -> Iterator[Problem]:
    for word in words:
        if not all(word.partition("=")):
            text = f"{brief(word)} names no image"
            products = tuple(
                dict.fromkeys(
                    one.versions.product
                    for one in systems()
                    if one.versions and one.versions.takes_images
                )
            )
            wanted = f"PRODUCT=IMAGE, where PRODUCT is {' or '.join(products)}"
            yield Problem(variants.IMAGE, text, expected=wanted, advice="see docs/systems.md")


def _versions_of_distribution(request: RunRequest) -> Iterator[Problem]:
    for flag, given in ((variants.VERSION, request.versions), (variants.IMAGE, request.images)):
        if given and request.distribution is not None:
            text = f"the distribution's own version is read from it: leave {flag} out"
            yield Problem(flag, text)
    for label in request.layouts:
        if request.distribution is not None and (version := variants.split(label)[1]):
            text = f"the distribution's own version is read from it: leave +{version} out"
            yield Problem(f"--layout {brief(label)}", text)


def _versions_of_foreign(request: RunRequest) -> Iterator[Problem]:
    every = {
        variants.VERSION: request.versions,
        variants.IMAGE: request.images,
        distribution.FLAG: request.distribution is not None,
    }
    for flag, given in every.items():
        if given:
            yield Problem(flag, "these brokers run already; their version is read from them")


def _repeats(request: RunRequest) -> int:
    """At most: with a bound a cell may be over before."""
    wanted = bound.parse(request.bound)
    if wanted is not None and request.repeats is None:
        return wanted.planned
    return 1 if request.repeats is None else request.repeats


def _planned(
    request: experiment.ExperimentOptions,
    choices: experiment.Catalogue,
    problems: Sequence[Problem],
) -> Experiment:
    if problems:
        raise PlanError([*problems, *experiment.check(request, choices)])
    return kernel.fitting(experiment.plan(request, choices))


def _unset(request: RunRequest) -> Iterator[Problem]:
    """Flags that were given with nothing; topology_file.py tells those of a topology."""
    for flag, word in (("--deployment", request.deployment), (misbehave.FLAG, request.misbehave)):
        if word == "":
            yield Problem(flag, EMPTY)


def replay(request: RunRequest, judge: str) -> str:
    """The command that does the same experiment again."""
    words = ["mqproof", "run", *request.scenarios]
    for flag, values in (
        ("--system", request.systems),
        ("--layout", request.layouts),
        ("--client", request.clients),
        ("--deployment", (request.deployment,) if request.deployment else ()),
        ("--topology", (request.topology,) if request.topology else ()),
        (variants.VERSION, request.versions),
        (variants.IMAGE, request.images),
        (distribution.FLAG, (request.distribution,) if request.distribution else ()),
    ):
        words += [part for value in values for part in (flag, value)]
    of_suite = any(word in suites.names() for word in request.scenarios)
    by_itself = None if of_suite else 1  # so often a cell is run where nothing is said of it
    if request.repeats not in (None, by_itself):
        words += ["--repeats", str(request.repeats)]
    words += [experiment.TOGETHER] if request.together else []
    words += [suites.COMPRESSED] if request.compressed else []
    words += [standing.FLAG] if request.on_standing else []
    words += [bound.FLAG, request.bound] if request.bound else []
    words += [misbehave.FLAG, request.misbehave] if request.misbehave else []
    return shlex.join([*words, "--judge", judge, "--seed", str(request.seed)])


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


_FOLDER, _OF_DEMO = "scenarios", "scenarios/demo"


def scenario_names(folder: str = _FOLDER) -> list[str]:
    """The scenarios that come with mqproof; those of the demo lie in a folder of their own."""
    entries = resources.files("harness.plan").joinpath(folder).iterdir()
    names = (entry.name for entry in entries)
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def scenario_text(name: str) -> str:
    """The TOML text of a scenario that comes with mqproof."""
    folder = _OF_DEMO if name in scenario_names(_OF_DEMO) else _FOLDER
    return text_in("harness.plan", f"{folder}/{name}.toml")()


def scenario(word: str) -> Scenario:
    """A scenario by its name or its path. Raises PlanError."""
    if not catalogue.is_path(word):
        if word not in (*scenario_names(), *scenario_names(_OF_DEMO)):
            known = [*scenario_names(), *suites.names()]
            raise PlanError([unknown("SCENARIO", "scenario", word, known)])
        return read_scenario(word, scenario_text(word))
    path = Path(word)
    try:
        text = text_of(path, TOML_BYTES_MAX)
    except Unreadable as reason:
        raise PlanError(
            [unreadable(word, reason, "a scenario file", "`mqproof new scenario NAME` writes one")]
        ) from None
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
