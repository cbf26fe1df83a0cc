"""A fault that comes and goes: its undo and its actions in turn, as long as its window is open.

1. The journal notes it once, and its undo once: if the process dies in between, the undo ends the
   fault, whichever phase it was in.
2. Every change has its instant from the beginning on: a late one does not move the others.
3. A change that came later than half of its phase is a doubt: the rhythm was another one.
4. Ending waits for a change that is under way: one that was given up could still take effect,
   after the undo.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle

from faults.core.model import Armed, Executor, FaultError, Receipt
from faults.performing import perform_all

LATE = 0.5  # of the phase that a change begins


@dataclass(frozen=True, slots=True)
class Change:
    """The beginning of a phase: what it should have been, and what it was."""

    down: bool
    number: int  # of its kind, from 1
    due_ns: int
    lasts_s: float  # the phase that it begins, as it is meant
    receipt: Receipt

    @property
    def late_s(self) -> float:
        """From its instant until it had taken effect."""
        return (self.receipt.returned_ns - self.due_ns) / 1e9

    @property
    def in_time(self) -> bool:
        return self.late_s <= LATE * self.lasts_s


class Rhythm:
    """Plays an armed fault that has a rhythm; of any other fault it does nothing.

    `began` is the receipt of its actions, the first change. `note` hears of each later one.
    """

    def __init__(
        self,
        executor: Executor,
        armed: Armed,
        began: Receipt,
        note: Callable[[Change], None] = lambda _: None,
    ) -> None:
        self._executor = executor
        self._armed = armed
        self._note = note
        self._over = asyncio.Event()
        self._failure = ""
        self._task: asyncio.Task[None] | None = None
        self.changes: list[Change] = []
        if armed.rhythm is not None:
            self.changes = [Change(True, 1, began.issued_ns, armed.rhythm[0], began)]
            self._task = asyncio.create_task(self._play(*armed.rhythm))

    async def end(self) -> None:
        """Returns when nothing is under way any more; again is harmless."""
        self._over.set()
        if self._task is not None:
            await asyncio.shield(self._task)

    @property
    def doubt(self) -> str:
        """Return why it was not the rhythm that was meant; "" if it was."""
        late = [change for change in self.changes if not change.in_time]
        parts = [self._failure] if self._failure else []
        if late:
            worst = max(late, key=lambda change: change.late_s / change.lasts_s)
            parts.append(
                f"{len(late)} of {len(self.changes)} changes came late, one by "
                f"{worst.late_s:.2f} s where its phase lasts {worst.lasts_s:g} s"
            )
        return "; ".join(parts)

    async def _play(self, down_s: float, up_s: float) -> None:
        armed, last = self._armed, self.changes[0]
        for down, lasts_s in cycle(((False, up_s), (True, down_s))):
            due_ns = last.due_ns + round(last.lasts_s * 1e9)
            if await self._is_over(due_ns):
                return
            try:
                receipt = await perform_all(self._executor, armed.actions if down else armed.undo)
            except FaultError as failure:
                self._failure = f"the rhythm broke off: {failure}"
                return
            last = Change(down, last.number + down, due_ns, lasts_s, receipt)
            self.changes.append(last)
            self._note(last)

    async def _is_over(self, due_ns: int) -> bool:
        """Waits until a change is due, or the rhythm is over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0, due_ns - time.monotonic_ns()) / 1e9):
                await self._over.wait()
        return self._over.is_set()
