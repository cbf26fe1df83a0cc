"""An event loop whose time passes only while everybody waits, and then at once.

For what runs in memory alone: limits, pauses and rhythms keep their lengths and cost nothing, and
a busy machine makes nothing late. Sockets, processes and threads would know nothing of such time.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import pytest

Answer = TypeVar("Answer")
LOOK_NS = 1_000  # a look at the clock takes so long, so that no two instants are the same


class Clock:
    """Stands in for the functions of `time` of the same names."""

    def __init__(self, now_ns: int) -> None:
        self._now_ns = now_ns

    def monotonic_ns(self) -> int:
        self._now_ns += LOOK_NS
        return self._now_ns

    def monotonic(self) -> float:
        return self.monotonic_ns() / 1e9

    def skip(self, seconds: float) -> None:
        self._now_ns += max(0, round(seconds * 1e9))


class _Skipping(selectors.DefaultSelector):
    """Where a loop would sleep, the clock goes on instead."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        assert timeout is not None, "every task waits without a timeout: for ever"
        self._clock.skip(timeout)
        return super().select(0)


def run(story: Coroutine[Any, Any, Answer]) -> Answer:
    """As asyncio.run; meanwhile time.monotonic and monotonic_ns tell the loop's time."""
    clock = Clock(time.monotonic_ns())

    def loop() -> asyncio.AbstractEventLoop:
        return asyncio.SelectorEventLoop(_Skipping(clock))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(time, "monotonic", clock.monotonic)
        patched.setattr(time, "monotonic_ns", clock.monotonic_ns)
        with asyncio.Runner(loop_factory=loop) as runner:
            return runner.run(story)


async def at_once(work: Callable[[], object]) -> None:
    """Stand in for asyncio.to_thread: no thread knows this time."""
    work()
