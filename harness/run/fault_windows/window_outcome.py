"""What the looks at a window's fault show: verified active, its promotion, verified ended.

1. A fault that was not verified active does not count; one not verified ended is not gone.
2. What the looks show goes into the state of the window.
"""

import time
from contextlib import suppress
from dataclasses import replace

from faults.core.model import FaultError, Receipt
from harness.cluster.port import DeployError
from harness.run.core.resolved_target import takeover_over_ns
from harness.run.core.window_state import NOT_VERIFIED, WindowState
from harness.run.fault_windows.verifying import FaultVerification
from harness.run.interrupts import RunInterrupted
from harness.run.stage import Stage
from spark_analysis.schema.words import UnverifiedCause


class WindowOutcome:
    """The outcome of one window's looks."""

    def __init__(self, stage: Stage, state: WindowState) -> None:
        self._stage = stage
        self._state = state

    async def end_look(self, verification: FaultVerification) -> None:
        """End the look at the active fault, just before its undo."""
        state, proof = self._state, await verification.end()
        if proof is not None:
            doubt = "" if proof.ok else f"{NOT_VERIFIED}: {proof.doubt}"
            state.facts = replace(state.facts, verified=proof.ok, unverified_reason=doubt)
        if verification.ended_early:
            cause = UnverifiedCause.ENDED_EARLY.value
            state.facts = replace(state.facts, unverified_cause=cause)
        if not verification.broken_off:
            with suppress(RunInterrupted):
                await self._stage.interrupt.unless(self._see_promotion())
        if doubt := await verification.end_rhythm():
            state.facts = replace(state.facts, verified=False)
            state.fail(doubt)

    def judge_by_counters(self, verification: FaultVerification, receipt: Receipt) -> None:
        """Verify a fault that was undone before the look at it could end. `receipt`: its undo."""
        state = self._state
        lasted_s = (self._stage.run_ns(receipt.returned_ns) - state.facts.origin_ns) / 1e9
        proof = verification.by_counters(receipt, lasted_s)
        if not proof.ok:
            short = UnverifiedCause.TOO_SHORT if proof.too_short else UnverifiedCause.OTHER
            state.fail(f"{NOT_VERIFIED}: {proof.doubt}", short)
        elif state.facts.unverified_reason == NOT_VERIFIED:
            state.facts = replace(state.facts, verified=True, unverified_reason="")

    async def see_gone(self, verification: FaultVerification) -> bool:
        """Return whether there is nothing to be said against the end of the fault."""
        stage, state, armed = self._stage, self._state, verification.armed
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
        with suppress(FaultError):  # a canary that stays open shows nothing any more
            await stage.cluster.witness.dismiss(armed)
        return state.facts.gone

    async def _see_promotion(self) -> None:
        """See who took over while the fault was active, if a master was its target."""
        try:
            after = await self._stage.record_roles()
        except (DeployError, TimeoutError):
            return  # brokers that cannot say leave it unknown
        self._state.promoted_rank = self._state.target.promoted_by(after)

    def _over_ns(self) -> int:
        stage, facts = self._stage, self._state.facts
        gone_ns = stage.run_ns(time.monotonic_ns())
        timeout_s = stage.plan.layout.detection_timeout_s
        kind = self._state.window.fault.kind
        return takeover_over_ns(kind, facts.returned_ns, gone_ns, timeout_s)
