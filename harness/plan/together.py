"""Runs of several clients that are played together: at once, on one cluster, with one fault.

1. They differ by their client alone. Random choices (where masters are) are made once for all of
   them, and each phase has the length of the longest one.
2. Some things cannot be shared, because they would differ by run: a fault of a client, an
   operation for one run, a rhythm that each run plays by its own clock.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from faults.kinds import KINDS
from faults.targets import CLIENT
from harness.plan import worker_addresses
from harness.plan.model import Layout, RunPlan, Scenario, System
from harness.plan.seeds import derive


def obstacles(scenario: Scenario, system: System, layout: Layout, runs: int) -> Iterator[str]:
    """Why so many runs of a scenario cannot be played together."""
    for number, fault in enumerate(scenario.faults, start=1):
        if KINDS[fault.kind].applies_to == CLIENT:
            yield f"fault {number}: a {fault.kind} strikes clients, and each run has its own"
        elif client := fault.target.client:
            whose = f"depends on a client, and each run has its own {client}"
            yield f"fault {number}: {fault.target} {whose}"
        elif KINDS[fault.kind].repeats:
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
