"""The shape of a layout file of groups with controllers, and the layout that it becomes.

Every name server has a controller in it, RocketMQ's own way to run them without more hosts; or
controllers stand by themselves, and no name server has one.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from harness.plan.model import Layout
from harness.plan.toml_problems import TomlProblem
from harness.systems.rocketmq.layout import CONTROLLER, IN_SYNC, NAME_SERVER
from harness.systems.rocketmq.layout_files import (
    VERSION_HELP,
    Flush,
    RocketFile,
    file_mistakes,
    groups,
    processes_of,
    released,
)
from harness.systems.rocketmq_controller.layout import Controlled

_Replicas = Annotated[int, Field(ge=1, le=9)]


class ControllerLayoutFile(RocketFile):
    """One layout file; its rules by the product's names. The number of a broker says nothing."""

    version: Annotated[str, released("5.1.4")] = Field(description=VERSION_HELP)
    flush: Flush = Field(description="`sync`: a confirm waits for the disk")
    all_ack_in_sync_state_set: bool = Field(
        description="a confirm waits for every replica in sync (`allAckInSyncStateSet`)"
    )
    in_sync_replicas: _Replicas = Field(
        description="a confirm waits for so many replicas (`inSyncReplicas`)"
    )
    min_in_sync_replicas: _Replicas = Field(
        description="with fewer replicas in sync the master refuses sends (`minInSyncReplicas`)"
    )
    unclean_election: bool = Field(
        description="a replica out of sync may be elected (`enableElectUncleanMaster`)"
    )

    def layout(self, system: str, profile: str) -> Layout:
        own = Controlled(
            version=self.version,
            replication=IN_SYNC,
            flush=self.flush,
            timers=self.timers(profile),
            client_jvm=self.client_jvm,
            all_ack=self.all_ack_in_sync_state_set,
            in_sync=self.in_sync_replicas,
            least_in_sync=self.min_in_sync_replicas,
            unclean=self.unclean_election,
        )
        return self.made(system, profile, own)


def mistakes(document: Mapping[str, Any], _: tuple[str, ...] = ()) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    found = list(file_mistakes(document, (CONTROLLER,)))
    yield from found
    if any("processes" in problem.path for problem in found):
        return  # what its groups are is not known
    hosts = processes_of(document)
    alone = sum(CONTROLLER in processes for processes in hosts)
    if (alone or sum(NAME_SERVER in processes for processes in hosts)) == 2:
        text = "two controllers have no majority if one fails; use one, or three"
        yield TomlProblem(("hosts",), text)
    copies = max(map(len, groups(hosts).values()), default=0)
    for key in ("in_sync_replicas", "min_in_sync_replicas"):
        wanted = document.get(key)
        if isinstance(wanted, int) and copies and wanted > copies:
            text = f"{key} = {wanted}, and a group has {copies}: nothing would ever be confirmed"
            yield TomlProblem((key,), text)
