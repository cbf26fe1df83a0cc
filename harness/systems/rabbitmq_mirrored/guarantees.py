"""PURE: what mirrored classic queues guarantee by a layout: RabbitMQ's, and the reference's.

A confirm of a persistent message waits for every mirror, and for the disk of each.
"""

from harness.plan.guarantees import Guarantees, Moot
from harness.plan.model import Layout
from spark_analysis.schema.words import Strength


def mirrored_guarantees(layout: Layout) -> Guarantees:
    replicated = Strength.REPLICATED if (layout.copies or 1) > 1 else None
    return Guarantees(
        masters=1,
        mirrored_on=_policy(layout, "ha-mode", "none"),
        promote_on_shutdown=_policy(layout, "ha-promote-on-shutdown", "when-synced"),
        promote_on_failure=_policy(layout, "ha-promote-on-failure", "always"),
        elects=True,  # whatever policies say
        elects_by_majority=False,
        route_poll_s=Moot("its clients ask no name server"),
        confirm_waits_for_mirrors=True,
        confirm_waits_for_majority=False,
        confirm_waits_for_disk=True,
        asks_within_s=Moot("its brokers ask about no transaction"),
        strength=replicated or Strength.STORED,
        strength_of_transient=replicated or Strength.BUFFERED,
    )


def _policy(layout: Layout, key: str, default: str) -> str | None:
    """What the layout's policies say; a broker that says nothing keeps to its default. None: of a
    cluster that somebody else set up nobody has declared it."""
    if layout.topology is not None:
        return None
    said = [str(value) for policy in layout.policies for k, value in policy.definition if k == key]
    return said[-1] if said else default
