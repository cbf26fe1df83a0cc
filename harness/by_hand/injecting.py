"""One fault by hand: injected, verified active, undone, verified ended, as in a run.

1. A fault is a window of a run that consists of faults alone: the same code plays it. The journal
   of that run shows `mqproof heal` and the guardian what to undo.
2. Faults on one cluster may overlap. Two that have one thing for themselves do not.
3. An interrupt undoes the fault at once.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.by_hand.starting import RunningByHand
from harness.cluster.port import DeployError, Link
from harness.judging.exits import Exit
from harness.plan.clients.requirements import chosen_client
from harness.plan.fault_words import role_beside
from harness.plan.files.targets import Target
from harness.plan.model import FaultPlan, RunPlan, Schedule, Window
from harness.plan.one_fault import scenario
from harness.plan.problems import unknown
from harness.run.fault_windows.windows import LiveWindow
from harness.run.interrupts import Interrupt, RunInterrupted
from harness.run.process_ends import ProcessEnds
from harness.run.record import RunRecorder
from harness.run.run_group import alone
from harness.run.stage import Stage
from harness.run_folder.journal import JOURNAL, Journal
from harness.workers.protocol import Endpoint
from spark_analysis.schema.facts import Absence

LOGS = "logs"
_LOOK_LIMIT_S = 5.0
_PEOPLE = "people"  # who reach brokers by the published ports, as a publisher's links are reached
Report = Callable[[str], None]


@dataclass(slots=True)
class ActiveByHand:
    """A fault that was requested, and has not ended."""

    system: str
    window: LiveWindow
    interrupt: Interrupt
    ends_s: float  # time.monotonic


class FaultsByHand:
    """The faults of one cluster."""

    def __init__(self, running: RunningByHand) -> None:
        self._running = running
        self._number = 0
        self._stage = _stage(running)
        self.active: list[ActiveByHand] = []

    async def play(self, fault: FaultPlan, report: Report, interrupt: Interrupt) -> Exit:
        """Return when the fault has ended, or could not begin."""
        self._number += 1
        number = self._number
        fault = replace(fault, target=self._stage.plan.role_words.of(fault.target))
        lasts_s = fault.lasts.resolve_s(self._stage.plan.layout.detection_timeout_s)
        window = Window(number, fault, opens_s=0.0, lasts_s=lasts_s)
        live = LiveWindow(self._stage_of(window, interrupt), window, _no_client)
        one = ActiveByHand(self._running.choice.name, live, interrupt, time.monotonic() + lasts_s)
        interrupt.armed[str(number)] = lambda: int(bool(live.state.places))
        self.active.append(one)
        try:
            return await self._play(live, lasts_s, report, interrupt)
        finally:
            self.active.remove(one)
            if not live.state.held:  # it is over, or never began: other faults may have its host
                self._stage.active.pop(number, None)

    async def _play(
        self, live: LiveWindow, lasts_s: float, report: Report, interrupt: Interrupt
    ) -> Exit:
        opened = False
        try:
            opened = await live.open()
            if not opened:
                why = [live.state.refusal, *await self._no_queue(live.state.window.fault.target)]
                report(f"nothing was injected: {'; '.join(why)}")
                return Exit.INTERRUPTED if interrupt.is_set() else Exit.NOT_DECIDED
            report(f"injected {live.state.title}{_role(live)}; it ends in {lasts_s:g} s")
            with suppress(RunInterrupted):
                await interrupt.unless(_until_over(live, lasts_s, report))
        finally:
            if opened or live.state.held:
                await live.close()
        await live.leave()
        return _outcome(live, report, interrupt)

    def _stage_of(self, window: Window, interrupt: Interrupt) -> Stage:
        """Return the stage with this window, and with the queue that its target names."""
        plan = self._stage.plan
        queue = window.fault.target.queue
        return replace(
            self._stage,
            plan=replace(plan, schedule=replace(plan.schedule, windows=(window,))),
            queues={queue: queue} if queue else {},
            interrupt=interrupt,
        )

    async def _no_queue(self, target: Target) -> list[str]:
        """Return that there is no queue of the target's name, with those that there are."""
        if not target.queue:
            return []
        try:
            async with asyncio.timeout(_LOOK_LIMIT_S):
                queues = await self._running.cluster.broker.queues("")
        except (DeployError, TimeoutError):
            return []
        if target.queue in queues:
            return []
        return [str(unknown("", "queue", target.queue, queues))]

    def close(self) -> None:
        self._stage.record.close()
        self._stage.journal.close()


