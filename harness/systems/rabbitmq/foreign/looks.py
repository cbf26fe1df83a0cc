"""PURE: compares what an external cluster reports with its topology file.

1. A contradiction is reported before a run begins, because verdicts would be wrong.
2. What an API does not report is no contradiction.
"""

from collections.abc import Mapping
from typing import Any

from harness.plan.topology import Topology

UNAUTHORISED = frozenset({401, 403})


def refused(topology: Topology, statuses: Mapping[str, int | None]) -> tuple[str, ...]:
    """`statuses`: what each host's management API answered to the credentials; None: nothing."""
    hosts = [host for host, status in statuses.items() if status in UNAUTHORISED]
    if not hosts:
        return ()
    names = " and ".join(f"${name}" for name in topology.variables)
    return (f"the management API of {', '.join(hosts)} does not take what {names} hold",)


def strangers(topology: Topology, listed: list[dict[str, Any]]) -> tuple[str, ...]:
    """Nodes of the cluster that the file does not name, and the other way round."""
    named = [broker.node for broker in topology.brokers]
    found = [str(node.get("name")) for node in listed]
    mistakes = []
    if more := [name for name in found if name not in named]:
        mistakes.append(
            f"the cluster has nodes that the file does not name: {', '.join(more)} (a queue's "
            "master may lie there)"
        )
    if less := [name for name in named if name not in found]:
        mistakes.append(f"the cluster knows no node {', '.join(less)}; it has {', '.join(found)}")
    return tuple(mistakes)


def ticks(topology: Topology, listed: list[dict[str, Any]]) -> tuple[str, ...]:
    """Nodes whose net_ticktime is another one than the file's."""
    timers = {str(node.get("name")): node.get("net_ticktime") for node in listed}
    return tuple(
        f"net_ticktime of {name} is {tick} s, and {topology.detection_timeout_s:g} s in the file"
        for name, tick in timers.items()
        if isinstance(tick, int | float) and tick != topology.detection_timeout_s
    )
