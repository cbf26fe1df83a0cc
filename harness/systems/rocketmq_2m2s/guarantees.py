"""PURE: what RocketMQ's masters and slaves guarantee by a layout.

A topic lies on all groups of brokers, each with a master of its own; no slave is ever elected.
"""

from harness.plan.clients.rocketmq_checks import QUERIED_WITHIN_S
from harness.plan.guarantees import BROKERS, Guarantees
from harness.plan.model import Layout
from harness.systems.rocketmq.layout import MASTER_ID, SYNC, brokers, own
from spark_analysis.schema.words import Strength


def master_slave_guarantees(layout: Layout) -> Guarantees:
    declared = own(layout)
    replicated, flushed = declared.replication == SYNC, declared.flush == SYNC
    alone = Strength.STORED if flushed else Strength.BUFFERED
    strength = Strength.REPLICATED if replicated else alone
    return Guarantees(
        masters=sum(one.id == MASTER_ID for one in brokers(layout.hosts)),
        mirrored_on="none",
        promote_on_shutdown="never",
        promote_on_failure="never",
        elects=False,
        elects_by_majority=False,
        route_poll_s=declared.timers.poll_s,
        confirm_waits_for_mirrors=replicated,
        confirm_waits_for_majority=False,
        confirm_waits_for_disk=flushed,
        checks_within_s=QUERIED_WITHIN_S,
        progress_kept_by=BROKERS,
        strength=strength,  # of SEND_OK; every message goes into the log
        strength_of_transient=strength,
    )
