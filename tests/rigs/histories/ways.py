"""The numbers of all ways that a run of RocketMQ's family has, as one enumeration for stories."""

from enum import IntEnum

from harness.workers.rocketmq import ways
from spark_analysis.schema import words


class Via(IntEnum):
    """mqproof's own ways, and those that only RocketMQ has."""

    LOAD = words.Via.LOAD
    DRAIN = words.Via.DRAIN
    AUDIT = words.Via.AUDIT
    RETRY_TOPIC = ways.RETRY_TOPIC.number
    HALF = ways.HALF.number
