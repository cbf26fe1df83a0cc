"""PURE: the configuration of each server of the reference: that of a real one, and its speed."""

from harness.plan.model import Layout
from harness.systems.rocketmq.layout import own
from harness.systems.rocketmq_2m2s.settings import configuration

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
