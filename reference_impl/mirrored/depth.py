"""The difference between a mirror and its master: by depth, not by length
(docs/behaviour/rabbitmq.md 3.4).

1. The difference is unknown until the master has said its depth. It never grows: what the mirror
   does not hold can only leave the master.
2. 0 is for good: the mirror is synchronised, and stays so as long as it lives.
3. If that does not come true, the mirror holds something that its master does not (an older,
   unsynchronised mirror was promoted): it is of no use, and crashes, as RabbitMQ's does.

delta:  unknown --depth--> n > 0 --> ... --> 0;  unknown --depth--> 0;
        any --failed synchronisation--> unknown
"""


class Diverged(Exception):
    """The mirror cannot be what its master says it should be."""


class Depth:
    def __init__(self) -> None:
        self.delta: int | None = None

    @property
    def is_synchronised(self) -> bool:
        return self.delta == 0

    def update(self, master: int, own: int) -> bool:
        """Note the master's depth. Return whether that synchronises it. Raises Diverged."""
        return self._becomes(master - own)

    def less(self, missing: int) -> bool:
        """Note that so many that this mirror does not hold have left the master; return whether it
        is synchronised now. Raises Diverged."""
        if self.delta is None or not missing:
            return False
        return self._becomes(self.delta - missing)

    def synchronised(self) -> bool:
        """By an explicit synchronisation."""
        self.delta = None
        return self._becomes(0)

    def forget(self) -> None:
        self.delta = None

    def _becomes(self, delta: int) -> bool:
        before, self.delta = self.delta, delta
        if delta < 0 or (before is not None and delta > before):
            raise Diverged(f"depth differs by {delta}, before by {before}")
        return delta == 0 and before != 0
