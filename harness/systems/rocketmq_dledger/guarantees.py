"""PURE: what a DLedger group guarantees by a layout.

1. A confirm waits until a majority of the group has appended the message, and for no disk: logs
   are flushed by a thread of their own.
2. A member that lacks a confirmed message is never elected, and none is without a majority.
"""

from harness.plan.clients.rocketmq_checks import QUERIED_WITHIN_S
from harness.plan.guarantees import BROKERS, Guarantees, NotApplicable
from harness.plan.model import Layout
from harness.systems.rocketmq.layout import brokers, own
from spark_analysis.schema.words import Strength

_BY_VOTE = NotApplicable("members vote, and none that lacks what was confirmed is elected")


def dledger_guarantees(layout: Layout) -> Guarantees:
    return Guarantees(
        masters=len({one.group for one in brokers(layout.hosts)}),
        mirrored_on=NotApplicable("no policy says where members of a group are"),
        promote_on_shutdown=_BY_VOTE,
        promote_on_failure=_BY_VOTE,
        elects=True,
        elects_by_majority=True,
        route_poll_s=own(layout).timers.poll_s,
        confirm_waits_for_mirrors=False,
        confirm_waits_for_majority=True,
        confirm_waits_for_disk=False,
        checks_within_s=QUERIED_WITHIN_S,
        progress_kept_by=BROKERS,
        strength=Strength.REPLICATED,
        strength_of_transient=Strength.REPLICATED,  # every message goes into the log
    )
