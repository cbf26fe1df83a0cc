"""For how long the memory of a node lasts, in its queues' eyes (docs/behaviour/rabbitmq.md 1, item
64): RabbitMQ's memory monitor.

1. Below SHARE of what makes an alarm nothing is said: queues keep their messages.
2. Above it they may keep those of so many seconds of their work; at each look that finds it still
   above, of half as many. Below it again, they are told at the next look.

Differs from RabbitMQ in the second: there it is what the queues' own messages last for, divided by
how far the node is above.
"""

SHARE = 0.5  # vm_memory_high_watermark_paging_ratio
EVERY_MS = 2_500
FIRST_S = 10.0


class Memory:
    def __init__(self) -> None:
        self.lasts_s: float | None = None
        self._looked_ms: int | None = None

    def measured(self, octets: int, limit: int, now_ms: int) -> bool:
        """Octets in use, and those that make an alarm (0: none do). Whether queues are to be told,
        who may be new, too."""
        if self._looked_ms is not None and now_ms - self._looked_ms < EVERY_MS:
            return False
        self._looked_ms, before = now_ms, self.lasts_s
        if not 0 < limit * SHARE < octets:
            self.lasts_s = None
        else:
            self.lasts_s = FIRST_S if before is None else before / 2
        return self.lasts_s is not None or before is not None
