"""PURE: what a layout of masters and slaves says: its file, its guarantees, its servers.

1. A topic lies on all groups of brokers, each with a master of its own; no slave is ever elected.
2. Settings that every broker has are the family's (harness/systems/rocketmq/core/settings.py).
"""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from harness.plan.clients.rocketmq_table import QUERIED_WITHIN_S
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.guarantees import BROKERS, Guarantees
from harness.plan.layouts.servers import QueueRole, Servers
from harness.plan.model import Layout
from harness.systems.rocketmq.core.layout import (
    ASYNC,
    MASTER_ID,
    SYNC,
    RocketMq,
    ServerProcess,
    brokers,
    own,
    server_of,
)
from harness.systems.rocketmq.core.layout_files import (
    VERSION_HELP,
    DistributedFile,
    Flush,
    RocketFile,
    released,
)
from harness.systems.rocketmq.core.servers import rocketmq_servers
from harness.systems.rocketmq.core.settings import broker, name_server
from spark_analysis.schema.words import DISK_OPEN, Strength


class MasterSlaveFile(RocketFile):
    """A layout file of masters and slaves. Of a group's brokers the one with the number 0 is the
    master. `version`: of the servers."""

    version: str = Field(description="version of the servers")
    replication: Literal["sync", "async"] = Field(
        description="`sync`: a confirm waits for a slave"
    )
    flush: Flush = Field(description="`sync`: a confirm waits for the disk")

    def layout(self, system: str, profile: str) -> Layout:
        timers = self.timers(profile)
        own = RocketMq(self.version, self.replication, self.flush, timers, self.client_jvm)
        return self.made(system, profile, own)

    def group_problems(self) -> Iterator[TomlProblem]:
        if self.replication == SYNC and {len(members) for members in self.groups.values()} == {1}:
            text = f"{SYNC!r} on groups without a slave: no slave would acknowledge; add slaves"
            yield TomlProblem(("replication",), text, (ASYNC,))


class RocketLayoutFile(MasterSlaveFile, DistributedFile):
    """One of the real ones."""

    version: Annotated[str, released("4.9.0")] = Field(description=VERSION_HELP)


def configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """By key, of the server that is this process of this host."""
    server = server_of(layout.hosts, host, process)
    if not server.is_broker:
        return name_server(layout, server)
    return broker(layout, server, dict(role(layout, server.id))) | _copies(layout)


def role(layout: Layout, id: int) -> tuple[tuple[str, str], ...]:
    """What makes a broker of a group that one of them: 0 the master, others slaves."""
    return ("brokerId", str(id)), ("brokerRole", _role(id, own(layout).replication))


def _role(id: int, replication: str) -> str:
    if id != MASTER_ID:
        return "SLAVE"
    return "ASYNC_MASTER" if replication == ASYNC else "SYNC_MASTER"


def _copies(layout: Layout) -> dict[str, str]:
    """Return further settings: in RocketMQ 5 SYNC_MASTER alone waits for no slave."""
    declared = own(layout)
    if declared.version.startswith("5.") and declared.replication == SYNC:
        return {"inSyncReplicas": str(layout.copies)}
    return {}


REPLICATED = f"the master and at least one slave had the message; {DISK_OPEN}"


def master_slave_guarantees(layout: Layout) -> Guarantees:
    declared = own(layout)
    replicated, flushed = declared.replication == SYNC, declared.flush == SYNC
    alone = Strength.STORED if flushed else Strength.BUFFERED
    strength = Strength.REPLICATED if replicated else alone
    return Guarantees(
        masters=sum(one.id == MASTER_ID for one in brokers(layout.hosts)),
        mirrored_on="none",
        promote_on_shutdown="never",
        promote_on_failure="never",
        elects=False,
        elects_by_majority=False,
        route_poll_s=declared.timers.poll_s,
        confirm_waits_for_mirrors=replicated,
        confirm_waits_for_majority=False,
        confirm_waits_for_disk=flushed,
        checks_within_s=QUERIED_WITHIN_S,
        progress_kept_by=BROKERS,
        strength=strength,  # of SEND_OK; every message goes into the log
        strength_of_transient=strength,
    )


def master_slave_servers(layout: Layout) -> Servers:
    return rocketmq_servers(layout, _fixed_role, voters=(), controllers=())


def _fixed_role(one: ServerProcess) -> QueueRole:
    return QueueRole.MASTER if one.id == MASTER_ID else QueueRole.MIRROR
