"""The ways by which RocketMQ's messages reach us, beside those of every system.

1. The numbers are in the records of every run: they never change.
"""

from spark_analysis.schema.ways import AUDIT, LOAD, DeliveryWay

# Of the group: a consumer that cannot handle a message sends it there, to get it again later.
RETRY_TOPIC = DeliveryWay(4, "retry_topic", LOAD, "delivered by the retry topic to", again=True)
# A message that is in a transaction and not committed stands in a topic of its own.
HALF = DeliveryWay(
    5,
    "half",
    AUDIT,
    "found by the audit as the half of a transaction, read by",
    uncommitted=True,
)
ROCKETMQ_WAYS = (RETRY_TOPIC, HALF)
