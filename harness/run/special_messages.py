"""How many of a run's messages are delayed or in transactions, by the client family's section."""

from harness.plan.clients.requirements import counted
from harness.plan.clients.section import COUNTED
from harness.plan.declared import FEW
from harness.plan.model import RunPlan


def planned(plan: RunPlan) -> dict[str, int | None]:
    """Return how many messages are delayed and in transactions, if these are few on purpose.

    These are facts for claims; None if there are many, or if the number is unknown.
    """
    every = counted(plan.client, plan.scenario.workload, plan.schedule.load_s)
    assert every.keys() <= set(COUNTED), sorted(every)
    few = {name: number for name, number in every.items() if 0 < number < FEW}
    return {name: few.get(name) for name in COUNTED}
