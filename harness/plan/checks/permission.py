"""The faults that a topology allows on a cluster that mqproof did not start.

1. A late-bound target may mean any host: its fault must be allowed on every one.
2. A refusal lists the faults that are allowed.
3. A host that mqproof did not start is never left down.
"""

from collections.abc import Iterator

from faults.core.mechanisms import EXTERNAL
from faults.kinds import KINDS
from harness.plan.layouts.topology import Topology
from harness.plan.model import FaultPlan


def forbidden(fault: FaultPlan, topology: Topology) -> Iterator[str]:
    """Why this fault, of a kind that can be done under `external`, may not be done here."""
    reasons = dict.fromkeys(topology.forbids(fault.kind, host) for host in meant(fault, topology))
    because = "; ".join(reason for reason in reasons if reason)
    if because:
        allowed = permitted(topology)
        yield f"the topology allows no {fault.kind} here: {because}; it allows {allowed}"
    if fault.options.beyond_commands:
        yield fault.options.beyond_commands
    if not fault.returns and not fault.target.of_clients:
        yield "returns = false would leave a host down that mqproof did not start"


def unverified(fault: FaultPlan, topology: Topology) -> tuple[str, ...]:
    """The hosts that may be meant, and have no command that tells whether the fault holds."""
    commands = topology.commands
    return tuple(
        host
        for host in meant(fault, topology)
        if (host, fault.kind.name) in commands and not commands[host, fault.kind.name].verify
    )


def meant(fault: FaultPlan, topology: Topology) -> tuple[str, ...]:
    """The hosts that a fault may mean, as far as that is known before its window opens."""
    hosts = tuple(node.host for node in topology.nodes)
    named = fault.target.host
    if named:
        return (named,) if named in hosts else ()
    # Only brokers hold a queue; other words may mean any host.
    return tuple(one.host for one in topology.brokers) if fault.target.queue else hosts


def permitted(topology: Topology) -> str:
    return topology.allowed(kind for kind in KINDS.values() if EXTERNAL in kind.offers)
