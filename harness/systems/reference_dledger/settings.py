"""PURE: the configuration of each server of the reference: that of a real one, and its speed."""

from harness.plan.model import Layout
from harness.systems.reference_2m2s.settings import compressed
from harness.systems.rocketmq_dledger.settings import configuration


def reference_configuration(layout: Layout, host: str, process: str) -> dict[str, str]:
    """Return the settings by key."""
    return compressed(layout, configuration(layout, host, process))
