"""PURE: how a stream is declared, what the management API says of it, and what it guarantees.

1. Nothing limits its length or age: nothing that was confirmed is discarded.
2. The node that declares it leads it, by RabbitMQ's default, too.
3. RabbitMQ 4 reports leader, members, and which of these are online, as of a quorum queue.
4. RabbitMQ 3.10 reports the leader's node alone, if it is asked without statistics. Every host of
   the layout has a replica, so the other hosts are named as followers, whether they run or not
   (`names_dead`). Of the followers one at least holds all that was confirmed: the one with the
   longest log.
5. A confirm waits until a majority of the replicas has the message. They write it to files and
   never flush these: what a host has not written back when its power fails is lost there.
6. A transient message is written as a persistent one: only durable streams can be declared.
7. Nothing is removed when it is consumed. Each consumer asks for the offset that it wants next.

docs/behaviour/streams.md 2 has it all.
"""

from dataclasses import replace
from typing import Any

from harness.cluster.port import Roles
from harness.plan.layouts.guarantees import CLIENTS, Guarantees
from harness.plan.model import Layout
from harness.systems.rabbitmq.core import members
from harness.systems.rabbitmq.core.cluster_state import master_of
from harness.systems.rabbitmq.core.member_layouts import member_guarantees
from harness.systems.rabbitmq.core.queues import QueueKind
from spark_analysis.schema.words import Strength

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


def stream_guarantees(layout: Layout) -> Guarantees:
    return member_guarantees(
        layout,
        Strength.BUFFERED,
        placed="no policy says where replicas of a stream are",
        elected="a replica whose log ends before that of another one is not elected",
        on_disk=False,
        kept_by=CLIENTS,
    )
