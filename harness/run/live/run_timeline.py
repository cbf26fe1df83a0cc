"""The windows and operations of a run, each played when the conductor says so.

1. Each end is an event for the conductor, and the manifest is saved.
2. What claims use of a window is recorded when it has opened, and when its fault is gone.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence

from harness.run.core import conductor_protocol as c
from harness.run.fault_windows.windows import LiveWindow
from harness.run.interrupts import RunInterrupted
from harness.run.live.state.parts import RunParts
from harness.run.operations.rejoining import see_what_is_held
from harness.run.prepared import Prepared


class RunTimeline:
    """The windows and operations of one run. `opened`: windows, and since when at the most."""

    def __init__(
        self,
        windows: Mapping[int, LiveWindow],
        parts: RunParts,
        prepared: Prepared,
        save: Callable[[], None],
        events: asyncio.Queue[c.Event],
    ) -> None:
        self._windows = windows
        self._parts = parts
        self._prepared = prepared
        self._save = save
        self._events = events
        self._steps = {step.number: step for step in parts.stage.plan.schedule.steps}
        self.opened: dict[int, int] = {}

    async def open(self, number: int) -> None:
        window, manifest = self._windows[number], self._parts.manifest
        opening_ns = self._parts.stage.run_ns(time.monotonic_ns())
        opened = await window.open()
        if opened:
            self.opened[number] = opening_ns
        now_ns = time.monotonic_ns()
        states = manifest.state.setdefault("windows", {})
        states[str(number)] = self._prepared.state_at_fault(window.state)
        self._events.put_nowait(c.Opened(number, now_ns) if opened else c.Missed(number, now_ns))
        self._save()

    async def undo(self, number: int) -> None:
        window, manifest = self._windows[number], self._parts.manifest
        await window.close()
        self._events.put_nowait(c.Undone(number, time.monotonic_ns()))
        self._save()
        await window.leave()
        manifest.state["windows"][str(number)] |= {
            "fault_returned": window.state.returned,
            "promoted_mirror_rank": window.state.promoted_rank,
        }
        self._events.put_nowait(c.Left(number, time.monotonic_ns()))
        self._save()
        await self._see_return(number)

    async def perform(self, number: int) -> None:
        """Carry out an operation. However it ends, the conductor hears that it is over."""
        try:
            await self._parts.operating.perform(self._steps[number])
        finally:
            self._events.put_nowait(c.Performed(number, time.monotonic_ns()))
            self._save()

    async def undo_all(self, armed: Sequence[int]) -> None:
        """Undo what is armed, one after another, whatever the conductor still waits for. An
        unforeseen failure keeps no other fault from its undo, and is raised at the end."""
        unforeseen: list[Exception] = []
        for number in armed:
            try:
                await self._windows[number].close()
            except Exception as error:
                unforeseen.append(error)
        if unforeseen:
            raise unforeseen[0]

    async def _see_return(self, number: int) -> None:
        """Record what a host that is a mirror again holds when it is first seen as one."""
        window, stage = self._parts.windows[number], self._parts.stage
        if not window.target.takes_a_copy or not window.facts.gone:
            return
        with contextlib.suppress(RunInterrupted):
            state = self._parts.manifest.state["windows"][str(number)]
            await stage.interrupt.unless(see_what_is_held(stage, window, state))
