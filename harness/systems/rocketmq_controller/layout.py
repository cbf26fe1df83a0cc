"""PURE: what a layout with controllers has that others of RocketMQ have not: the rules of its
replication, by the product's own names; and where its controllers are."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.plan.model import Layout
from harness.systems.rocketmq.layout import (
    CONTROLLER,
    HasProcesses,
    RocketMq,
    ServerProcess,
    name_servers,
    servers,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Controlled(RocketMq):
    """`all_ack`: allAckInSyncStateSet: a confirm waits for the whole SyncStateSet, however many
    that are. `in_sync`: inSyncReplicas: else for so many brokers, the master among them.
    `least_in_sync`: minInSyncReplicas: with fewer in the set, sends are refused. `unclean`:
    enableElectUncleanMaster: a broker that was not in the set may be elected."""

    all_ack: bool
    in_sync: int
    least_in_sync: int
    unclean: bool

    def describe(self) -> tuple[tuple[str, str], ...]:
        """OwnLayout."""
        waits = "all in sync" if self.all_ack else f"{self.in_sync} in sync"
        rules = f"a confirm waits for {waits}, at least {self.least_in_sync}"
        unclean = "others may be elected" if self.unclean else "no other is elected"
        return (*RocketMq.describe(self), ("SyncStateSet", f"{rules}; {unclean}"))


def rules(layout: Layout) -> Controlled:
    """Raises TypeError for a layout of another system."""
    if not isinstance(layout.own, Controlled):
        raise TypeError(f"{layout.label} of {layout.system} has no controllers")
    return layout.own


def controllers(hosts: Sequence[HasProcesses]) -> tuple[ServerProcess, ...]:
    """Those that stand by themselves; else every name server has one in it."""
    alone = tuple(one for one in servers(hosts) if one.process == CONTROLLER)
    return alone or name_servers(hosts)
