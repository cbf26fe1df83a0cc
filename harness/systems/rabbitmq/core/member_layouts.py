"""PURE: the shape of a layout file of queues with members, and the layout that it becomes.

1. `members`: on so many hosts a queue lies, whatever becomes of them. No policy says so.
2. A follower that is back catches up by itself: what the leader has and it lacks is sent to it.
3. A partition handling needs Mnesia: with `khepri` it is refused, and where clusters begin in
   Khepri the layout is NOT APPLICABLE.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.guarantees import Guarantees, NotApplicable
from harness.plan.model import Layout
from harness.systems.layout_parts import HOSTS_MAX
from harness.systems.rabbitmq.core.khepri import (
    IGNORE,
    NEEDS,
    InKhepri,
    needs_mnesia,
    without_effect,
)
from harness.systems.rabbitmq.core.layouts import (
    IMAGE_HELP,
    ImageName,
    NodesLayoutFile,
    Version,
)
from harness.systems.rabbitmq.core.versions import DEFAULT
from spark_analysis.schema.words import Strength

CATCHES_UP = "automatic"


def member_guarantees(
    layout: Layout, alone: Strength, *, placed: str, elected: str, on_disk: bool, kept_by: str
) -> Guarantees:
    """Return what a queue guarantees whose members elect their leader. `alone`: the confirm level
    with one member. `placed` and `elected`: why no policy decides where members are, and which
    member is promoted. `on_disk`: a confirm waits for disks. `kept_by`: who keeps the progress of
    consumers."""
    strength = Strength.REPLICATED if (layout.copies or 1) > 1 else alone
    return Guarantees(
        masters=1,
        mirrored_on=NotApplicable(placed),
        promote_on_shutdown=NotApplicable(elected),
        promote_on_failure=NotApplicable(elected),
        elects=True,
        elects_by_majority=True,
        route_poll_s=NotApplicable("clients of this system use no name server"),
        confirm_waits_for_mirrors=False,
        confirm_waits_for_majority=True,
        confirm_waits_for_disk=on_disk,
        checks_within_s=NotApplicable("its brokers ask about no transaction"),
        progress_kept_by=kept_by,
        strength=strength,
        strength_of_transient=strength,
    )


class MembersLayoutFile(NodesLayoutFile):
    """One layout file."""

    members: Annotated[int, Field(ge=1, le=HOSTS_MAX)] = Field(description="replicas of a queue")
    version: Version = Field(default=DEFAULT, description="version of the brokers")
    image: ImageName | None = Field(default=None, title="name of an image", description=IMAGE_HELP)
    khepri: bool = Field(
        default=False,
        description="nodes keep their metadata in Khepri: from version 4.0 on, and with "
        '`partition_handling = "ignore"` alone',
    )

    def layout(self, system: str, profile: str) -> Layout:
        made = self.of_queues(system, profile, self.members, CATCHES_UP, version=self.version)
        until = needs_mnesia(self.partition_handling)
        made = replace(made, image=self.image or "", needs_earlier=until)
        return replace(made, own=InKhepri(), needs_version=NEEDS) if self.khepri else made

    def problems(self, processes: tuple[str, ...]) -> Iterator[TomlProblem]:
        yield from super().problems(processes)
        hosts = len(self.cluster)
        if self.members is not None and self.whole and 0 < hosts < self.members:
            text = f"{self.members} members on {hosts} hosts: no host holds two of one queue"
            yield TomlProblem(("members",), text)
        if self.khepri and (why := without_effect(self.partition_handling or "")):
            text = f"cannot be combined with khepri = true: {why}"
            yield TomlProblem(("partition_handling",), text, (f'"{IGNORE}"',))
