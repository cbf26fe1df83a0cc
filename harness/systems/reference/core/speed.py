"""PURE: the timers of the reference's servers: as they are played, and as servers are configured.

Everything else of their configuration is that of the real ones. The reference may be quicker.
"""

from typing import Annotated

from pydantic import Field

from harness.plan.model import Layout
from harness.systems.rocketmq.core.layout import own
from harness.systems.rocketmq.core.layout_files import ProfileFile

COMPRESSED = ("serverChannelMaxIdleTimeSeconds", "registerNameServerPeriod")


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
