"""How many of a run's messages are special, by the section of the family of clients that plays."""

from harness.plan.clients.asked import counted
from harness.plan.clients.section import COUNTED
from harness.plan.declared import FEW
from harness.plan.model import RunPlan


def planned(plan: RunPlan) -> dict[str, int | None]:
    """How many messages are to wait, and how many are in transactions, where these are few on
    purpose: facts that claims ask for; None where there are many, or nobody can tell."""
    every = counted(plan.client, plan.scenario.workload, plan.schedule.load_s)
    assert every.keys() <= set(COUNTED), sorted(every)
    few = {name: number for name, number in every.items() if 0 < number < FEW}
    return {name: few.get(name) for name in COUNTED}
