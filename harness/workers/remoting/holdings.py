"""Where a broker may hold messages of a topic, beside the topic's own queues.

1. Set aside by the broker itself: delayed (they carry their topic as REAL_TOPIC), halves of
   transactions (likewise), and halves that no producer answered for.
2. Sent back by consumers: retry and dead-letter topics of groups (RETRY_TOPIC); a retry that waits
   for its turn is delayed, and carries both.
3. These places are shared with other topics: only what names the topic is its own.
4. A broker takes halves before it knows their topic, which it makes with its first check of them
   (60 s after its start, 30 s in RocketMQ 5), and until then delivers none. That queue is
   looked at in any case: what it holds and does not give must be doubted.
"""

from collections.abc import Iterable

from harness.workers.remoting.records import StoredMessage
from harness.workers.remoting.requests import TopicQueue
from harness.workers.remoting.tables import Topic

RETRY, DEAD_LETTER = "%RETRY%", "%DLQ%"
HALVES = TopicQueue("RMQ_SYS_TRANS_HALF_TOPIC", 0)
GIVEN_UP = "TRANS_CHECK_MAX_TIME_TOPIC"  # halves that no producer answered for
SET_ASIDE = (
    "SCHEDULE_TOPIC_XXXX",
    "rmq_sys_wheel_timer",  # RocketMQ 5: delays of any length
    HALVES.topic,
    GIVEN_UP,
)
_NAMES_ITS_TOPIC = ("REAL_TOPIC", "RETRY_TOPIC")


def queues_to_read(topics: Iterable[Topic], topic: str) -> tuple[TopicQueue, ...]:
    """The queues of a broker that may hold messages of a topic, the topic's own first."""
    may_hold = [one for one in topics if one.name == topic or _shared(one.name)]
    may_hold.sort(key=lambda one: (one.name != topic, one.name))
    found = [queue for one in may_hold for queue in one.queues]
    return tuple(found) if HALVES in found else (*found, HALVES)


def belongs(message: StoredMessage, topic: str) -> bool:
    names = (message.properties.get(name) for name in _NAMES_ITS_TOPIC)
    return topic in (message.topic, *names)


def is_half(message: StoredMessage) -> bool:
    """A half that waits for its producer's answer: no consumer may see it."""
    return message.topic in (HALVES.topic, GIVEN_UP)


def _shared(name: str) -> bool:
    return name in SET_ASIDE or name.startswith((RETRY, DEAD_LETTER))
