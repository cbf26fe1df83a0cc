"""PURE: what a layout of CTGMQ says: its file, and the configuration of its servers.

1. Every name server has a control node in it. Any number is allowed: two show why two are not
   enough.
2. A broker's number is its name in the group: its id while it is a slave. So it is above
   MASTER_ID.
3. Settings that every broker has are the family's (harness/systems/rocketmq/core/settings.py).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from harness.plan.files.toml_problems import TomlProblem
from harness.plan.model import Layout
from harness.systems.layout_parts import PROFILES_MAX, ProfileName
from harness.systems.reference.core.speed import ReferenceProfile, compressed
from harness.systems.rocketmq.core.controlled import Controlled, controller
from harness.systems.rocketmq.core.layout import IN_SYNC, ServerProcess, name_servers, server_of
from harness.systems.rocketmq.core.layout_files import (
    Flush,
    RocketFile,
)
from harness.systems.rocketmq.core.settings import STORE, broker, name_server

EPOCHS, SLAVE_ACK = (
    "epochs",
    "slave-ack",
)  # the broker's own words (reference_impl/rocketmq/ctgmq/settings.py)
_CUTS = {
    EPOCHS: "where the epochs of both logs differ",
    SLAVE_ACK: "at its SlaveAckOffset, if it was the master",
}
_REPLICAS_MIN = 2  # a master alone has no successor


@dataclass(frozen=True, slots=True, kw_only=True)
class Ctgmq(Controlled):
    """`truncation`: where a broker that becomes a slave cuts its log."""

    truncation: str

    def describe(self) -> tuple[tuple[str, str], ...]:
        """OwnLayout."""
        return (*Controlled.describe(self), ("a slave's log", f"cut {_CUTS[self.truncation]}"))


def ctgmq(layout: Layout) -> Ctgmq:
    """Raises TypeError for a layout of another system."""
    if not isinstance(layout.own, Ctgmq):
        raise TypeError(f"{layout.label} of {layout.system} is no layout of CTGMQ")
    return layout.own


class CtgmqFile(RocketFile):
    """`version`: it has none; what it does is what the article claims."""

    version: Literal["reference"] = Field(description="the reference has no versions")
    flush: Flush = Field(description="`sync`: a confirm waits for the disk")
    min_in_sync_replicas: Annotated[int, Field(ge=1, le=9)] = Field(
        default=1, description="with fewer replicas in sync the master refuses sends"
    )
    truncation: Literal["epochs", "slave-ack"] = Field(
        default="epochs",
        description="where a new slave cuts its log: where epochs differ, or at SlaveAckOffset",
    )
    profiles: Annotated[
        Mapping[ProfileName, ReferenceProfile], Field(min_length=1, max_length=PROFILES_MAX)
    ] = Field(description="timers; the first profile is the default")

    def layout(self, system: str, profile: str) -> Layout:
        own = Ctgmq(
            version=self.version,
            replication=IN_SYNC,
            flush=self.flush,
            timers=self.timers(profile),
            client_jvm=self.client_jvm,
            compression=self.profiles[profile].compression,
            all_ack=True,
            in_sync=1,
            least_in_sync=self.min_in_sync_replicas,
            unclean=False,
            truncation=self.truncation,
        )
        return self.made(system, profile, own)

    def group_problems(self) -> Iterator[TomlProblem]:
        for group, members in sorted(self.groups.items()):
            if len(members) < _REPLICAS_MIN:
                alone = f"{group} has one broker"
                text = f"{alone}: a group needs two, or no slave replaces its master"
                yield TomlProblem(("hosts",), text)
        yield from self.unreachable("min_in_sync_replicas")


def ctgmq_configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """Return the settings by key."""
    server = server_of(layout.hosts, host, process)
    if server.is_broker:
        return compressed(layout, broker(layout, server, _replica(layout, server)))
    return compressed(layout, name_server(layout, server) | _control_node(layout, server))


def _control_node(layout: Layout, server: ServerProcess) -> dict[str, str]:
    peers = (
        f"{controller(layout, one)}-{one.host}:{one.votes_at}"
        for one in name_servers(layout.hosts)
    )
    return {
        "controlPeers": ";".join(peers),
        "controlSelfId": controller(layout, server),
        "storePathRootDir": STORE,
    }


def _replica(layout: Layout, server: ServerProcess) -> dict[str, str]:
    own = ctgmq(layout)
    return {
        "enableCtgmq": "true",
        "brokerId": str(server.id + 1),
        "minInSyncReplicas": str(own.least_in_sync),
        "replicaTruncation": own.truncation,
    }
