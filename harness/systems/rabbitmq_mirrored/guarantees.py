"""PURE: what mirrored classic queues guarantee by a layout: RabbitMQ's, and the reference's.

A confirm of a persistent message waits for every mirror, and for the disk of each.
"""

from harness.plan.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.model import Layout
from harness.systems.rabbitmq.foreign.own import own
from spark_analysis.schema.words import Strength


def mirrored_guarantees(layout: Layout) -> Guarantees:
    replicated = Strength.REPLICATED if (layout.copies or 1) > 1 else None
    return Guarantees(
        masters=1,
        **_of_policies(layout),
        elects=True,  # whatever policies say
        elects_by_majority=False,
        route_poll_s=NotApplicable("its clients ask no name server"),
        confirm_waits_for_mirrors=True,
        confirm_waits_for_majority=False,
        confirm_waits_for_disk=True,
        checks_within_s=NotApplicable("its brokers ask about no transaction"),
        progress_kept_by=BROKERS,
        strength=replicated or Strength.STORED,
        strength_of_transient=replicated or Strength.BUFFERED,
    )


def _of_policies(layout: Layout) -> dict[str, str | None]:
    """Return what the policy of runs' queues promises; None: unknown, because an external
    cluster's file does not declare it."""
    if layout.topology is not None:
        declared = own(layout.topology)
        return {
            "mirrored_on": declared.mirrored_on or None,
            "promote_on_shutdown": declared.promote_on_shutdown or None,
            "promote_on_failure": declared.promote_on_failure or None,
        }
    return {
        "mirrored_on": _policy(layout, "ha-mode", "none"),
        "promote_on_shutdown": _policy(layout, "ha-promote-on-shutdown", "when-synced"),
        "promote_on_failure": _policy(layout, "ha-promote-on-failure", "always"),
    }


def _policy(layout: Layout, key: str, default: str) -> str:
    """What the layout's policies say; a broker that says nothing keeps to its default."""
    values = [
        str(value) for policy in layout.policies for k, value in policy.definition if k == key
    ]
    return values[-1] if values else default
