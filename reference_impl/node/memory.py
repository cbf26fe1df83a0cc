"""The time for which a node's memory lasts, for its queues (docs/behaviour/rabbitmq.md 1, item
64): RabbitMQ's memory monitor.

1. Below SHARE of what makes an alarm nothing is said: queues keep their messages.
2. Above it they may keep those of so many seconds of their work, the fewer the less room there is
   up to the alarm. Below it again, they get a notice at the next look.

Differs from RabbitMQ in the second: there it is what the queues' own messages last for, divided by
how far the node is above, and it is looked at every 2.5 s. A flood of this node's clients fills
the room up to an alarm in less.
"""

SHARE = 0.5  # vm_memory_high_watermark_paging_ratio
EVERY_MS = 500
LONGEST_S = 0.5


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
        self.lasts_s = _lasts_s(octets, limit) if limit else None
        return self.lasts_s is not None or before is not None


def _lasts_s(octets: int, limit: int) -> float | None:
    room = max(0, limit - octets) / (limit * (1 - SHARE))
    return None if room >= 1 else LONGEST_S * room
