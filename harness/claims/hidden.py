"""Losses that consumers of a foreign history cannot explain by what their records hide.

1. A dequeue that brings one message, and whose end is unknown, can have taken one message. If more
   are missing than such dequeues can have taken, the others are lost, whichever they are.
2. There is no such bound if anything else may hold a missing message.
"""

from collections.abc import Callable


def certainly_lost(total: Callable[..., int], hides: int | None, undrained: bool) -> int:
    """Return how many messages are lost for certain; 0 if there is no bound. `total`: the count of
    a measure, and of one of its details. `hides`: how many messages consumers hold at most."""
    undecided = total("loss_unknown")
    for_other_reasons = undecided - total("loss_unknown", "consumer_log") + total("unreachable")
    if hides is None or undrained or for_other_reasons:
        return 0
    return total("lost") + max(0, undecided - hides)


def beyond(hides: int | None) -> str:
    ends = "dequeue of unknown end" if hides == 1 else "dequeues of unknown end"
    return f"more are missing than {hides} {ends} can have taken"
