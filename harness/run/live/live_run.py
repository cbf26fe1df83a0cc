"""One run, live: the shell that carries out what the conductor says, over a cluster that stands.

1. The conductor decides, this folder only does; what takes long runs beside the loop as a task
   whose end is an event.
2. The manifest is saved at every step forward, so that a harness that dies leaves a readable run.
3. Whatever happens, armed faults are undone and workers are ended before `perform` returns.
4. A worker that cannot go on, or a disk that refuses what is recorded, ends this run as a person's
   interrupt does, and no other: those that are played together with it go on (early_end.py).
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from harness.run.core import conductor_protocol as c
from harness.run.core.conductor import Conductor
from harness.run.core.view import LiveCounts
from harness.run.fault_windows.windows import LiveWindow
from harness.run.interrupts import Interrupt
from harness.run.live.after_load import AfterLoad
from harness.run.live.cluster_reports import ClusterReports
from harness.run.live.early_end import EarlyEnd
from harness.run.live.load import LiveLoad, close_all
from harness.run.live.replacing import ClientReplacement
from harness.run.live.run_timeline import RunTimeline
from harness.run.live.state.kept_manifest import KeptManifest
from harness.run.live.state.live_view import LiveRunView
from harness.run.live.state.parts import RunParts
from harness.run.operations.auditor import Auditor
from harness.run.operations.operating import Operating
from harness.run.prepared import Prepared
from harness.run_folder.manifest import Manifest

TICK_S = 0.1


@dataclass(slots=True)
class Outside:
    """What the world may ask of a run while it goes on, and what it shows."""

    interrupt: Interrupt
    show: Callable[[LiveCounts], None]
    save: Callable[[Manifest], None]
    report: Callable[[str], None]  # a sentence, once
    over: Callable[[], None] = lambda: None  # nothing that is timed happens any more


class LiveRun:
    """One run over a prepared stage; `perform` once."""

    def __init__(self, prepared: Prepared, manifest: Manifest, out: Outside) -> None:
        stage, workers = prepared.stage, list(prepared.workers)
        schedule = stage.plan.schedule
        self._out = out
        self._conductor = Conductor(schedule)
        self._events: asyncio.Queue[c.Event] = asyncio.Queue()
        self._tasks = RunTasks()
        self._performing: dict[int, asyncio.Task[None]] = {}
        self._clients = ClientReplacement(prepared, stage.cluster.started_clients, workers)
        windows = {
            window.number: LiveWindow(stage, window, self._clients.replace)
            for window in schedule.windows
        }
        self._kept: KeptManifest  # the auditor saves it, and is itself a part that is saved
        self._parts = RunParts(
            stage=stage,
            manifest=manifest,
            workers=workers,
            windows={number: window.state for number, window in windows.items()},
            operating=Operating(stage, schedule.steps),
            auditor=Auditor(stage, lambda: self._kept.save()),
            drain_and_audit=prepared.drain_and_audit,
        )
        self._early_end = EarlyEnd(self._parts, out.interrupt, self._events)
        self._kept = KeptManifest(self._parts, out.save, self._early_end.cannot_record)
        self._load = LiveLoad(self._parts, self._clients)
        self._timeline = RunTimeline(windows, self._parts, prepared, self._kept.save, self._events)
        self._after_load = AfterLoad(self._parts, prepared.prefix, self._events)
        self._reports = ClusterReports(stage, out.report, self._kept.save)
        self._view = LiveRunView(self._parts, self._conductor, self._timeline.opened)

    async def perform(self) -> None:
        """Run to the end; the manifest says how it went."""
        self._reports.begin()
        self._out.interrupt.armed[self._parts.stage.plan.name] = self._to_undo
        try:
            starts_ns = await self._load.start(self._out.interrupt)
            self._do(self._conductor.handle(c.Ready(starts_ns)))
            while self._conductor.phase is not c.RunPhase.FINISHED:
                await self._step()
        finally:
            await self._leave()

    def _to_undo(self) -> int:
        """Return how many faults are armed; hosts that operations stopped count like them."""
        return len(self._conductor.to_undo()) + len(self._parts.operating.held)

    async def _step(self) -> None:
        """One tick or one event, whichever comes first."""
        event: c.Event
        try:
            async with asyncio.timeout(TICK_S):
                event = await self._events.get()
        except TimeoutError:
            self._early_end.watch()
            self._out.show(self._view.at(time.monotonic_ns()))
            event = c.Tick(time.monotonic_ns())
        if self._tasks.failure is not None:
            raise self._tasks.failure
        self._do(self._conductor.handle(event))

    def _do(self, dispatches: list[c.Dispatch]) -> None:
        for dispatch in dispatches:
            match dispatch:
                case c.Enter(phase):
                    now_ns = self._parts.stage.run_ns(time.monotonic_ns())
                    self._kept.enter(phase.name.lower(), now_ns)
                    if phase is c.RunPhase.DRAIN:
                        self._out.over()
                case c.Open(number):
                    self._tasks.spawn(self._timeline.open(number))
                case c.Undo(number):
                    self._tasks.spawn(self._timeline.undo(number))
                case c.Perform(number):
                    self._performing[number] = self._tasks.spawn(self._timeline.perform(number))
                case c.BreakOff(number):
                    self._performing[number].cancel()
                case c.StopLoad(at_once):
                    self._load.end()
                    self._tasks.spawn(self._load.stop(at_once))
                case c.CloseLoad(drain):
                    self._tasks.spawn(self._close_load(drain))
                case c.Audit():
                    self._tasks.spawn(self._after_load.audit())
                case c.Finish():
                    self._tasks.spawn(self._after_load.tidy_up())

    async def _close_load(self, drain: bool) -> None:
        await self._load.close(by_role=drain)
        self._kept.save()
        await (self._after_load.drain() if drain else self._after_load.tidy_up())

    async def _leave(self) -> None:
        """Undo and end whatever still stands, however the run was left."""
        self._clients.over = True
        self._early_end.release()  # there is no time for looks any more
        await self._tasks.cancel()
        try:
            await self._timeline.undo_all(self._conductor.armed())
        finally:
            await self._end_all()

    async def _end_all(self) -> None:
        """Start what operations stopped, end every worker, and save what is known."""
        parts = self._parts
        altered = (parts.operating.altered, parts.auditor.altered)
        parts.manifest.cluster_altered = ", ".join(one for one in altered if one)
        # The last one comes first, and each comes whatever became of those before it.
        async with contextlib.AsyncExitStack() as steps:
            steps.callback(self._save_at_the_end)
            steps.callback(parts.stage.close)
            steps.push_async_callback(self._reports.end)
            steps.push_async_callback(self._end_workers)
            await parts.operating.mend()

    async def _end_workers(self) -> None:
        """End every worker. One that still wrote to its log while that is sealed would alter
        it."""
        parts = self._parts
        self._out.interrupt.armed.pop(parts.stage.plan.name, None)
        everybody = (*parts.workers, *parts.drain_and_audit.workers)
        await close_all(one for one in everybody if not one.over)

    def _save_at_the_end(self) -> None:
        manifest = self._parts.manifest
        manifest.failure = manifest.failure or self._early_end.refused
        self._kept.save()


class RunTasks:
    """The tasks of one run. `failure`: of one that ended by an exception; None: none has."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self.failure: BaseException | None = None

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def cancel(self) -> None:
        """End all of them."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self.failure = task.exception()
