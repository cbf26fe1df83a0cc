"""Timers of processes on the clock of the event loop."""

import asyncio
from collections.abc import Callable

from reference_impl.pid import Pid

Owner = Pid | None  # None: the node itself
Fired = Callable[[Owner, str], None]


class LoopTimers:
    """node.outside.Timers."""

    def __init__(self, fired: Fired) -> None:
        self._loop = asyncio.get_running_loop()
        self._fired = fired
        self._armed: dict[Owner, dict[str, asyncio.TimerHandle]] = {}

    def arm(self, pid: Owner, name: str, after_ms: int) -> None:
        self.disarm(pid, name)
        handle = self._loop.call_later(after_ms / 1000, self._fire, pid, name)
        self._armed.setdefault(pid, {})[name] = handle

    def disarm(self, pid: Owner, name: str) -> None:
        handle = self._armed.get(pid, {}).pop(name, None)
        if handle is not None:
            handle.cancel()

    def now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    def forget(self, pid: Owner) -> None:
        for handle in self._armed.pop(pid, {}).values():
            handle.cancel()

    def forget_all(self) -> None:
        for pid in list(self._armed):
            self.forget(pid)

    def _fire(self, pid: Owner, name: str) -> None:
        del self._armed[pid][name]
        self._fired(pid, name)
