"""That runs are to end early: who asked, and how much time is left for looks.

1. Asked once, a run undoes its faults and looks for LOOKS_S at most whether they are gone. Asked
   once more, it looks no longer. Nothing skips the undo, and a third time changes nothing.
2. It is told at once, with the number of faults that are armed.
3. A reason of ours, where nobody asked, is told with it.
4. A run has an Interrupt of its own: one that a worker's failure ends is no end of the others.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

LOOKS_S = 10.0
AGAIN = "interrupted again: nobody looks whether they are gone"

Answer = TypeVar("Answer")


class Interrupted(Exception):
    """What was on its way was not waited for."""


class Interrupt:
    """Ask it once, twice; whoever waits for something else waits by `unless` or `look`.

    `tell` hears what a person is to read.
    """

    def __init__(self, tell: Callable[[str], None] = lambda _: None) -> None:
        self.reason = ""  # of ours; "" where a person asked, or nobody did
        # By run: how many faults there are to undo. Runs that are played together have the same.
        self.armed: dict[str, Callable[[], int]] = {}
        self._tell = tell
        self._asked = asyncio.Event()
        self._hurried = asyncio.Event()

    def ask(self, reason: str = "") -> None:
        """As a person does, or with a reason of ours; that never hurries."""
        if not self._asked.is_set():
            self.reason = reason
            self._asked.set()
            faults = max((count() for count in self.armed.values()), default=0)
            self._tell(told(faults, reason))
        elif not reason and not self._hurried.is_set():
            self._hurried.set()
            self._tell(AGAIN)

    def follow(self, other: "Interrupt") -> None:
        """What was asked of another one is asked of this one, too."""
        if other.is_set():
            self._asked.set()
        if other.hurried:
            self._hurried.set()

    def is_set(self) -> bool:
        return self._asked.is_set()

    @property
    def hurried(self) -> bool:
        return self._hurried.is_set()

    async def unless(self, work: Awaitable[Answer]) -> Answer:
        """Its answer. Raises Interrupted where an interrupt comes first; the work has ended by
        then. What was done in the same moment is done, so that whoever made it can end it."""
        task = asyncio.ensure_future(work)
        try:
            await _either(task, self._asked)
        finally:
            await _ended(task)
        if task.cancelled():
            raise Interrupted(self.reason or "interrupted")
        return task.result()

    async def look(self, work: Awaitable[Answer]) -> Answer | None:
        """Its answer; None where an interrupt left no time for it."""
        task = asyncio.ensure_future(work)
        try:
            await _either(task, self._asked)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOKS_S):
                    await _either(task, self._hurried)
        finally:
            await _ended(task)
        return None if task.cancelled() else task.result()


def told(faults: int, reason: str = "") -> str:
    """What a person reads at once."""
    undoing = f"undoing {faults} fault{'' if faults == 1 else 's'}"
    return f"interrupted: {undoing}{f' ({reason})' if reason else ''}"


async def _either(task: "asyncio.Future[Answer]", event: asyncio.Event) -> None:
    """Waits for the first of both; the task goes on."""
    if task.done() or event.is_set():
        return
    waiting = asyncio.ensure_future(event.wait())
    try:
        await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiting.cancel()


async def _ended(task: "asyncio.Future[Answer]") -> None:
    if not task.done():
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
