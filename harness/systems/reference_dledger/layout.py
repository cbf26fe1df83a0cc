"""PURE: the shape of a layout file of the reference's groups, and their servers' configuration.

Both are those of the real ones. The reference may be quicker.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from harness.plan.model import Layout
from harness.systems.layout_parts import PROFILES_MAX, ProfileName
from harness.systems.reference_2m2s.layout import ReferenceProfile, compressed
from harness.systems.rocketmq.layout import ASYNC, MAJORITY, RocketMq
from harness.systems.rocketmq_dledger.layout import DledgerFile, configuration


def reference_configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """Return the settings by key."""
    return compressed(layout, configuration(layout, host, process))


class ReferenceGroupsFile(DledgerFile):
    """`version`: it has none; what it does is what 4.9 does."""

    version: Literal["reference"] = Field(description="the reference has no versions")
    profiles: Annotated[
        Mapping[ProfileName, ReferenceProfile], Field(min_length=1, max_length=PROFILES_MAX)
    ] = Field(description="timers; the first profile is the default")

    def layout(self, system: str, profile: str) -> Layout:
        timers, factor = self.timers(profile), self.profiles[profile].compression
        own = RocketMq(self.version, MAJORITY, ASYNC, timers, self.client_jvm, factor)
        return self.made(system, profile, own)
