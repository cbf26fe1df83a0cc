"""PURE: the shape of a layout file of the reference, and the configuration of its servers.

Both are those of the real ones. The reference may be quicker.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from harness.plan.model import Layout
from harness.systems.layout_parts import PROFILES_MAX, ProfileName
from harness.systems.rocketmq.layout import RocketMq, own
from harness.systems.rocketmq.layout_files import ProfileFile
from harness.systems.rocketmq_2m2s.layout import MasterSlaveFile, configuration

COMPRESSED = ("serverChannelMaxIdleTimeSeconds", "registerNameServerPeriod")


def reference_configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """Return the settings by key."""
    return compressed(layout, configuration(layout, host, process))


def compressed(layout: Layout, settings: dict[str, str]) -> dict[str, str]:
    """Return settings of the real ones with the layout's speed.

    A layout has timers as they are played. Its servers divide their timers by the compression, so
    the settings have them multiplied by it.
    """
    factor = own(layout).compression
    if factor == 1:
        return settings
    longer = {key: str(int(settings[key]) * factor) for key in COMPRESSED if key in settings}
    return settings | longer | {"compression": str(factor)}


class ReferenceProfile(ProfileFile):
    """Three timers as they are played. `compression`: by how much all others of the servers are
    shorter than the real ones'."""

    idle_s: Annotated[int, Field(ge=2, le=600)] = Field(
        description="a name server drops a silent broker after so many seconds: T in scenarios"
    )
    register_s: Annotated[int, Field(ge=1, le=60)] = Field(
        description="seconds between two registrations of a broker"
    )
    compression: Annotated[int, Field(ge=1, le=100)] = Field(
        default=1, description="all other timers of the servers are shorter by this factor"
    )


class ReferenceLayoutFile(MasterSlaveFile):
    """`version`: it has none; what it does is what 4.9 does."""

    version: Literal["reference"] = Field(description="the reference has no versions")
    profiles: Annotated[
        Mapping[ProfileName, ReferenceProfile], Field(min_length=1, max_length=PROFILES_MAX)
    ] = Field(description="timers; the first profile is the default")

    def layout(self, system: str, profile: str) -> Layout:
        own = RocketMq(
            self.version,
            self.replication,
            self.flush,
            self.timers(profile),
            self.client_jvm,
            self.profiles[profile].compression,
        )
        return self.made(system, profile, own)
