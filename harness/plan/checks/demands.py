"""PURE: what a workload demands of queues that not every broker has, by the words of `[cannot]`.

1. A system that lacks one says so with its reason; then a workload that demands it is NOT
   APPLICABLE.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from harness.plan.clients.requirements import ChosenClient
from harness.plan.model import System
from harness.plan.workload import Workload


@dataclass(frozen=True, slots=True)
class Demand:
    """`demanded`: whether a workload does, with a client."""

    title: str
    demanded: Callable[[ChosenClient, Workload], bool]


DEMANDS: Mapping[str, Demand] = {
    "transient_queues": Demand(
        "queues that need not outlive their broker", lambda _, workload: not workload.durable
    ),
    "cancel_on_ha_failover": Demand(
        "consumers that get a notice of a new master",
        lambda client, workload: workload.consumers > 0 and _learns_of_failovers(client, workload),
    ),
    "shared_queues": Demand(
        "consumers that share a queue",
        lambda _, workload: workload.consumers > len(workload.queues),
    ),
    "priorities": Demand(
        "queues with priorities", lambda client, workload: priorities(client, workload) > 0
    ),
}


def priorities(client: ChosenClient, workload: Workload) -> int:
    """Return how many levels of priority the workload's messages have; 0: they have none."""
    levels = client.facts(workload).get("priorities")
    return levels if isinstance(levels, int) else 0


def _learns_of_failovers(client: ChosenClient, workload: Workload) -> bool:
    return client.facts(workload).get("cancel_on_ha_failover") is True


def obstacles(system: System, client: ChosenClient, workload: Workload) -> Iterator[str]:
    """Every demand that the system's brokers do not meet, and why."""
    for name, demand in DEMANDS.items():
        if name in system.cannot and demand.demanded(client, workload):
            yield f"{system.name} has no {demand.title}: {system.cannot[name]}"
