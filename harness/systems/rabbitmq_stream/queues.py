"""PURE: how a stream is declared, and what the management API says of its leader and replicas.

1. Nothing limits its length or age: nothing that was confirmed is discarded.
2. The node that declares it leads it, by RabbitMQ's default, too.
3. RabbitMQ 4 reports leader, members, and which of these are online, as of a quorum queue.
4. RabbitMQ 3.10 reports the leader's node alone, if it is asked without statistics. Every host of
   the layout has a replica, so the other hosts are named as followers, whether they run or not
   (`names_dead`). Of the followers one at least holds all that was confirmed: the one with the
   longest log.

docs/behaviour/streams.md 2 has it all.
"""

from dataclasses import replace
from typing import Any

from harness.cluster.port import Roles
from harness.plan.model import Layout
from harness.systems.rabbitmq import members
from harness.systems.rabbitmq.cluster_state import master_of
from harness.systems.rabbitmq.queues import QueueKind

STREAM = "stream"
_QUEUES = members.queues_of(
    STREAM, {"x-queue-leader-locator": "client-local"}, size="x-initial-cluster-size"
)


def stream_queues(layout: Layout) -> QueueKind:
    """Return how streams of this layout are declared and read."""
    hosts = tuple(host.name for host in layout.hosts)

    def roles_of(queue: dict[str, Any]) -> Roles:
        if "members" in queue:
            return members.roles_of(queue)
        leader = master_of(queue)
        followers = tuple(host for host in hosts if host != leader)
        least = members.majority(len(hosts)) - 1 if leader else 0
        return Roles(leader, followers, None, synchronised_at_least=least)

    def doubts(wanted: Layout, queue: dict[str, Any]) -> list[str]:
        if queue.get("type") != STREAM or "members" in queue:
            return _QUEUES.doubts(wanted, queue)
        return [] if roles_of(queue).master else [f"{queue.get('name')} has no leader"]

    return replace(
        _QUEUES,
        roles_of=roles_of,
        mirrors_wanted=lambda wanted, _: (wanted.copies or 1) - 1,
        doubts=doubts,
        names_dead=lambda queue: "members" not in queue,
    )
