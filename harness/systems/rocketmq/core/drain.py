"""PURE: how RocketMQ's topics are read empty.

1. A drain waits as long as a message may be held back from the end of the load on.
2. A key's order depends on how it was sent and consumed, not only on the number of consumers.
"""

from harness.plan.clients.rocketmq_section import SECTION
from harness.plan.clients.rocketmq_terms import delay_ns
from harness.plan.model import Drain
from harness.plan.workload import Workload
from harness.systems.rocketmq.core.layout import topic_of

QUIET_S = 2.0  # without a delay
DELAY_SLACK_S = 3.0  # brokers check for due messages once a second


def delay_s(workload: Workload) -> float:
    """How much longer than others a drain may last, for what was sent to come later."""
    own = SECTION.of(workload)
    return delay_ns(own.delay_level) / 1e9 + DELAY_SLACK_S if own.delayed_percent else 0.0


def quiet_s(workload: Workload) -> float:
    """How long nothing may come before a queue is held for empty: a drain begins after the last
    send, so that by then everything that was delayed is due."""
    return QUIET_S + delay_s(workload)


def in_order(workload: Workload, serving: int) -> bool:
    """Whether a key's messages come in the order in which they were sent, with so many consumers
    on its topic: one log, whose messages are handed out one after another."""
    own = SECTION.of(workload)
    if own.send != "ordered":
        return False
    return own.consume == "orderly" or (own.consume == "pull" and serving <= 1)


TOPIC_DRAIN = Drain(
    queue_name=topic_of,
    quiet_s=quiet_s,
    more_s=delay_s,
    in_order=in_order,
    # They close no connection on request, and forget a dead one that they took for alive, as after
    # a freeze, when it has been silent for 120 s; they look every 10 s.
    gone_by_force_s=135.0,
)
