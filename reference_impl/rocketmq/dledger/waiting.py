"""Appended entries that wait for a majority.

1. One that no majority had within ledger_ack_limit fails, and may be committed all the same.
2. When its member leads no more it is not confirmed any more, whatever becomes of it: what stands
   under its index may be another leader's. It fails when its time is over.
"""

from collections import deque
from collections.abc import Callable

import msgspec

Settled = Callable[[bool], None]  # whether it is committed


class _Pending(msgspec.Struct, frozen=True):
    index: int
    until_ms: int
    settled: Settled


class Waiting:
    def __init__(self) -> None:
        self._pending: deque[_Pending] = deque()
        self._hopeless: deque[_Pending] = deque()

    def __len__(self) -> int:
        return len(self._pending) + len(self._hopeless)

    def add(self, index: int, until_ms: int, settled: Settled) -> None:
        self._pending.append(_Pending(index, until_ms, settled))

    def committed(self, index: int) -> None:
        """Confirm what stands up to there."""
        while self._pending and self._pending[0].index <= index:
            self._pending.popleft().settled(True)

    def deposed(self) -> None:
        """The member leads no more."""
        self._hopeless += self._pending
        self._pending.clear()

    def overdue(self, now_ms: int) -> None:
        for waiting in (self._hopeless, self._pending):
            while waiting and waiting[0].until_ms <= now_ms:
                waiting.popleft().settled(False)
