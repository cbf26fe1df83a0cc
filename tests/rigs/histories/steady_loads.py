"""A load at a steady pace that is served at once, but for what a story says.

1. An operation's sequence is its place in the pace: at 20 ms the one of 10 s is 500.
2. What is bad is never confirmed and never delivered.
"""

from collections.abc import Iterable

from tests.rigs.histories.by_hand import PUBLISHER, QUEUE, History

EVERY_MS = 20.0
ENDED_MS = 30_000.0


def loaded(*, ended_ms: float = ENDED_MS, deadline_ms: float = 1_000) -> History:
    return History(load_ms=(0, ended_ms), deadline_ms=deadline_ms)


def steady(
    history: History,
    *bad_ms: tuple[float, float],
    every_ms: float = EVERY_MS,
    until_ms: float = ENDED_MS,
    queue: str = QUEUE,
    producer: int = PUBLISHER,
    also_bad: Iterable[int] = (),
    offset_ms: float = 0,
) -> History:
    """Operations from 0 on; bad are those intended in one of these times, and those named."""
    named = set(also_bad)
    for sequence in range(int((until_ms - offset_ms) / every_ms)):
        at_ms = offset_ms + sequence * every_ms
        history.publish(sequence, at_ms=at_ms, producer=producer, queue=queue)
        bad = any(from_ms <= at_ms < end_ms for from_ms, end_ms in bad_ms)
        if not bad and sequence not in named:
            history.confirm(sequence, at_ms=at_ms + 1, producer=producer)
            history.deliver(sequence, at_ms=at_ms + 2, producer=producer)
    return history