def _stage(running: RunningByHand) -> Stage:
    """Raises OSError."""
    run = running.choice.folder  # several clusters may share the experiment's folder
    folder = running.experiment / "runs" / run
    folder.mkdir(parents=True)
    origin_ns = time.monotonic_ns()
    links = [
        Link(
            _PEOPLE,
            one.host,
            one.listener,
            Endpoint(one.host, *_dialled(running, one.listener)),
            one.process,
        )
        for one in running.ports
        if one.clients
    ]
    return Stage(
        plan=_plan(running),
        cluster=running.cluster,
        journal=Journal(folder / JOURNAL, "by hand"),
        record=RunRecorder(folder / LOGS, origin_ns, run),
        origin_ns=origin_ns,
        queues={},
        links={_PEOPLE: links},
        roles_of_worker={_PEOPLE: "publisher"},
        numbers={_PEOPLE: 0},
        process_ends=ProcessEnds(origin_ns),
        participant=alone(),
    )


def _dialled(running: RunningByHand, listener: str) -> tuple[str, int]:
    return running.cluster.published[listener]


def _plan(running: RunningByHand) -> RunPlan:
    system = running.choice.system
    return RunPlan(
        name=running.described.cluster,  # marks of faults differ from those of other clusters
        number=0,
        scenario=scenario(),
        system=system,
        layout=running.cluster.layout,
        client=chosen_client(system.clients[0]),
        deployment="",
        repeat=1,
        seed=0,
        schedule=Schedule(0.0, (), 0.0, 0.0, 0.0),
    )


async def _no_client(client: str) -> Absence | None:
    raise AssertionError(f"no client {client} was started, so no fault kills it")


async def _until_over(live: LiveWindow, lasts_s: float, report: Report) -> None:
    """Wait until the fault is to end; report when it is verified active."""
    ends_s = time.monotonic() + lasts_s
    if live.look is not None:
        await asyncio.wait([live.look], timeout=lasts_s)
        if live.look.done():
            proof = live.look.result()
            word = "verified active" if proof.ok else "not verified active"
            report(f"{word}: {proof.doubt or proof.detail}")
    await asyncio.sleep(max(0.0, ends_s - time.monotonic()))


def _role(live: LiveWindow) -> str:
    """Return what the host was to the queue that the target names."""
    role = live.state.target.role if live.state.target.roles else ""
    beside = role_beside(str(live.state.window.fault.target), role)
    return f", {beside}" if beside else ""


def _outcome(live: LiveWindow, report: Report, interrupt: Interrupt) -> Exit:
    facts = live.state.facts
    if facts.ended_ns is None:
        report(f"NOT UNDONE: {facts.unverified_reason}; `mqproof down` removes the clusters")
        return Exit.NOT_DECIDED
    lasted_s = (facts.ended_ns - facts.origin_ns) / 1e9
    ended = "undone, verified ended" if facts.gone else "undone, NOT VERIFIED ended"
    doubt = f": {facts.unverified_reason}" if facts.unverified_reason else ""
    report(f"{ended}; it lasted {lasted_s:.1f} s{doubt}")
    if interrupt.is_set():
        return Exit.INTERRUPTED
    return Exit.PASSED if facts.verified and facts.gone else Exit.NOT_DECIDED
