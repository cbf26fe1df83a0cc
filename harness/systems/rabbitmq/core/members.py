"""PURE: queues whose members decide by majority, as the management API reports them.

1. The API tells the leader that a host knows of, and which members' processes run; it does not
   tell what a follower holds. Of the members that run a majority holds all that was confirmed.
2. A host that was away goes on telling a leader that was deposed meanwhile, for good where the
   cluster is partitioned: a majority of hosts must say the same.
3. A leader without a majority of members is none: it can do nothing.
4. While a member hangs, it costs each question seconds.

docs/behaviour/quorum-queues.md 2 and 3, and docs/behaviour/streams.md 2 have it all.
"""

from collections.abc import Mapping
from typing import Any

from harness.cluster.port import Roles
from harness.plan.model import Layout
from harness.systems.rabbitmq.core.cluster_state import host_of, hosts_of
from harness.systems.rabbitmq.core.queues import QueueKind

ARGUMENT = "x-queue-type"
ASK_LIMIT_S = 8.0


def majority(count: int) -> int:
    return count // 2 + 1


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


def queues_of(kind: str, arguments: Mapping[str, str], size: str) -> QueueKind:
    """Return how queues of this type are declared and read.

    `size`: the argument that holds the layout's number of members, even if it is the default.
    """

    def arguments_of(layout: Layout) -> dict[str, str | int]:
        members = {} if layout.copies is None else {size: layout.copies}
        return {ARGUMENT: kind, **arguments, **members}

    def doubts(layout: Layout, queue: dict[str, Any]) -> list[str]:
        """Of such a queue: its leader, and the members that the layout wants."""
        if queue.get("type") != kind:
            return []
        name, roles = queue.get("name"), roles_of(queue)
        if roles.master is None:
            return [f"{name} has no leader"]
        wanted = (layout.copies or 1) - 1
        if len(roles.mirrors) < wanted:
            return [f"{name} has {len(roles.mirrors)} of {wanted} followers"]
        return []

    return QueueKind(
        arguments=arguments_of,
        roles_of=roles_of,
        mirrors_wanted=lambda _, queue: len(hosts_of(queue.get("members"))) - 1,
        doubts=doubts,
        agreeing=majority,
        names_dead=lambda _: False,
        ask_limit_s=ASK_LIMIT_S,
    )
