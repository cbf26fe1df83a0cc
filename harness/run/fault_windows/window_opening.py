"""What comes before the first action of a window: its target, what sees it, and the agreement.

1. Nothing is in force yet. A window that does not open says why.
2. Of runs that are played together a window opens in all or in none (run_group.py).
"""

from contextlib import suppress
from dataclasses import replace

from faults.core.kind import ArmedFault
from faults.core.model import FaultError
from harness.cluster.port import DeployError
from harness.run.core.barrier import Refusal, TargetProposal
from harness.run.core.resolving import NoSuchTarget
from harness.run.core.window_state import WindowState
from harness.run.fault_windows.aiming import resolve_fault, roles_before, take
from harness.run.fault_windows.verifying import FaultVerification
from harness.run.interrupts import RunInterrupted
from harness.run.stage import Stage
from spark_analysis.schema.words import UnverifiedCause

_INTERRUPTED = Refusal("interrupted")


class WindowOpening:
    """The opening of one window. `verification`: of the fault that is to be armed, or is; None
    before it has a target."""

    def __init__(self, stage: Stage, state: WindowState) -> None:
        self._stage = stage
        self._state = state
        self.verification: FaultVerification | None = None

    async def refusal(self) -> Refusal | None:
        """Prepare the fault. Return why the window does not open; None if it opens."""
        return await self._agree(await self._get_ready())

    async def _get_ready(self) -> Refusal | None:
        """Aim, and open what the fault is to be seen by. Return why that cannot be, or None."""
        stage, state = self._stage, self._state
        point = f"window {state.window.number}"
        try:
            await stage.interrupt.unless(stage.participant.meet(point))
            armed = await stage.interrupt.unless(self._resolve())
            take(stage, armed)
        except NoSuchTarget as failure:
            return Refusal(str(failure), failure.cause)
        except (FaultError, DeployError, TimeoutError, RunInterrupted) as failure:
            return Refusal(
                str(failure) or "the brokers did not report which hosts have the queues"
            )
        state.armed = armed
        self.verification = FaultVerification(stage, state.window, armed)
        try:
            await self.verification.prepare()
        except (FaultError, RunInterrupted) as failure:
            # For a moment of the cluster or of a busy machine: another target would not help.
            text = f"verification could not be prepared: {failure}"
            return Refusal(text, UnverifiedCause.OTHER)
        return None

    async def _resolve(self) -> ArmedFault:
        stage, state = self._stage, self._state
        roles = await roles_before(stage, state.window.fault)
        state.target = replace(state.target, roles=roles)
        armed = await resolve_fault(stage, state.window, roles)
        state.target = replace(state.target, places=armed.places, role=armed.role)
        return armed

    async def _agree(self, refusal: Refusal | None) -> Refusal | None:
        """Return why this window opens in none of the runs that are played together, or not in
        this one; None if it opens."""
        stage, state = self._stage, self._state
        proposal = TargetProposal(state.resolved, refusal)
        try:
            why = await stage.interrupt.unless(
                stage.participant.agree(state.window.number, proposal)
            )
        except RunInterrupted:
            return refusal or _INTERRUPTED
        if why and not refusal and state.armed is not None:
            with suppress(FaultError):
                await stage.cluster.witness.dismiss(state.armed)
        return why or (_INTERRUPTED if stage.interrupt.is_set() else None)
