"""A topology file on the command line: what it stands in for, and what must be there before.

1. The file sets system, hosts and deployment: giving them as well is an error.
2. It names environment variables; their values are not read here.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from faults.core.mechanisms import EXTERNAL
from harness.outside.files import TOML_BYTES_MAX, Unreadable, text_of
from harness.outside.text import brief
from harness.plan.layouts.topology import Topology
from harness.plan.model import Experiment, Layout, System
from harness.plan.problems import EMPTY, PlanError, Problem, nearest, unreadable
from harness.systems.topologies import (
    examples,
    foreign_of,
    layout_of,
    read_topology,
    text_from_compose,
)

FLAG = "--topology"
FROM_COMPOSE = "--from-compose"
SYSTEM = "--system"
NEW = "`mqproof new topology NAME` writes one"


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a topology file stands in for."""

    system: System
    layout: Layout


def problems(systems: Sequence[str], layouts: Sequence[str], deployment: str) -> Iterator[Problem]:
    """Flags that say what the file says already."""
    for flag, given in (("--system", systems), ("--layout", layouts)):
        if given:
            yield Problem(flag, "the topology file says it: leave this out")
    if deployment not in ("", EXTERNAL):
        text = (
            f"what a topology file names is deployed already: {EXTERNAL}, not {brief(deployment)}"
        )
        yield Problem("--deployment", text)


def chosen(file: str | None, systems: Sequence[System], layouts: Sequence[Layout]) -> Chosen:
    """Raises PlanError with every problem of the file."""
    topology = read(file, systems)
    assert file is not None, "what was read has a name"
    return _stand_in(topology, file, systems, layouts)


def _stand_in(
    topology: Topology, file: str, systems: Sequence[System], layouts: Sequence[Layout]
) -> Chosen:
    if topology.name in {layout.name for layout in layouts}:
        text = f"{brief(topology.name)} is the name of a built-in layout; choose another name"
        raise PlanError([Problem(file, text)])
    system = next(one for one in systems if one.name == topology.system)
    layout = layout_of(topology)
    clients = foreign_of(topology).driven_by or system.clients
    return Chosen(replace(system, default_layout=layout.label, clients=clients), layout)


def read(file: str | None, systems: Sequence[System]) -> Topology:
    """Return the topology. `file`: None if none was given. Raises PlanError."""
    if file == "":
        raise PlanError([Problem(FLAG, EMPTY)])
    if file is None:
        text = f"{EXTERNAL!r} needs {FLAG} FILE; `mqproof new topology NAME` writes one"
        raise PlanError([Problem("--deployment", text)])
    path = Path(file)
    try:
        source = text_of(path, TOML_BYTES_MAX)
    except Unreadable as reason:
        raise PlanError([unreadable(file, reason, "a topology file", NEW)]) from None
    return _read_text(source, file, systems)


def _read_text(source: str, file: str, systems: Sequence[System]) -> Topology:
    names = tuple(system.name for system in systems if EXTERNAL in system.deployments)
    return read_topology(Path(file).stem, source, names, file)


def check_new(
    text: str, path: Path, source: str, systems: Sequence[System], layouts: Sequence[Layout]
) -> None:
    """Raise PlanError if `mqproof run` would refuse a topology file that is about to be written.
    `source`: what its text was made from."""
    file = str(path)
    try:
        _stand_in(_read_text(text, file, systems), file, systems, layouts)
    except PlanError as error:
        raise PlanError(_refused(one, source) for one in error.problems) from None


def _refused(problem: Problem, source: str) -> Problem:
    """Return the problem at the place that the user can mend: the file is not there."""
    text = f"nothing was written: `mqproof run` would refuse {problem.place}: {problem.text}"
    advice = (
        problem.advice or "correct that, or write the topology file by hand (docs/external.md)"
    )
    return replace(problem, place=source, text=text, advice=advice)


def check_before(experiment: Experiment, keep: bool, variables: Collection[str]) -> None:
    """Raise PlanError with what prevents a run, and not its plan. `variables`: those that are
    set."""
    if problems := tuple(_problems_before(experiment, keep, variables)):
        raise PlanError(problems)


def _problems_before(
    experiment: Experiment, keep: bool, variables: Collection[str]
) -> Iterator[Problem]:
    topologies = [run.layout.topology for run in experiment.runs if run.layout.topology]
    if keep and topologies:
        yield Problem("--keep", "these brokers stand anyway: mqproof did not start them")
    for name, topology in {name: one for one in topologies for name in one.variables}.items():
        if name not in variables:
            text = f"the environment variable {name}, which it names, is not set"
            yield Problem(f"{topology.name}.toml, [credentials]", text)


def of_compose(file: Path, path: Path) -> str:
    """The TOML text of a first topology, by a Compose file. Raises PlanError."""
    if file == Path():
        raise PlanError([Problem(FROM_COMPOSE, EMPTY)])
    try:
        source = text_of(file, TOML_BYTES_MAX)
    except Unreadable as reason:
        raise PlanError([unreadable(str(file), reason, "a Compose file")]) from None
    return text_from_compose(source, file.name, file.resolve().parent.name, str(path))


def example(system: str | None = None) -> str:
    """Return the TOML text that `mqproof new topology` writes; without a system, the first one.
    Raise PlanError."""
    known = examples()
    if system is None:
        return next(iter(known.values()))()
    if system not in known:
        text = f"there is no first topology file of {brief(system)}"
        raise PlanError([Problem(SYSTEM, text, tuple(known), nearest(system, tuple(known)))])
    return known[system]()
