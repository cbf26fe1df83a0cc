"""A message's properties as text, and the number that stands for its tags in a consume queue.

1. Name 0x01 value, pairs parted by 0x02. Some clients write one more 0x02 at the end, others do
   not; both are read (docs/behaviour/rocketmq.md 4.2).
2. What has no name or no value is none, for Java's own reader too.
"""

from collections.abc import Mapping

KEYS, TAGS, WAIT, DELAY = "KEYS", "TAGS", "WAIT", "DELAY"
RETRY_TOPIC, REAL_TOPIC, REAL_QUEUE = "RETRY_TOPIC", "REAL_TOPIC", "REAL_QID"
ORIGIN_MESSAGE_ID, UNIQUE_KEY = "ORIGIN_MESSAGE_ID", "UNIQ_KEY"
RECONSUME_TIME, MAX_RECONSUME_TIMES = "RECONSUME_TIME", "MAX_RECONSUME_TIMES"
IN_TRANSACTION, PRODUCER_GROUP = "TRAN_MSG", "PGROUP"
CHECK_TIMES, PREPARED_QUEUE_OFFSET = "TRANSACTION_CHECK_TIMES", "TRAN_PREPARED_QUEUE_OFFSET"
CLUSTER = "CLUSTER"
OCTETS_MAX = 32_767
_NAME, _PAIR = "\x01", "\x02"
_HASH_FACTOR, _HASH_MASK, _HASH_SIGN = 31, 0xFFFFFFFF, 1 << 31


def read(text: str) -> dict[str, str]:
    pairs = (pair.partition(_NAME) for pair in text.split(_PAIR))
    return {name: value for name, _, value in pairs if name and value}


def write(properties: Mapping[str, str]) -> str:
    return _PAIR.join(f"{name}{_NAME}{value}" for name, value in properties.items())


def tags_code(tags: str | None) -> int:
    """Java's String.hashCode; 0 where there are none."""
    if not tags:
        return 0
    code, units = 0, tags.encode("utf-16-be", "surrogatepass")
    for at in range(0, len(units), 2):
        code = (code * _HASH_FACTOR + (units[at] << 8 | units[at + 1])) & _HASH_MASK
    return code - (1 << 32) if code & _HASH_SIGN else code
