"""Policies of a broker that only a history of others declares, and the counts that they excuse.

1. A queue with a time to live, a maximum length or a dead-letter exchange may drop a message that
   it confirmed, or move it to another queue. Absent messages may have been dropped then.
2. A broker that deduplicates stores a message that was sent again once, and confirms it twice.
3. A policy makes a violation possible only; without a violation nothing changes.
"""

from harness.histories.history import History
from harness.histories.reading_again import wanted
from spark_analysis.schema.measures import GONE

DROPS, DEDUPLICATES = "drops", "deduplicates"
POLICIES = (DROPS, DEDUPLICATES)
_COPY = "attempt_lost"
_ELSEWHERE = ("not_redelivered", "misrouted")
_DROPPED = (
    "the queues may drop or move messages by themselves (`drops`), and no row says which they did"
)
_STORED_ONCE = (
    "the broker stores a message once, however often it was sent (`deduplicates`), and no row "
    "says which copy it left out"
)


def excused(history: History, own_progress: bool) -> dict[str, str]:
    """Return the counts whose cases may have another cause than a broken promise, with the reason.
    `own_progress`: consumers keep their own offsets."""
    found = wanted(history) if own_progress else {}
    if history.declared.get(DEDUPLICATES) is True:
        found[_COPY] = _STORED_ONCE
    if history.declared.get(DROPS) is True:
        found |= dict.fromkeys((*GONE, _COPY, *_ELSEWHERE), _DROPPED)
    return found
