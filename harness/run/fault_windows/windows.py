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

from faults.actions import ReplaceClients
from faults.kind import ArmedFault
from faults.model import Armed, FaultError, Proof, Receipt
from faults.performing import perform_all
from harness.cluster.port import DeployError
from harness.plan.model import Window
from harness.run.core.barrier import TargetProposal
from harness.run.core.resolving import NoSuchTarget
from harness.run.fault_windows.aiming import resolve_fault, roles_before, take
from harness.run.fault_windows.resolved_target import takeover_over_ns
from harness.run.fault_windows.verifying import FaultVerification
from harness.run.fault_windows.window_state import NOT_VERIFIED, WindowState
from harness.run.interrupts import RunInterrupted
from harness.run.stage import Stage
from harness.run.worker_handles import WorkerLost
from spark_analysis.schema.facts import Absence


class LiveWindow:
    """One window. `state` always says what is known up to now.

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
        self._verification: FaultVerification | None = None  # of what is armed
        now_ns = time.monotonic_ns() - stage.origin_ns
        self.state = WindowState(window, stage.servers, stage.numbers, now_ns)

    @property
    def look(self) -> "asyncio.Task[Proof] | None":
        """Return the verification that it is active; None if no action was carried out."""
        return self._verification.look if self._verification else None

    async def open(self) -> bool:
        """Arm the fault. Return False if nothing is in force (the facts say why)."""
        refusal = await self._get_ready()
        if why := await self._agree(refusal):
            self._stage.active.pop(self._window.number, None)
            self.state.fail(f"never began: {why}")
            return False
        assert self._verification is not None, "a prepared fault has a target"
        await self._arm(self._verification)
        return True

    async def close(self) -> None:
        """End the look and undo the fault. Return when the undo has returned."""
        state, stage, verification = self.state, self._stage, self._verification
        if verification is None:
            return  # it got no further than asking who holds what
        armed = verification.armed
        await self._end_look(verification)
        if not armed.returns:
            state.facts = replace(state.facts, ended_ns=None)
            for client in state.killed:
                stage.roles_of_worker.pop(client)  # later faults cannot mean it
            return
        try:
            receipt = await perform_all(stage.executor_of(armed, undo=True), armed.undo)
            receipt = await self._replace_clients(armed, receipt)
        except (FaultError, DeployError, WorkerLost) as failure:
            now_ns = time.monotonic_ns()
            stage.record.fault(armed, "undo_returned", now_ns, False, str(failure))
            state.fail(f"the undo failed: {failure}")
            return
        stage.journal.undone(armed)
        stage.record.returned(armed, "undo_issued", "undo_returned", receipt)
        ended_ns = receipt.returned_ns - stage.origin_ns
        state.facts = replace(state.facts, ended_ns=ended_ns)
        if verification.broken_off:
            lasted_s = (ended_ns - state.facts.origin_ns) / 1e9
            self._judge_by_counters(verification.by_counters(receipt, lasted_s))

    async def leave(self) -> None:
        """Wait until the fault is seen to be gone, at most GONE_LIMIT_S."""
        assert self._verification is not None, "only what was opened is left"
        seen = await self._stage.interrupt.look(self._see_gone(self._verification))
        if seen is None and not self.state.facts.gone:
            self.state.fail("not verified ended: an interrupt ended the verification")

    async def _get_ready(self) -> str:
        """Aim, and open what the fault is to be seen by. Return why that cannot be, or ""."""
        stage, state = self._stage, self.state
        try:
            await stage.interrupt.unless(stage.participant.meet(f"window {self._window.number}"))
            armed = await stage.interrupt.unless(self._resolve())
            take(stage, armed)
        except (NoSuchTarget, FaultError, DeployError, TimeoutError, RunInterrupted) as failure:
            return str(failure) or "the brokers did not report which hosts have the queues"
        state.armed = armed
        self._verification = FaultVerification(stage, self._window, armed)
        try:
            await self._verification.prepare()
        except (FaultError, RunInterrupted) as failure:
            return f"verification could not be prepared: {failure}"
        return ""

    async def _resolve(self) -> ArmedFault:
        stage, state = self._stage, self.state
        roles = await roles_before(stage, self._window.fault)
        state.target = replace(state.target, roles=roles)
        armed = await resolve_fault(stage, self._window, roles)
        state.target = replace(state.target, places=armed.places, role=armed.role)
        return armed

    async def _agree(self, refusal: str) -> str:
        """Return why this window opens in none of the runs that are played together, or not in
        this one; "" if it opens."""
        stage, state = self._stage, self.state
        proposal = TargetProposal(state.resolved, refusal)
        try:
            why = await stage.interrupt.unless(
                stage.participant.agree(self._window.number, proposal)
            )
        except RunInterrupted:
            return refusal or "interrupted"
        if why and not refusal and state.armed is not None:
            with suppress(FaultError):
                await stage.cluster.witness.dismiss(state.armed)
        return why or ("interrupted" if stage.interrupt.is_set() else "")

    async def _arm(self, verification: FaultVerification) -> None:
        stage, state, armed = self._stage, self.state, verification.armed
        stage.journal.armed(armed)
        state.begun = True
        try:
            receipt = await perform_all(stage.executor_of(armed, undo=False), armed.actions)
        except FaultError as failure:
            # It may have taken effect all the same: the window goes on, to undo it.
            now_ns = time.monotonic_ns()
            stage.record.fault(armed, "returned", now_ns, False, str(failure))
            state.fail(f"the action failed: {failure}")
            return
        stage.record.returned(armed, "issued", "returned", receipt)
        state.facts = replace(
            state.facts,
            origin_ns=receipt.issued_ns - stage.origin_ns,
            returned_ns=receipt.returned_ns - stage.origin_ns,
            unverified_reason=NOT_VERIFIED,
        )
        verification.begin(receipt)

    async def _end_look(self, verification: FaultVerification) -> None:
        state, proof = self.state, await verification.end()
        if proof is not None:
            doubt = "" if proof.ok else f"{NOT_VERIFIED}: {proof.doubt}"
            state.facts = replace(state.facts, verified=proof.ok, unverified_reason=doubt)
        if not verification.broken_off:
            with suppress(RunInterrupted):
                await self._stage.interrupt.unless(self._see_promotion())
        if doubt := await verification.end_rhythm():
            state.facts = replace(state.facts, verified=False)
            state.fail(doubt)

    async def _see_promotion(self) -> None:
        """See who took over while the fault was active, if a master was its target."""
        try:
            after = await self._stage.roles()
        except (DeployError, TimeoutError):
            return  # brokers that cannot say leave it unknown
        self.state.promoted_rank = self.state.target.promoted_by(after)

    async def _replace_clients(self, armed: Armed, receipt: Receipt) -> Receipt:
        """Do what no executor can do: the receipt lasts until the new clients work."""
        for action in armed.undo:
            if isinstance(action, ReplaceClients):
                found = await asyncio.gather(*map(self._replace_client, action.clients))
                self.state.newcomers += [absence for absence in found if absence is not None]
                receipt = Receipt(receipt.issued_ns, time.monotonic_ns())
        return receipt

    def _judge_by_counters(self, proof: Proof) -> None:
        state = self.state
        if not proof.ok:
            state.fail(f"{NOT_VERIFIED}: {proof.doubt}")
        elif state.facts.unverified_reason == NOT_VERIFIED:
            state.facts = replace(state.facts, verified=True, unverified_reason="")

    async def _see_gone(self, verification: FaultVerification) -> bool:
        """Return whether there is nothing to be said against it."""
        stage, state, armed = self._stage, self.state, verification.armed
        if not armed.returns:
            state.facts = replace(state.facts, gone=True)  # it was never meant to go
            if stage.plan.schedule.steps:  # an operator may bring it back
                stage.active.pop(armed.window, None)
        elif state.facts.ended_ns is not None:
            proof = await verification.ended()
            state.facts = replace(state.facts, gone=proof.ok)
            if proof.ok:
                stage.active.pop(armed.window, None)
                state.facts = replace(state.facts, over_ns=self._over_ns())
            else:
                state.fail(f"not verified ended: {proof.doubt}")
        await stage.cluster.witness.dismiss(armed)
        return state.facts.gone

    def _over_ns(self) -> int:
        gone_ns = time.monotonic_ns() - self._stage.origin_ns
        timeout_s = self._stage.plan.layout.detection_timeout_s
        kind = self._window.fault.kind
        return takeover_over_ns(kind, self.state.facts.returned_ns, gone_ns, timeout_s)
