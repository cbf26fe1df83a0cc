"""How a call of the agent fails, and how blocking work gets a deadline.

1. Every failure has a kind of the agent's protocol and a text for people.
2. Blocking work runs in a daemon thread of its own: one that hangs for ever neither holds up
   others, as a slot of a pool would, nor the end of the process.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class CallError(Exception):
    """Becomes `{"say": "error", "kind": ..., "text": ...}`."""

    def __init__(self, kind: str, text: str) -> None:
        assert kind in {"timeout", "refused", "http", "proxy", "bad"}, kind
        super().__init__(text)
        self.kind = kind
        self.text = text


async def in_thread(work: Callable[[], T], limit_s: float) -> T:
    """The result of `work`. Raises TimeoutError after the limit; the thread is left behind."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, error: BaseException | None) -> None:
        if result.done():
            return  # The caller gave up, so no call waits for this any more.
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)  # type: ignore[arg-type]  # T itself where no error came

    def run() -> None:
        value, error = None, None
        try:
            value = work()
        except Exception as raised:  # whatever it is, it belongs to the caller
            error = raised
        with suppress(RuntimeError):  # the loop is closed: the agent has ended
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, daemon=True).start()
    async with asyncio.timeout(limit_s):
        return await result
