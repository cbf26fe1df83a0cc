"""How many addresses the workers of a run take, where brokers are known by name.

1. Each worker has one of its own for its whole run, so that a broker's name leads it through links
   that are its alone. What dead clients had is not given to others, for their links are on record.
2. Counted is the most that the scenario can need: a drain and an audit come after each run.
"""

from collections.abc import Iterator

from harness.plan.distribution import consumers_in_all, read_queues
from harness.plan.layouts.servers import Servers
from harness.plan.model import FaultPlan, Scenario
from harness.plan.workload import Workload

ADDRESSES = 110  # that the proxy has for workers


def wanted(scenario: Scenario, servers: Servers) -> dict[str, int]:
    """How many of each sort of worker, by its name; nothing where brokers are known by address."""
    if not servers.by_names:
        return {}
    workload = scenario.workload
    queues = len(read_queues(workload))
    return {
        "publishers": workload.publishers,
        "consumers": consumers_in_all(workload),
        "successors of crashed clients": sum(
            _successors(each, workload) for each in scenario.faults
        ),
        "probers": len(workload.queues),
        "drainers": queues,
        "auditors": queues * len(servers.logs),
    }


def obstacles(scenario: Scenario, servers: Servers, runs: int = 1) -> Iterator[str]:
    """At most one. `runs`: so many are played together."""
    found = wanted(scenario, servers)
    if (total := runs * sum(found.values())) > ADDRESSES:
        each = ", ".join(f"{count} {name}" for name, count in found.items() if count)
        each += f"; in each of {runs} runs" if runs > 1 else ""
        yield (
            f"its workers take {total} addresses ({each}), and there are {ADDRESSES}: it takes "
            f"fewer queues, publishers or consumers"
        )


def _successors(fault: FaultPlan, workload: Workload) -> int:
    if not fault.kind.ends_client or not fault.returns:
        return 0
    if fault.target.client:
        return 1
    of = {"publishers": workload.publishers, "consumers": consumers_in_all(workload)}
    return of.get(fault.options.affected_clients, sum(of.values()))
