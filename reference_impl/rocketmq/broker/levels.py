"""Levels of delay (docs/behaviour/rocketmq.md 4.5): each has a queue of its own under
SCHEDULE_TOPIC_XXXX, where the number for the tags says when a message is due."""

import msgspec

from reference_impl.rocketmq.broker.topics import SCHEDULED
from reference_impl.rocketmq.store import properties
from reference_impl.rocketmq.store.properties import DELAY, REAL_QUEUE, REAL_TOPIC, TAGS, tags_code
from reference_impl.rocketmq.store.records import Draft
from reference_impl.rocketmq.store.store import TagsCode

# messageDelayLevel: 1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h
LEVELS_S: tuple[int, ...] = (1, 5, 10, 30, *range(60, 660, 60), 1200, 1800, 3600, 7200)


def level_of(draft: Draft) -> int:
    """0: it waits for nothing."""
    try:
        level = int(draft.properties.get(DELAY, "0"))
    except ValueError:
        return 0
    return max(0, min(level, len(LEVELS_S)))


def delayed(draft: Draft) -> Draft:
    """As it is stored while it waits."""
    level = level_of(draft)
    if level == 0:
        return draft
    return under(draft, SCHEDULED, level - 1)


def under(draft: Draft, topic: str, queue: int) -> Draft:
    """Under another topic, with the real one beside it."""
    real = {REAL_TOPIC: draft.topic, REAL_QUEUE: str(draft.queue)}
    text = properties.write({**draft.properties, **real})
    return msgspec.structs.replace(draft, topic=topic, queue=queue, props_text=text)


def code_by_level(unit_ms: int) -> TagsCode:
    """Return what gives the number that stands in a queue for a message's tags. `unit_ms`: how
    long one second of a level lasts."""

    def code_of(draft: Draft, stored_ms: int) -> int:
        if draft.topic == SCHEDULED and draft.queue < len(LEVELS_S):
            return stored_ms + LEVELS_S[draft.queue] * unit_ms
        return tags_code(draft.properties.get(TAGS))

    return code_of
