"""Interrupts: requests to end runs early, and the time that remains for verification.

1. After one request a run undoes its faults and verifies for at most LOOKS_S that they have ended.
   After a second one it stops verifying. Nothing skips the undo; a third request changes nothing.
2. The request is reported at once, with the number of active faults.
3. If mqproof itself ends a run, the report has the reason.
4. Each run has an Interrupt of its own: if a worker's failure ends one run, the others go on.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeVar

LOOKS_S = 3.0
AGAIN = "interrupted again: not verifying that they have ended"

Answer = TypeVar("Answer")


class RunInterrupted(Exception):
    """An interrupt came before the awaited work was done."""


class Interrupt:
    """A request to end a run early, which may be made twice.

    Code that waits for something else waits by `unless` or `look`. `report` gets the message for
    the user.
    """

    def __init__(self, report: Callable[[str], None] = lambda _: None) -> None:
        self.reason = ""  # of mqproof itself; "" if a person asked, or none did
        # By run: the number of faults to undo. Runs that are played together share them.
        self.armed: dict[str, Callable[[], int]] = {}
        self._report = report
        self._requested = asyncio.Event()
        self._hurried = asyncio.Event()

    def ask(self, reason: str = "") -> None:
        """Request the end: as a person does, or with a reason, which never hurries."""
        if not self._requested.is_set():
            self.reason = reason
            self._requested.set()
            faults = max((count() for count in self.armed.values()), default=0)
            self._report(notice(faults, reason))
        elif not reason and not self._hurried.is_set():
            self._hurried.set()
            self._report(AGAIN)

    def follow(self, other: "Interrupt") -> None:
        """Take over the requests that were made of another interrupt."""
        if other.is_set():
            self._requested.set()
        if other.hurried:
            self._hurried.set()

    def is_set(self) -> bool:
        return self._requested.is_set()

    @property
    def hurried(self) -> bool:
        return self._hurried.is_set()

    async def unless(self, work: Awaitable[Answer]) -> Answer:
        """Return the work's result. Raise RunInterrupted if an interrupt comes first.

        The work has ended by then. If it completed in the same moment, its result counts, so that
        the caller can clean it up.
        """
        task = asyncio.ensure_future(work)
        try:
            await _either(task, self._requested)
        finally:
            await _ended(task)
        if task.cancelled():
            raise RunInterrupted(self.reason or "interrupted")
        return task.result()

    async def look(self, work: Awaitable[Answer]) -> Answer | None:
        """Return the work's result; None if an interrupt left no time for it."""
        task = asyncio.ensure_future(work)
        try:
            await _either(task, self._requested)
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOKS_S):
                    await _either(task, self._hurried)
        finally:
            await _ended(task)
        return None if task.cancelled() else task.result()


def notice(faults: int, reason: str = "") -> str:
    """Return the message for the user."""
    undoing = f"undoing {faults} fault{'' if faults == 1 else 's'}"
    return f"interrupted: {undoing}{f' ({reason})' if reason else ''}"


async def _either(task: "asyncio.Future[Answer]", event: asyncio.Event) -> None:
    """Wait for the first of both; the task goes on."""
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
