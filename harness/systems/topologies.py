"""Topology files of every system that can be met as a cluster of somebody else's.

Which these are, their declarations say (`foreign`).
"""

from collections.abc import Callable, Sequence

from harness.cluster.port import DeployError
from harness.plan.files import topology_toml
from harness.plan.layouts.topology import Topology
from harness.plan.model import Layout
from harness.plan.problems import PlanError, Problem
from harness.systems.foreign import Foreign
from harness.systems.registry import registry


def read_topology(name: str, source: str, systems: Sequence[str], file: str = "") -> Topology:
    """`systems`: the names that `system` may be; of those that cannot be met so none may. Raises
    PlanError with every problem in it."""
    found = {system: foreign for system in systems if (foreign := _foreign(system)) is not None}
    shapes = {system: foreign.shape for system, foreign in found.items()}
    others = registry().systems.keys() - shapes.keys()
    return topology_toml.read_topology(name, source, shapes, file, others)


def examples() -> dict[str, Callable[[], str]]:
    """Return what reads a first topology file, of each system that has one."""
    return {
        name: one.foreign.example
        for name, one in registry().systems.items()
        if one.foreign is not None and one.foreign.example is not None
    }


def text_from_compose(source: str, file: str, folder: str, path: str) -> str:
    """A first topology file, by the first family that finds its services in a Compose file.

    `file`, `folder`: the Compose file's name and its folder's; `path`: of the topology. Raises
    PlanError with what the last family lacks.
    """
    every = (one.foreign for one in registry().systems.values() if one.foreign is not None)
    makers = dict.fromkeys(one.from_compose for one in every if one.from_compose is not None)
    lacks = PlanError([Problem(file, "no system can be read from a Compose file")])
    for make in makers:
        try:
            return make(source, file, folder, path)
        except PlanError as error:
            lacks = error
    raise lacks


def layout_of(topology: Topology) -> Layout:
    """The topology as runs know it: hosts, timer, and what is declared."""
    return foreign_of(topology).layout(topology)


def foreign_of(topology: Topology) -> Foreign:
    """Raises DeployError where its system is no more what it was when the file was read."""
    found = _foreign(topology.system)
    if found is None:
        raise DeployError(f"{topology.system} cannot be met as brokers that are there already")
    return found


def _foreign(system: str) -> Foreign | None:
    declared = registry().systems.get(system)
    return None if declared is None else declared.foreign
