"""The one clockwork of all the worker's periodic work."""

import asyncio
from collections.abc import Callable


def every(period_s: float, work: Callable[[], None]) -> Callable[[], None]:
    """Calls `work` each `period_s` after its last end, until the returned function is called."""
    loop = asyncio.get_running_loop()
    ended = False

    def tick() -> None:
        if not ended:
            work()
            loop.call_later(period_s, tick)

    def end() -> None:
        nonlocal ended
        ended = True

    loop.call_later(period_s, tick)
    return end
