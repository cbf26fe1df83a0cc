"""PURE: what a group with controllers guarantees by a layout.

1. Only the master decides who is in the SyncStateSet, and removes a slave that lags. A confirm for
   "the whole set" waits for no removed slave, but always for the least number of in-sync replicas.
2. A controller elects from the set; a majority of the controllers decides, not of the group.
"""

from harness.plan.clients.rocketmq_checks import QUERIED_WITHIN_S
from harness.plan.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.model import Layout
from harness.systems.rocketmq.layout import SYNC, brokers
from harness.systems.rocketmq_controller.layout import Controlled, rules
from spark_analysis.schema.words import Strength


def controller_guarantees(layout: Layout) -> Guarantees:
    own = rules(layout)
    replicated = own.all_ack or own.in_sync > 1
    alone = Strength.STORED if own.flush == SYNC else Strength.BUFFERED
    strength = Strength.REPLICATED if replicated else alone
    promoted = "always" if own.unclean else "when-synced"
    return Guarantees(
        masters=len({one.group for one in brokers(layout.hosts)}),
        mirrored_on=NotApplicable("no policy says where replicas of a group are"),
        promote_on_shutdown=promoted,
        promote_on_failure=promoted,
        elects=True,
        elects_by_majority=False,
        route_poll_s=own.timers.poll_s,
        confirm_waits_for_mirrors=_waits_for_all(own, layout.copies),
        confirm_waits_for_majority=False,
        confirm_waits_for_disk=own.flush == SYNC,
        checks_within_s=QUERIED_WITHIN_S,
        progress_kept_by=BROKERS,
        strength=strength,
        strength_of_transient=strength,  # every message goes into the log
    )


def _waits_for_all(own: Controlled, copies: int | None) -> bool:
    """For every slave that a controller would elect without "unclean"."""
    return own.all_ack or own.in_sync == copies
