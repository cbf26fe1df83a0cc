"""PURE: how a quorum queue is declared, and what the management API says of its members.

1. The API tells the leader that a host knows of, and which members' processes run; it does not
   tell what a follower holds. Of the members that run a majority holds all that was confirmed.
2. A host that was away goes on telling a leader that was deposed meanwhile, for good where the
   cluster is partitioned: a majority of hosts must say the same.
3. A leader without a majority of members is none: it can do nothing.
4. While a member hangs, it costs each question seconds.

docs/behaviour/quorum-queues.md 2 and 3 have it all.
"""

from typing import Any

from harness.cluster.port import Roles
from harness.plan.model import Layout
from harness.systems.rabbitmq.cluster_state import host_of, hosts_of
from harness.systems.rabbitmq.queues import QueueKind

ARGUMENT, QUORUM = "x-queue-type", "quorum"
GROUP_SIZE = "x-quorum-initial-group-size"


def majority(count: int) -> int:
    return count // 2 + 1


def arguments_of(layout: Layout) -> dict[str, str | int]:
    """Return the arguments, with the layout's group size even if it is RabbitMQ's default."""
    size = {} if layout.copies is None else {GROUP_SIZE: layout.copies}
    return {ARGUMENT: QUORUM, **size}


def roles_of(queue: dict[str, Any]) -> Roles:
    """Followers whose process runs, in the order in which the queue has its members."""
    members, online = hosts_of(queue.get("members")), hosts_of(queue.get("online"))
    leader = queue.get("leader")
    enough = len(online) >= majority(len(members))
    master = host_of(leader) if leader and enough and host_of(leader) in online else None
    followers = tuple(host for host in members if host in online and host != master)
    holders = majority(len(members)) - (len(members) - len(online))
    at_least = max(0, holders - 1) if master else 0
    return Roles(master, followers, None, synchronised_at_least=min(at_least, len(followers)))


def doubts(layout: Layout, queue: dict[str, Any]) -> list[str]:
    """Of a quorum queue: its leader, and the members that the layout wants."""
    if queue.get("type") != QUORUM:
        return []
    name, roles = queue.get("name"), roles_of(queue)
    if roles.master is None:
        return [f"{name} has no leader"]
    wanted = (layout.copies or 1) - 1
    if len(roles.mirrors) < wanted:
        return [f"{name} has {len(roles.mirrors)} of {wanted} followers"]
    return []


QUORUM_QUEUES = QueueKind(
    arguments=arguments_of,
    roles_of=roles_of,
    mirrors_wanted=lambda _, queue: len(hosts_of(queue.get("members"))) - 1,
    doubts=doubts,
    agreeing=majority,
    ask_limit_s=8.0,
)
