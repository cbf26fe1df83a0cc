"""PURE: what each server of the reference is told: as a real one, and how quick it is."""

from harness.plan.model import Layout
from harness.systems.rocketmq.layout import own
from harness.systems.rocketmq_2m2s.settings import configuration

COMPRESSED = ("serverChannelMaxIdleTimeSeconds", "registerNameServerPeriod")


def reference_configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """By key. A layout says timers as they are played, and its servers divide all that they are
    told: what it says is told so many times longer."""
    told, factor = configuration(layout, host, process), own(layout).compression
    if factor == 1:
        return told
    longer = {key: str(int(told[key]) * factor) for key in COMPRESSED if key in told}
    return told | longer | {"compression": str(factor)}
