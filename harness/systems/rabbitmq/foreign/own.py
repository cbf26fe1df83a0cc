"""PURE: what a topology file says of brokers that RabbitMQ's management API tells of."""

from collections.abc import Mapping
from dataclasses import dataclass

from harness.plan.model import PauseIfAllDown
from harness.plan.topology import Topology

OUR_POLICY = "mqproof."  # how the names of policies begin that are made here


@dataclass(frozen=True, slots=True)
class RabbitOwn:
    """topology.Own. `management`: by host, the URL before /api."""

    management: Mapping[str, str]
    sets: bool  # a policy for the queues of runs
    copies: int | None
    synchronise: str
    partition_handling: str
    pause: PauseIfAllDown | None
    # What the policy of runs' queues says; "" is unknown (harness/plan/guarantees.py).
    mirrored_on: str = ""
    promote_on_shutdown: str = ""
    promote_on_failure: str = ""

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
