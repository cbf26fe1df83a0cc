"""Faults that need a module of the Docker host's kernel: without it, cells are NOT APPLICABLE.

1. Only the kernel of this machine is known. If the engine's kernel is another one, or if no file
   shows whether it has the module, the cells stay: then the fault fails with the same advice, and
   the run is INCONCLUSIVE.
2. An experiment in which no cell is left is bad input.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache

from faults.core.mechanisms import COMPOSE
from harness.cluster.port import DeployError
from harness.outside import kernel
from harness.plan.model import Experiment, FaultPlan, Skipped
from harness.plan.problems import PlanError, Problem

_ENGINE_LIMIT_S = 5.0
Lacking = Callable[[str], str]  # a module -> why the Docker host's kernel has it not; "": it may


@cache
def lacks(module: str) -> str:
    """Return why the Docker host's kernel has no such module; "" if it has it, or if that is
    unknown here."""
    found = kernel.here()
    why = kernel.lacking(found, module)
    return why if why and _of_engine() == found.release else ""


def obstacles(
    faults: Iterable[FaultPlan], deployment: str, lacking: Lacking = lacks
) -> Iterator[str]:
    """Yield every reason why the Docker host's kernel cannot do a fault."""
    for number, fault in enumerate(faults, start=1):
        module = fault.options.kernel_module
        if deployment == COMPOSE and module and (why := lacking(module)):
            yield (
                f"fault {number}: {deployment} offers no {fault.kind} here: the kernel of the "
                f"Docker host {why}. Run `modprobe {module}` on the Docker host; if that fails, "
                f"install the package that has the module (Debian, Ubuntu: linux-modules-extra), "
                f"or use a host whose kernel has it"
            )


def fitting(made: Experiment, lacking: Lacking = lacks) -> Experiment:
    """Return the experiment without the cells that the Docker host's kernel cannot do. Raise
    PlanError if none is left."""
    reasons = {
        run.cell: "; ".join(obstacles(run.scenario.faults, run.deployment, lacking))
        for run in made.runs
    }
    without = {cell: why for cell, why in reasons.items() if why}
    if not without:
        return made
    runs = tuple(run for run in made.runs if run.cell not in without)
    if not runs:
        raise PlanError(
            Problem(f"{scenario} on {system} {layout} with {client}", f"not applicable: {why}")
            for (scenario, system, layout, client), why in without.items()
        )
    skipped = tuple(Skipped(cell, why) for cell, why in without.items())
    return replace(made, runs=runs, skipped=(*made.skipped, *skipped))


def _of_engine() -> str:
    """Return the release of the kernel that containers have; "" if no engine answers."""
    from docker.errors import DockerException  # it takes long to load

    from harness.deploy import engine

    try:
        return str(engine.connect(_ENGINE_LIMIT_S).info().get("KernelVersion", ""))
    except (DeployError, DockerException, OSError):
        return ""
