"""How far the group that reads a log had acknowledged it, and when.

1. A stored place passes an offset only when everything before it is acknowledged. What never came
   to us is nothing that we could acknowledge.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from spark_analysis.definition.channels import Channels
from spark_analysis.definition.messages import Message

Log = tuple[str, str]  # broker, and the queue that was read
_NEVER = float("inf")


class Progress:
    """When our acknowledgements had passed each offset of each log."""

    def __init__(self, messages: Iterable[Message], channels: Channels) -> None:
        earliest = defaultdict[Log, dict[int, float]](dict)
        for message in messages:
            for delivery in message.consumed:
                if delivery.offset < 0 or not delivery.place:
                    continue
                written_ns = channels.acknowledged_ns(delivery)
                of_log = earliest[delivery.place, delivery.queue]
                at_ns = _NEVER if written_ns is None else written_ns
                of_log[delivery.offset] = min(at_ns, of_log.get(delivery.offset, _NEVER))
        self._offsets = {log: sorted(of_log) for log, of_log in earliest.items()}
        self._passed_ns = {
            log: list(accumulate((earliest[log][offset] for offset in offsets), max))
            for log, offsets in self._offsets.items()
        }

    def passed_ns(self, place: str, queue: str, offset: int) -> int | None:
        """When everything of that log up to this offset had been acknowledged; None: never."""
        upto = bisect_right(self._offsets.get((place, queue), []), offset)
        if not upto:
            return None
        at_ns = self._passed_ns[place, queue][upto - 1]
        return None if at_ns == _NEVER else int(at_ns)
