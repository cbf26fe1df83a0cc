"""The shape of a layout file of CTGMQ, and the layout that it becomes.

Every name server has a control node in it. Any number is allowed: two show why two are not enough.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from harness.plan.model import Layout
from harness.plan.toml_problems import TomlProblem
from harness.systems.layout_parts import PROFILES_MAX, ProfileName
from harness.systems.reference_2m2s.layout import ReferenceProfile
from harness.systems.reference_ctgmq.layout import Ctgmq
from harness.systems.rocketmq.layout import IN_SYNC
from harness.systems.rocketmq.layout_files import (
    Flush,
    RocketFile,
    file_mistakes,
    groups,
    processes_of,
)

_REPLICAS_MIN = 2  # a master alone has no successor
_LEAST = "min_in_sync_replicas"


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


def mistakes(document: Mapping[str, Any], _: tuple[str, ...] = ()) -> Iterator[TomlProblem]:
    """Check several keys together; the shape finds missing and ill-typed keys."""
    found = list(file_mistakes(document))
    yield from found
    if any("processes" in problem.path for problem in found):
        return  # what its groups are is not known
    members = groups(processes_of(document))
    for group, brokers in sorted(members.items()):
        if len(brokers) < _REPLICAS_MIN:
            text = f"{group} has one broker: a group needs two, or no slave replaces its master"
            yield TomlProblem(("hosts",), text)
    copies, wanted = max(map(len, members.values()), default=0), document.get(_LEAST)
    if isinstance(wanted, int) and copies and wanted > copies:
        text = f"{_LEAST} = {wanted}, and a group has {copies}: nothing would ever be confirmed"
        yield TomlProblem((_LEAST,), text)
