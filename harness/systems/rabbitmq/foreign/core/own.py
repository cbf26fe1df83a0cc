"""PURE: what a topology file says of brokers that RabbitMQ's management API tells of."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from harness.plan.layouts.layout_values import PauseIfAllDown
from harness.plan.layouts.topology import Topology, bracketed

HTTPS_PORT = 443
OUR_POLICY = "mqproof."  # how the names of policies begin that are made here


@dataclass(frozen=True, slots=True)
class RabbitOwn:
    """topology.Own. `management`: by host, the URL before /api, of those that have one.

    `arguments`: of the declaration of each queue of runs.
    """

    management: Mapping[str, str]
    sets: bool  # a policy for the queues of runs
    copies: int | None
    synchronise: str
    partition_handling: str
    pause: PauseIfAllDown | None
    # What the policy of runs' queues says; "" is unknown (harness/plan/layouts/guarantees.py).
    mirrored_on: str = ""
    promote_on_shutdown: str = ""
    promote_on_failure: str = ""
    arguments: tuple[tuple[str, str | int], ...] = ()
    without_api: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        return f"policies: {'one is set, and removed' if self.sets else 'left as they are'}"


def own(topology: Topology) -> RabbitOwn:
    found = topology.own
    assert isinstance(found, RabbitOwn), f"{topology.system} is read by its own shape"
    return found


def node_names(topology: Topology) -> dict[str, str]:
    """What the cluster calls its nodes -> what they are called by who asks."""
    return {broker.node: f"rabbit@{broker.host}" for broker in topology.brokers}


def api_ways(topology: Topology, host: str) -> tuple[str, ...]:
    """Where a host's management API shows a certificate: `address:port`, or nowhere."""
    parts = urlsplit(own(topology).management.get(host, ""))
    if parts.scheme != "https":
        return ()
    return (f"{bracketed(parts.hostname or '')}:{parts.port or HTTPS_PORT}",)
