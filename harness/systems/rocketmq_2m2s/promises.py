"""PURE: what RocketMQ's masters and slaves promise by a layout.

A topic lies on all groups of brokers, each with a master of its own; no slave is ever elected.
"""

from harness.plan.model import Layout
from harness.plan.promises import Promises
from harness.plan.rocketmq_checks import ASKED_WITHIN_S
from harness.systems.rocketmq.layout import MASTER_ID, SYNC, brokers, own
from spark_analysis.schema.words import Strength


def master_slave_promises(layout: Layout) -> Promises:
    told = own(layout)
    replicated, flushed = told.replication == SYNC, told.flush == SYNC
    alone = Strength.STORED if flushed else Strength.BUFFERED
    strength = Strength.REPLICATED if replicated else alone
    return Promises(
        masters=sum(one.id == MASTER_ID for one in brokers(layout.hosts)),
        mirrored_on="none",
        promote_on_shutdown="never",
        promote_on_failure="never",
        elects=False,
        route_poll_s=told.timers.poll_s,
        confirm_waits_for_mirrors=replicated,
        confirm_waits_for_disk=flushed,
        asks_within_s=ASKED_WITHIN_S,
        strength=strength,  # of SEND_OK; every message goes into the log
        strength_of_transient=strength,
    )
