"""One fault window, live: resolve late, arm, verify from outside, undo, see that it is gone.

1. The journal knows of a fault before the action is issued, and of its undo after it returned.
2. A fault that was not verified active does not count; one not verified ended is not gone.
3. Whatever fails in between, an armed fault is undone: only that may never be skipped.
4. The origin is the instant before the action was issued.
5. Once an interrupt was asked nothing opens, an armed fault is undone at once, and how long it is
   looked for after that is the interrupt's.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from faults.actions import KillClients, ReplaceClients
from faults.kinds import KINDS
from faults.model import Armed, FaultError, Proof, Receipt
from faults.performing import perform_all
from faults.rhythm import Change, Rhythm
from faults.verification import counted, gone, held, held_limit_s, prepare, shortest_s
from harness.cluster.port import DeployError
from harness.plan.fault_properties import properties_of
from harness.plan.model import Window
from harness.run.aiming import resolve_fault, roles_before, take, to_look_at
from harness.run.barrier import TargetProposal
from harness.run.interrupts import RunInterrupted
from harness.run.progress import GONE_LIMIT_S
from harness.run.resolved_target import ResolvedTarget, takeover_over_ns
from harness.run.resolving import NoSuchTarget
from harness.run.run_group import Look
from harness.run.stage import LOOK_LIMIT_S, Stage
from harness.run.worker_handles import WorkerLost
from spark_analysis.schema.facts import Absence
from spark_analysis.schema.facts import Window as WindowFacts


class LiveWindow:
    """One window. `facts` always says what is known up to now.

    `replace_client` starts a client in a dead one's place and returns the absence; None if no
    client is needed any more. It raises DeployError or WorkerLost.
    """

    def __init__(
        self,
        stage: Stage,
        window: Window,
        replace_client: Callable[[str], Awaitable[Absence | None]],
    ) -> None:
        self._stage = stage
        self._window = window
        self._replace_client = replace_client
        self._newcomers: list[Absence] = []
        self._armed: Armed | None = None
        self._look: asyncio.Task[Proof] | None = None
        self._rhythm: Rhythm | None = None
        self._broken_off = False  # its window was over before a look could be
        self._begun = False  # an action of it was tried
        self.target = ResolvedTarget(stage.servers)
        self.promoted_rank: int | None = None  # seen just before it was undone
        now_ns = time.monotonic_ns() - stage.origin_ns
        self.facts = WindowFacts(
            window.number,
            window.fault.kind,
            now_ns,
            now_ns,
            None,
            False,
            False,
            "not begun",
            properties=properties_of(window.fault.kind),
        )

    @property
    def resolved(self) -> str:
        return self.target.resolved if self._armed else ""

    @property
    def look(self) -> "asyncio.Task[Proof] | None":
        """Return the verification that it is active; None if no action was carried out."""
        return self._look

    @property
    def title(self) -> str:
        fault = self._window.fault
        return f"{fault.kind} {fault.target}" + (f" = {self.resolved}" if self._armed else "")

    @property
    def returned(self) -> bool | None:
        """Return whether what the fault took came back in the run; None: not seen."""
        if self._armed is None or not self._armed.returns:
            return False
        return True if self.facts.gone else None

    @property
    def held(self) -> dict[str, str]:
        """What it may keep down when the run is over, and why."""
        if self._armed is None or not self._begun or self.facts.ended_ns is not None:
            return {}
        never = "the scenario never ends it" if not self._armed.returns else "its undo failed"
        why = f"fault {self.facts.number} ({self.facts.kind}) is still active: {never}"
        return dict.fromkeys(self._armed.places, why)

    @property
    def absences(self) -> tuple[Absence, ...]:
        """The clients that the fault kept away, and how long; those that it killed for ever."""
        clients = self._armed.clients if self._armed else ()
        until_ns = None if self.killed else self.facts.ended_ns
        taken = (
            Absence(self._stage.numbers[client], self.facts.origin_ns, until_ns)
            for client in clients
        )
        return (*taken, *self._newcomers)

    @property
    def killed(self) -> tuple[str, ...]:
        """The clients that the fault killed, or was to kill."""
        actions = self._armed.actions if self._armed else ()
        return tuple(c for one in actions if isinstance(one, KillClients) for c in one.clients)

    @property
    def resource(self) -> str:
        """Return the resource that its host runs short of; "" for other faults."""
        fault = self._window.fault
        return fault.options.resource if "resource" in KINDS[fault.kind].options else ""

    async def open(self) -> bool:
        """Inject the fault; return False if nothing is active (the facts have the reason)."""
        refusal = await self._get_ready()
        if why := await self._agree(refusal):
            self._stage.active.pop(self._window.number, None)
            self._fail(f"never began: {why}")
            return False
        assert self._armed is not None, "a prepared fault has a target"
        return await self._arm(self._armed)

    async def close(self) -> None:
        """Ends the look, undoes the fault; returns when the undo has returned."""
        armed = self._armed
        if armed is None:
            return  # it got no further than asking who holds what
        if self._is_short and self._look is not None and not self._look.done():
            await self._break_off(self._look)
        else:
            await self._end_look()
            with suppress(RunInterrupted):
                await self._stage.interrupt.unless(self._see_promotion())
        await self._end_rhythm()
        if not armed.returns:
            self.facts = replace(self.facts, ended_ns=None)
            for client in self.killed:
                self._stage.roles_of_worker.pop(client)  # later faults cannot mean it
            return
        try:
            receipt = await perform_all(self._stage.executor_of(armed, undo=True), armed.undo)
            receipt = await self._replace_clients(armed, receipt)
        except (FaultError, DeployError, WorkerLost) as failure:
            self._stage.record.fault(
                armed, "undo_returned", time.monotonic_ns(), False, str(failure)
            )
            self._fail(f"the undo failed: {failure}")
            return
        self._stage.journal.undone(armed)
        self._note(armed, "undo_issued", "undo_returned", receipt)
        self.facts = replace(self.facts, ended_ns=receipt.returned_ns - self._stage.origin_ns)
        if self._broken_off:
            self._judge_by_counters(armed, receipt)

    async def _replace_clients(self, armed: Armed, receipt: Receipt) -> Receipt:
        """What no executor can do: the receipt lasts until the new clients work."""
        for action in armed.undo:
            if isinstance(action, ReplaceClients):
                found = await asyncio.gather(*map(self._replace_client, action.clients))
                self._newcomers += [absence for absence in found if absence is not None]
                receipt = Receipt(receipt.issued_ns, time.monotonic_ns())
        return receipt

    async def leave(self) -> None:
        """Waits until the fault is seen to be gone, at most GONE_LIMIT_S."""
        armed = self._armed
        assert armed is not None, "only what was opened is left"
        seen = await self._stage.interrupt.look(self._see_gone(armed))
        if seen is None and not self.facts.gone:
            self._fail("not verified ended: an interrupt ended the verification")

    async def _see_gone(self, armed: Armed) -> bool:
        """Whether there is nothing to be said against it."""
        if not armed.returns:
            self.facts = replace(self.facts, gone=True)  # it was never meant to go
            if self._stage.plan.schedule.steps:  # an operator may bring it back
                self._stage.active.pop(armed.window, None)
        elif self.facts.ended_ns is not None:
            witness = self._stage.cluster.witness
            proof = await self._prove(
                armed, "gone", lambda: gone(self._seen(armed), witness, self._gone_limit_s())
            )
            self.facts = replace(self.facts, gone=proof.ok)
            if proof.ok:
                self._stage.active.pop(armed.window, None)
                self.facts = replace(self.facts, over_ns=self._over_ns())
            else:
                self._fail(f"not verified ended: {proof.doubt}")
        await self._stage.cluster.witness.dismiss(armed)
        return self.facts.gone

    async def _get_ready(self) -> str:
        """Aims, and opens what the fault is to be seen by; why that cannot be, or ""."""
        stage = self._stage
        try:
            await stage.interrupt.unless(stage.participant.meet(f"window {self._window.number}"))
            armed = await stage.interrupt.unless(self._resolve())
            take(stage, armed)
            self._armed = armed
        except (NoSuchTarget, FaultError, DeployError, TimeoutError, RunInterrupted) as failure:
            return str(failure) or "the brokers did not report which hosts have the queues"
        try:
            await stage.interrupt.unless(prepare(self._seen(armed), stage.cluster.witness))
        except (FaultError, RunInterrupted) as failure:
            return f"verification could not be prepared: {failure}"
        return ""

    async def _agree(self, refusal: str) -> str:
        """Why this window opens in none of the runs that are played together, or not in this one;
        "" where it opens."""
        stage = self._stage
        proposal = TargetProposal(self.resolved, refusal)
        try:
            why = await stage.interrupt.unless(
                stage.participant.agree(self._window.number, proposal)
            )
        except RunInterrupted:
            return refusal or "interrupted"
        if why and not refusal and self._armed is not None:
            with suppress(FaultError):
                await stage.cluster.witness.dismiss(self._armed)
        return why or ("interrupted" if stage.interrupt.is_set() else "")

    async def _resolve(self) -> Armed:
        stage, fault = self._stage, self._window.fault
        roles = await roles_before(stage, fault)
        self.target = replace(self.target, roles=roles)
        armed = await resolve_fault(stage, self._window, roles)
        self.target = replace(self.target, resolved=armed.resolved, role=armed.role)
        return armed

    async def _arm(self, armed: Armed) -> bool:
        stage = self._stage
        stage.journal.armed(armed)
        self._begun = True
        try:
            receipt = await perform_all(stage.executor_of(armed, undo=False), armed.actions)
        except FaultError as failure:
            # It may have taken effect all the same: the window goes on, to undo it.
            now_ns = time.monotonic_ns()
            stage.record.fault(armed, "returned", now_ns, False, str(failure))
            self._fail(f"the action failed: {failure}")
            return True
        self._note(armed, "issued", "returned", receipt)
        self.facts = replace(
            self.facts,
            origin_ns=receipt.issued_ns - stage.origin_ns,
            returned_ns=receipt.returned_ns - stage.origin_ns,
            unverified_reason="not verified active",
        )
        self._rhythm = Rhythm(stage.executor, armed, receipt, self._note_change)
        # A look that outlasts its window would see the undo, or keep the fault standing.
        limit_s = min(held_limit_s(armed), self._window.lasts_s)
        witness = stage.cluster.witness
        look = self._prove(armed, "verified", lambda: held(self._seen(armed), witness, limit_s))
        self._look = asyncio.create_task(look)
        return True

    def _seen(self, armed: Armed) -> Armed:
        return to_look_at(armed, self._stage.active, self._stage.plan.layout.detection_timeout_s)

    def _gone_limit_s(self) -> float:
        """Other active faults may hide for as long as they last that this one has ended."""
        others = self._stage.active.keys() - {self._window.number}
        windows = self._stage.plan.schedule.windows
        lasting = [each.lasts_s for each in windows if each.number in others]
        return GONE_LIMIT_S + max(lasting, default=0.0)

    async def _see_promotion(self) -> None:
        """Who took over while the fault stood, where a master was its target."""
        try:
            after = await self._stage.roles()
        except (DeployError, TimeoutError):
            return  # brokers that cannot say leave it unknown
        self.promoted_rank = self.target.promoted_by(after)

    async def _end_look(self) -> None:
        if self._look is None:
            return
        try:
            # A look that is still out when the window closes has shown nothing.
            async with asyncio.timeout(LOOK_LIMIT_S):
                proof = await self._stage.interrupt.unless(self._look)
        except TimeoutError:
            proof = Proof(False, "", "the check did not end before the fault")
        except RunInterrupted:
            proof = Proof(False, "", "an interrupt ended the check")
        doubt = "" if proof.ok else f"not verified active: {proof.doubt}"
        self.facts = replace(self.facts, verified=proof.ok, unverified_reason=doubt)

    @property
    def _is_short(self) -> bool:
        """Whether the window is over before a look at its fault can be."""
        return self._window.lasts_s < shortest_s(self._window.fault.kind)

    async def _break_off(self, look: "asyncio.Task[Proof]") -> None:
        """A fault ends when it should, whether it was verified or not."""
        self._broken_off = True
        look.cancel()
        with suppress(asyncio.CancelledError, FaultError):
            await look

    def _judge_by_counters(self, armed: Armed, receipt: Receipt) -> None:
        lasted_s = (receipt.returned_ns - self._stage.origin_ns - self.facts.origin_ns) / 1e9
        proof = counted(armed, receipt, lasted_s)
        self._stage.record.proof(armed, "verified", receipt.issued_ns, receipt.returned_ns, proof)
        detail = proof.doubt or proof.detail
        self._stage.record.fault(armed, "verified", receipt.returned_ns, proof.ok, detail)
        if not proof.ok:
            self._fail(f"not verified active: {proof.doubt}")
        elif self.facts.unverified_reason == "not verified active":
            self.facts = replace(self.facts, verified=True, unverified_reason="")

    def _over_ns(self) -> int:
        gone_ns = time.monotonic_ns() - self._stage.origin_ns
        detection_timeout_s = self._stage.plan.layout.detection_timeout_s
        return takeover_over_ns(
            KINDS[self._window.fault.kind], self.facts.returned_ns, gone_ns, detection_timeout_s
        )

    async def _end_rhythm(self) -> None:
        """A rhythm that was not the one that was meant is not verified."""
        if self._rhythm is None:
            return
        await self._rhythm.end()
        if self._rhythm.doubt:
            self.facts = replace(self.facts, verified=False)
            self._fail(self._rhythm.doubt)

    async def _prove(self, armed: Armed, event: str, look: Look) -> Proof:
        started_ns = time.monotonic_ns()
        try:
            proof = await self._stage.looked(armed, event, look)
        except FaultError as failure:
            proof = Proof(False, "", str(failure))
        ended_ns = time.monotonic_ns()
        self._stage.record.proof(armed, event, started_ns, ended_ns, proof)
        self._stage.record.fault(armed, event, ended_ns, proof.ok, proof.doubt or proof.detail)
        return proof

    def _note(self, armed: Armed, issued: str, returned: str, receipt: Receipt) -> None:
        self._stage.record.fault(armed, issued, receipt.issued_ns, True)
        self._stage.record.fault(armed, returned, receipt.returned_ns, True)

    def _note_change(self, change: Change) -> None:
        """Changes that come and go with the window's own first and last."""
        assert self._armed is not None, "only what is armed has a rhythm"
        event, took_s = "down" if change.down else "up", change.late_s
        detail = f"number {change.number}, {took_s:.3f} s after its time, for {change.lasts_s:g} s"
        at_ns = change.receipt.issued_ns
        self._stage.record.fault(self._armed, event, at_ns, change.in_time, detail)

    def _fail(self, doubt: str) -> None:
        old = self.facts.unverified_reason
        keep = old if old not in ("", "not begun", "not verified active") else ""
        self.facts = replace(
            self.facts, unverified_reason="; ".join(part for part in (keep, doubt) if part)
        )
