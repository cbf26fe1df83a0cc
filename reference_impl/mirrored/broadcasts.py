"""Broadcasts of a master, joined where one body can say it (docs/behaviour/rabbitmq.md 3.2).

1. A ring without other members gets no broadcasts.
2. Bodies of one kind that follow each other before a flush become one, with the same meaning.
"""

from reference_impl.mirrored.gm import Ring
from reference_impl.mirrored.messages import Acked, Body, Dropped


class Broadcasts:
    def __init__(self, ring: Ring) -> None:
        self._ring = ring

    def dropped(self, left: int, dropped: int, taken: bool) -> None:
        if self._ring.alone or not dropped:
            return
        before = self._ring.unsent()
        if type(before) is Dropped and before.taken == taken:
            self._ring.amend(Dropped(left, before.dropped + dropped, taken))
        else:
            self._ring.broadcast(Dropped(left, dropped, taken))

    def acked(self, identities: tuple[bytes, ...]) -> None:
        if self._ring.alone or not identities:
            return
        before = self._ring.unsent()
        if type(before) is Acked:
            self._ring.amend(Acked(before.identities + identities))
        else:
            self._ring.broadcast(Acked(identities))

    def send(self, body: Body) -> None:
        self._ring.broadcast(body)

    @property
    def has_listeners(self) -> bool:
        return not self._ring.alone
