"""One run, live: the shell that carries out what the conductor says, over a cluster that stands.

1. The conductor decides, this module only does; what takes long runs beside it as a task whose end
   is an event.
2. The manifest is saved at every step forward, so that a harness that dies leaves a readable run.
3. Whatever happens, armed faults are undone and workers are ended before `perform` returns.
4. A worker that cannot go on, or a disk that refuses what is recorded, ends this run as a person's
   interrupt does, and no other: those that are played together with it go on (run_group.py).
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.cluster.port import Cluster, DeployError
from harness.plan.model import RunPlan
from harness.run.core import conductor_protocol as c
from harness.run.core.conductor import Conductor
from harness.run.core.view import LiveCounts
from harness.run.drain_and_audit import CLOSE_LIMIT_S
from harness.run.fault_windows.windows import LiveWindow
from harness.run.interrupts import Interrupt, RunInterrupted
from harness.run.kept_manifest import KeptManifest
from harness.run.live_view import LiveRunView
from harness.run.operations.auditor import Auditor, two_since
from harness.run.operations.operating import Operating
from harness.run.operations.rejoining import see_what_is_held, see_who_is_who
from harness.run.prepared import Prepared
from harness.run.replacing import ClientReplacement
from harness.run.tasks import RunTasks
from harness.run.worker_handles import WorkerHandle
from harness.run_folder.manifest import NAME as MANIFEST
from harness.run_folder.manifest import Manifest
from harness.run_folder.process_ends import unplanned_text
from spark_analysis.schema.facts import CompetingLeaders
from spark_analysis.schema.failed import os_reason

TICK_S = 0.1
TIDY_LIMIT_S = 3.0  # after an interrupt: the rest of the run is removed with its cluster
LOAD_LEAD_NS = 500_000_000  # between the order to start and the first publish


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

    def __init__(
        self, plan: RunPlan, cluster: Cluster, prepared: Prepared, manifest: Manifest, out: Outside
    ) -> None:
        self._plan = plan
        self._cluster = cluster
        self._prepared = prepared
        self._manifest = manifest
        self._out = out
        self._stage = prepared.stage
        self._conductor = Conductor(plan.schedule)
        self._workers = list(prepared.workers)
        self._clients = ClientReplacement(prepared, cluster.started_clients, self._workers)
        self._windows = {
            window.number: LiveWindow(self._stage, window, self._clients.replace)
            for window in plan.schedule.windows
        }
        self._steps = {step.number: step for step in plan.schedule.steps}
        self._operating = Operating(self._stage, plan.schedule.steps)
        self._performing: dict[int, asyncio.Task[None]] = {}
        self._events: asyncio.Queue[c.Event] = asyncio.Queue()
        self._tasks = RunTasks()
        self._drain_and_audit = prepared.drain_and_audit
        self._auditor = Auditor(self._stage, self._save)
        self._states = {number: window.state for number, window in self._windows.items()}
        self._kept = KeptManifest(
            manifest=manifest,
            windows=self._states,
            operating=self._operating,
            auditor=self._auditor,
            process_ends=self._stage.process_ends,
            workers=self._workers,
            drain_and_audit=self._drain_and_audit,
            write=out.save,
        )
        self._view = LiveRunView(
            plan=plan,
            manifest=manifest,
            conductor=self._conductor,
            windows=self._states,
            operating=self._operating,
            auditor=self._auditor,
            workers=self._workers,
            origin_ns=self._stage.origin_ns,
        )
        self._full = False  # the disk refused something

    async def perform(self) -> None:
        """Runs to the end; the manifest says how it went."""
        beside = [
            asyncio.create_task(self._sample()),
            asyncio.create_task(self._see_process_ends()),
        ]
        self._out.interrupt.armed[self._plan.name] = self._to_undo
        try:
            await self._start()
            while self._conductor.phase is not c.RunPhase.FINISHED:
                await self._step()
        finally:
            await self._leave(beside)

    def _to_undo(self) -> int:
        """How many faults are armed; a host that an operation stopped is started like one."""
        return len(self._conductor.to_undo()) + len(self._operating.held)

    async def _start(self) -> None:
        with contextlib.suppress(RunInterrupted):  # it begins all the same, and ends in good order
            await self._out.interrupt.unless(self._stage.participant.meet("load"))
        starts_ns = time.monotonic_ns() + LOAD_LEAD_NS
        for worker in self._workers:
            await worker.send("start", at_ns=starts_ns + worker.clock.offset_ns)
        self._manifest.load_started_ns = self._run_time(starts_ns)
        self._do(self._conductor.handle(c.Ready(starts_ns)))

    async def _step(self) -> None:
        """One tick or one event, whichever comes first."""
        event: c.Event
        try:
            async with asyncio.timeout(TICK_S):
                event = await self._events.get()
        except TimeoutError:
            self._watch()
            event = c.Tick(time.monotonic_ns())
        if self._tasks.failure is not None:
            raise self._tasks.failure
        self._do(self._conductor.handle(event))

    def _watch(self) -> None:
        """Check what sends no event: an interrupt, a worker that failed."""
        failed = [worker for worker in self._workers if "failed" in worker.messages]
        if failed and not self._manifest.failure:
            self._manifest.failure = "; ".join(f"{m.name}: {m.doubt}" for m in failed)
            self._interrupt()
        if refused := self._stage.record.doubt or self._stage.journal.doubt:
            self._cannot_record(refused)
        if self._out.interrupt.is_set() and not self._manifest.interrupted:
            self._manifest.interrupted = True
            self._manifest.failure = self._manifest.failure or self._out.interrupt.reason
            self._interrupt()
        self._stage.interrupt.follow(self._out.interrupt)
        self._out.show(self._view.at(time.monotonic_ns()))

    def _cannot_record(self, refused: str) -> None:
        """Once: what goes on without being on record says nothing, so it ends."""
        if not self._full:
            self._full = True
            self._manifest.failure = self._manifest.failure or refused
            self._interrupt()

    def _interrupt(self) -> None:
        self._stage.participant.withdraw()
        self._stage.interrupt.ask()
        self._events.put_nowait(c.Interrupted())

    def _do(self, dispatches: list[c.Dispatch]) -> None:
        for dispatch in dispatches:
            match dispatch:
                case c.Enter(phase):
                    self._enter(phase)
                case c.Open(number):
                    self._tasks.spawn(self._open(number))
                case c.Undo(number):
                    self._tasks.spawn(self._undo(number))
                case c.Perform(number):
                    self._performing[number] = self._tasks.spawn(self._perform(number))
                case c.BreakOff(number):
                    self._performing[number].cancel()
                case c.StopLoad(at_once):
                    self._load_ended()
                    self._tasks.spawn(self._send_to_all("break_off" if at_once else "stop_load"))
                case c.CloseLoad(drain):
                    self._tasks.spawn(self._close_load(drain))
                case c.Audit():
                    self._tasks.spawn(self._audit())
                case c.Finish():
                    self._tasks.spawn(self._finish())

    def _load_ended(self) -> None:
        """End the load once: later notices are no other end."""
        self._clients.over = True
        if self._manifest.load_ended_ns is None:
            self._manifest.load_ended_ns = self._run_time(time.monotonic_ns())

    def _enter(self, phase: c.RunPhase) -> None:
        self._manifest.phase = phase.name.lower()
        self._manifest.phases_ns[self._manifest.phase] = self._run_time(time.monotonic_ns())
        self._save()
        if phase is c.RunPhase.DRAIN:
            self._out.over()

    async def _open(self, number: int) -> None:
        window = self._windows[number]
        opening_ns = self._run_time(time.monotonic_ns())
        opened = await window.open()
        if opened:
            self._view.opened[number] = opening_ns
        now_ns = time.monotonic_ns()
        states = self._manifest.state.setdefault("windows", {})
        states[str(number)] = self._prepared.state_at_fault(window.state)
        self._events.put_nowait(c.Opened(number, now_ns) if opened else c.Missed(number, now_ns))
        self._save()

    async def _undo(self, number: int) -> None:
        window = self._windows[number]
        await window.close()
        self._events.put_nowait(c.Undone(number, time.monotonic_ns()))
        self._save()
        await window.leave()
        self._manifest.state["windows"][str(number)] |= {
            "fault_returned": window.state.returned,
            "promoted_mirror_rank": window.state.promoted_rank,
        }
        self._events.put_nowait(c.Left(number, time.monotonic_ns()))
        self._save()
        await self._see_return(number)

    async def _see_return(self, number: int) -> None:
        """What a host that is a mirror again holds when it is first seen as one."""
        window = self._states[number]
        if not window.target.takes_a_copy or not window.facts.gone:
            return
        with contextlib.suppress(RunInterrupted):
            state = self._manifest.state["windows"][str(number)]
            await self._stage.interrupt.unless(see_what_is_held(self._stage, window, state))

    async def _perform(self, number: int) -> None:
        """However it ends, the conductor hears that it is over."""
        try:
            await self._operating.perform(self._steps[number])
        finally:
            self._events.put_nowait(c.Performed(number, time.monotonic_ns()))
            self._save()

    async def _send_to_all(self, do: str) -> None:
        await asyncio.gather(*(worker.send(do) for worker in self._workers))

    async def _close_load(self, drain: bool) -> None:
        """Publishers first: what they sent last may still be delivered to the consumers."""
        self._load_ended()
        if not drain:
            await self._end_all(self._workers)
            self._save()
            await self._finish()
            return
        for role in ("publisher", "consumer", "prober"):
            await self._end_all(one for one in self._workers if one.config.role == role)
        self._save()
        if self._steps:
            self._manifest.state |= await self._operating.facts()
        await see_who_is_who(self._stage, self._states, self._manifest.state)
        self._manifest.queues = list(await self._drain_and_audit.drain())
        self._events.put_nowait(c.Drained())

    async def _end_all(self, workers: Iterable[WorkerHandle]) -> None:
        await asyncio.gather(*(worker.end(CLOSE_LIMIT_S) for worker in workers))

    async def _audit(self) -> None:
        await self._stage.participant.meet(
            "audit"
        )  # no run drains any more when the audit starts brokers
        held = dict(self._operating.held)
        for window in self._states.values():
            held |= window.held
        await self._auditor.start_once(held, self._operating.joined)
        started = self._auditor.started
        ended = await self._drain_and_audit.audit(self._manifest.queues, frozenset(started))
        self._auditor.note_read(self._manifest.queues, ended.queues)
        self._manifest.queues = list(ended.queues)
        until = self._run_time(time.monotonic_ns())
        origins_ns = [window.facts.origin_ns for window in self._states.values()]
        self._manifest.competing_leaders = [
            CompetingLeaders(queue, two_since(hosts, started, origins_ns), until)
            for queue, hosts in ended.competing_leaders.items()
        ]
        self._events.put_nowait(c.Audited())

    async def _finish(self) -> None:
        limit_s = TIDY_LIMIT_S if self._stage.interrupt.is_set() else None
        with contextlib.suppress(DeployError, TimeoutError):
            async with asyncio.timeout(limit_s):
                await self._cluster.unlink(self._plan)
                await self._cluster.broker.delete(self._prepared.prefix)
        self._events.put_nowait(c.Closed())

    async def _sample(self) -> None:
        with contextlib.suppress(DeployError):
            async for sample in self._cluster.resources():
                self._stage.record.sample(sample)

    async def _see_process_ends(self) -> None:
        with contextlib.suppress(DeployError):
            async for ended in self._cluster.process_ends():
                if self._stage.participant.others_go_on:
                    continue  # it no longer knows which ends are planned
                unplanned = self._stage.process_ends.saw(ended)
                if unplanned is not None:
                    self._out.report(unplanned_text(unplanned))
                    self._save()

    async def _leave(self, beside: Sequence[asyncio.Task[None]]) -> None:
        """Undoes and ends whatever still stands, however the run was left."""
        self._clients.over = True
        self._stage.participant.withdraw()
        self._stage.interrupt.ask()  # of this run alone: there is no time for looks any more
        await self._tasks.cancel()
        for number in self._conductor.armed():
            await self._windows[number].close()
        altered = (self._operating.altered, self._auditor.altered)
        self._manifest.cluster_altered = ", ".join(one for one in altered if one)
        await self._operating.mend()
        self._out.interrupt.armed.pop(self._plan.name, None)
        # Who still wrote to a log while it is sealed would make it another one than was sealed.
        everybody = (*self._workers, *self._drain_and_audit.workers)
        await self._end_all(one for one in everybody if not one.ended.is_set())
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        self._stage.record.close()
        refused = self._stage.record.doubt or self._stage.journal.doubt
        self._manifest.failure = self._manifest.failure or refused
        self._save()

    def _save(self) -> None:
        try:
            self._kept.save()
        except OSError as refused:
            self._cannot_record(os_reason(refused, Path(MANIFEST)))

    def _run_time(self, monotonic_ns: int) -> int:
        return monotonic_ns - self._stage.origin_ns
