"""One run, live: the shell that carries out what the conductor says, over a cluster that stands.

1. The conductor decides, this module only does; what takes long runs beside it as a task whose end
   is an event.
2. The manifest is saved at every step forward, so that a harness that dies leaves a readable run.
3. A disk that refuses to hold what is recorded ends the run, like an interrupt.
4. Whatever happens, armed faults are undone and workers are ended before `perform` returns.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.deploy.orders import CountHeld
from harness.deploy.polling import until
from harness.deploy.port import Cluster, DeployError
from harness.plan.model import RunPlan
from harness.run import cues as c
from harness.run.auditor import Auditor
from harness.run.conductor import Conductor
from harness.run.crew import Member, recorded
from harness.run.ending import CLOSE_LIMIT_S
from harness.run.operating import Operating
from harness.run.preparing import Prepared
from harness.run.progress import parts
from harness.run.strip import SECOND_NS, Load, Spell, Strip, Told, strip
from harness.run.view import View, view_of
from harness.run.windows import LiveWindow
from harness.run_folder.manifest import NAME as MANIFEST
from harness.run_folder.manifest import ClockRecord, Manifest
from harness.run_folder.process_ends import end_told
from harness.workers.protocol import Role
from spark_analysis.schema.facts import Absence, Rivals
from spark_analysis.schema.failed import os_reason

TICK_S = 0.1
RETURN_LIMIT_S = 30.0  # for a host that is back to take its place in a queue again
LOAD_LEAD_NS = 500_000_000  # between the order to start and the first operation


@dataclass(slots=True)
class Outside:
    """What the world may ask of a run while it goes on, and what it shows."""

    interrupt: asyncio.Event
    show: Callable[[View], None]
    save: Callable[[Manifest], None]
    tell: Callable[[str], None]  # a sentence, once


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
        self._windows = {
            window.number: LiveWindow(self._stage, window, self._replace_client)
            for window in plan.schedule.windows
        }
        self._steps = {step.number: step for step in plan.schedule.steps}
        self._operating = Operating(self._stage, plan.schedule.steps)
        self._performing: dict[int, asyncio.Task[None]] = {}
        self._events: asyncio.Queue[c.Event] = asyncio.Queue()
        self._tasks: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self._ending = prepared.ending
        self._auditor = Auditor(self._stage, self._save)
        self._crew = list(prepared.crew)
        self._asked_ns: dict[int, int] = {}  # of the windows that opened: since when at the most
        self._shares: tuple[tuple[int, bool], Strip] | None = None  # put together once a second
        self._leaving = False
        self._full = False  # the disk refused something

    async def perform(self) -> None:
        """Runs to the end; the manifest says how it went."""
        beside = [
            asyncio.create_task(self._sample()),
            asyncio.create_task(self._see_process_ends()),
        ]
        try:
            await self._start()
            while self._conductor.phase is not c.Phase.FINISHED:
                await self._step()
        finally:
            await self._leave(beside)

    async def _start(self) -> None:
        starts_ns = time.monotonic_ns() + LOAD_LEAD_NS
        for member in self._crew:
            await member.send("start", at_ns=starts_ns + member.clock.offset_ns)
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
        if self._failure is not None:
            raise self._failure
        self._do(self._conductor.handle(event))

    def _watch(self) -> None:
        """What nobody sends as an event: an interrupt, a worker that cannot go on."""
        failed = [member for member in self._crew if "failed" in member.said]
        if failed and not self._manifest.failure:
            self._manifest.failure = "; ".join(f"{m.name}: {m.doubt}" for m in failed)
            self._events.put_nowait(c.Interrupted())
        if refused := self._stage.record.doubt or self._stage.journal.doubt:
            self._cannot_record(refused)
        if self._out.interrupt.is_set() and not self._manifest.interrupted:
            self._manifest.interrupted = True
            self._events.put_nowait(c.Interrupted())
        self._out.show(self._view(time.monotonic_ns()))

    def _cannot_record(self, refused: str) -> None:
        """Once: what goes on without being on record says nothing, so it ends."""
        if not self._full:
            self._full = True
            self._manifest.failure = self._manifest.failure or refused
            self._events.put_nowait(c.Interrupted())

    def _view(self, now_ns: int) -> View:
        phase = self._conductor.phase
        armed = [self._windows[number].title for number in self._conductor.armed()]
        armed += [one for one in (self._operating.title, self._auditor.title) if one]
        left_s = self._conductor.left_s(now_ns)
        view = view_of(phase.name.lower(), self._crew, armed, left_s)
        run_ns = self._run_time(now_ns)
        done = parts(self._plan.schedule, phase, self._manifest.phases_ns, run_ns)
        return replace(view, parts=done, strip=self._strip(run_ns))

    def _strip(self, now_ns: int) -> Strip | None:
        workload, started_ns = self._plan.scenario.workload, self._manifest.load_started_ns
        if workload.rate is None or not workload.confirms or started_ns is None:
            return None
        opened = [(self._windows[number], at_ns) for number, at_ns in self._asked_ns.items()]
        publishers = [m for m in self._crew if m.config.role is Role.PUBLISHER]
        closed = all(member.ended.is_set() for member in publishers)
        key = now_ns // SECOND_NS, closed
        if self._shares is None or self._shares[0] != key:
            deadline_ns = round(workload.deadline_s * SECOND_NS)
            load = Load(started_ns, self._manifest.load_ended_ns, deadline_ns, closed)
            told = [Told(m.config.number, m.seconds) for m in publishers]
            absences = [absence for window, _ in opened for absence in window.absences]
            self._shares = key, strip(load, now_ns, told, absences)
        # Of an action that failed, and may have taken effect, only its beginning is known.
        faults = tuple(
            Spell(window.title, max(at_ns, window.facts.origin_ns), window.facts.ended_ns)
            for window, at_ns in opened
        )
        return replace(self._shares[1], faults=faults)

    def _do(self, dispatches: list[c.Dispatch]) -> None:
        for dispatch in dispatches:
            match dispatch:
                case c.Enter(phase):
                    self._enter(phase)
                case c.Open(number):
                    self._spawn(self._open(number))
                case c.Undo(number):
                    self._spawn(self._undo(number))
                case c.Perform(number):
                    self._performing[number] = self._spawn(self._perform(number))
                case c.BreakOff(number):
                    self._performing[number].cancel()
                case c.StopLoad():
                    self._manifest.load_ended_ns = self._run_time(time.monotonic_ns())
                    self._spawn(self._tell_all("stop_load"))
                case c.CloseLoad(drain):
                    self._spawn(self._close_load(drain))
                case c.Audit():
                    self._spawn(self._audit())
                case c.Finish():
                    self._spawn(self._finish())

    def _enter(self, phase: c.Phase) -> None:
        self._manifest.phase = phase.name.lower()
        self._manifest.phases_ns[self._manifest.phase] = self._run_time(time.monotonic_ns())
        self._save()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            self._failure = task.exception()

    async def _open(self, number: int) -> None:
        window = self._windows[number]
        asked_ns = self._run_time(time.monotonic_ns())
        opened = await window.open()
        if opened:
            self._asked_ns[number] = asked_ns
        now_ns = time.monotonic_ns()
        states = self._manifest.state.setdefault("windows", {})
        states[str(number)] = self._prepared.state_at_fault(window)
        self._events.put_nowait(c.Opened(number, now_ns) if opened else c.Missed(number, now_ns))
        self._save()

    async def _undo(self, number: int) -> None:
        window = self._windows[number]
        await window.close()
        self._events.put_nowait(c.Undone(number, time.monotonic_ns()))
        self._save()
        await window.leave()
        self._manifest.state["windows"][str(number)] |= {
            "fault_returned": window.returned,
            "promoted_mirror_rank": window.promoted_rank,
        }
        self._events.put_nowait(c.Left(number, time.monotonic_ns()))
        self._save()
        await self._see_return(number)

    async def _see_return(self, number: int) -> None:
        """What a host that is a mirror again holds when it is first seen as one."""
        window = self._windows[number]
        if not window.takes_a_copy or not window.facts.gone:
            return
        with contextlib.suppress(DeployError, TimeoutError):
            roles = await until(
                self._stage.roles, lambda found: window.role_by(found) != "none", RETURN_LIMIT_S
            )
            state = self._manifest.state["windows"][str(number)]
            state["synchronised_when_rejoined"] = window.synchronised_by(roles)
            mirrored = [word for word, role in roles.items() if window.resolved in role.mirrors]
            if len(mirrored) == len(roles):
                state["held_when_rejoined"] = await self._held(mirrored, window.resolved)

    async def _held(self, queues: Sequence[str], host: str) -> int | None:
        """The most that a host says it holds of a queue; None where it says anything else."""
        said = [
            await self._cluster.operator.carry_out(CountHeld(self._stage.queues[queue], host))
            for queue in queues
        ]
        numbers = [one.rpartition(" ")[2] for one in said]
        known = all(number.isdecimal() for number in numbers)
        return max(map(int, numbers)) if known else None

    async def _perform(self, number: int) -> None:
        """However it ends, the conductor hears that it is over."""
        try:
            await self._operating.perform(self._steps[number])
        finally:
            self._events.put_nowait(c.Performed(number, time.monotonic_ns()))
            self._save()

    async def _replace_client(self, client: str) -> Absence | None:
        """Hires somebody in a dead client's place, as long as there is load."""
        stage, roster = self._stage, self._cluster.roster
        role = stage.roles_of_worker.pop(client)
        if self._leaving or self._manifest.load_ended_ns is not None:
            roster.succeed(client, "")
            return None
        dead = next(member for member in self._crew if member.name == client)
        new = await self._prepared.succeed(dead)
        self._crew.append(new)
        starts_ns = time.monotonic_ns()
        await new.send("start", at_ns=starts_ns + new.clock.offset_ns)
        stage.roles_of_worker[new.name] = role
        stage.numbers[new.name] = new.config.number
        roster.succeed(client, new.name)
        return Absence(new.config.number, 0, self._run_time(starts_ns))

    async def _tell_all(self, do: str) -> None:
        await asyncio.gather(*(member.send(do) for member in self._crew))

    async def _close_load(self, drain: bool) -> None:
        """Publishers first: what they sent last may still be delivered to the consumers."""
        if not drain and self._manifest.load_ended_ns is None:
            self._manifest.load_ended_ns = self._run_time(time.monotonic_ns())
        for role in ("publisher", "consumer", "prober"):
            crew = [member for member in self._crew if member.config.role == role]
            await asyncio.gather(*(member.end(CLOSE_LIMIT_S) for member in crew))
        self._save()
        if not drain:
            await self._finish()
            return
        if self._steps:
            self._manifest.state |= await self._operating.facts()
        await self._see_who_is_who()
        self._manifest.queues = list(await self._ending.drain())
        self._events.put_nowait(c.Drained())

    async def _see_who_is_who(self) -> None:
        """What each struck host is to its queue in the end, where every fault is gone; brokers
        that cannot say leave it unknown."""
        if not self._windows or not all(one.facts.gone for one in self._windows.values()):
            return
        with contextlib.suppress(DeployError, TimeoutError):
            roles = await self._stage.roles()
            for number, window in self._windows.items():
                state = self._manifest.state["windows"][str(number)]
                state["rejoined_as"] = window.role_by(roles)
                state["synchronised_at_last"] = window.synchronised_by(roles)

    async def _audit(self) -> None:
        held = dict(self._operating.held)
        for window in self._windows.values():
            held |= window.held
        await self._auditor.start_once(held, self._operating.joined)
        started = self._auditor.started
        ended = await self._ending.audit(self._manifest.queues, frozenset(started))
        self._auditor.note_read(self._manifest.queues, ended.queues)
        self._manifest.queues = list(ended.queues)
        until = self._run_time(time.monotonic_ns())
        self._manifest.rivals = [
            Rivals(queue, self._two_since(hosts, started), until)
            for queue, hosts in ended.rivals.items()
        ]
        self._events.put_nowait(c.Audited())

    def _two_since(self, hosts: Sequence[str], started: Mapping[str, int]) -> int:
        """Since when two of these rivals may have lived. Nobody saw it: at the earliest since the
        first fault, or since the auditor started all but one of them."""
        if len([host for host in hosts if host not in started]) < 2:
            return min(started[host] for host in hosts if host in started)
        return min((window.facts.origin_ns for window in self._windows.values()), default=0)

    async def _finish(self) -> None:
        with contextlib.suppress(DeployError, TimeoutError):
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
                unplanned = self._stage.process_ends.saw(ended)
                if unplanned is not None:
                    self._out.tell(end_told(unplanned))
                    self._save()

    async def _leave(self, beside: Sequence[asyncio.Task[None]]) -> None:
        """Undoes and ends whatever still stands, however the run was left."""
        self._leaving = True
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for number in self._conductor.armed():
            await self._windows[number].close()
        altered = (self._operating.altered, self._auditor.altered)
        self._manifest.cluster_altered = ", ".join(one for one in altered if one)
        await self._operating.mend()
        living = [member for member in self._crew if not member.ended.is_set()]
        await asyncio.gather(*(member.end(CLOSE_LIMIT_S) for member in living))
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        self._stage.record.close()
        refused = self._stage.record.doubt or self._stage.journal.doubt
        self._manifest.failure = self._manifest.failure or refused
        self._save()

    def _save(self) -> None:
        manifest = self._manifest
        members: list[Member] = [*self._crew, *self._ending.members]
        manifest.windows = [window.facts for window in self._windows.values()]
        manifest.operations = list(self._operating.records.values())
        manifest.audit_starts = self._auditor.records
        manifest.process_ends = list(self._stage.process_ends.unplanned)
        manifest.absences = [one for each in self._windows.values() for one in each.absences]
        killed = {
            name: number for number, window in self._windows.items() for name in window.killed
        }
        manifest.workers = [recorded(member, killed.get(member.name, 0)) for member in members]
        manifest.clocks = [
            ClockRecord(m.name, k.same_boot, k.offset_ns, k.bound_ns, k.doubt)
            for m in members
            for k in (m.clock,)
        ]
        for number, window in self._windows.items():
            if window.resolved:
                manifest.resolved[f"window {number}: {window.title.split(' = ')[0]}"] = (
                    window.resolved
                )
        try:
            self._out.save(manifest)
        except OSError as refused:
            self._cannot_record(os_reason(refused, Path(MANIFEST)))

    def _run_time(self, monotonic_ns: int) -> int:
        return monotonic_ns - self._stage.origin_ns
