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
from dataclasses import replace

from faults.core.actions import ReplaceClients
from faults.core.model import Armed, FaultError, Proof, Receipt
from faults.performing import perform_all
from harness.cluster.port import DeployError
from harness.plan.model import Window
from harness.run.core.window_state import NOT_VERIFIED, WindowState
from harness.run.fault_windows.verifying import FaultVerification
from harness.run.fault_windows.window_opening import WindowOpening
from harness.run.fault_windows.window_outcome import WindowOutcome
from harness.run.stage import Stage
from harness.run.worker_handles import WorkerLost
from spark_analysis.schema.facts import Absence


class LiveWindow:
    """The fault of one window: armed and undone. `state` always says what is known up to now.

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
        self._replace_client = replace_client
        now_ns = stage.run_ns(time.monotonic_ns())
        self.state = WindowState(window, stage.servers, stage.numbers, now_ns)
        self._opening = WindowOpening(stage, self.state)
        self._outcome = WindowOutcome(stage, self.state)

    @property
    def look(self) -> "asyncio.Task[Proof] | None":
        """Return the verification that it is active; None if no action was carried out."""
        verification = self._opening.verification
        return verification.look if verification else None

    async def open(self) -> bool:
        """Arm the fault. Return False if nothing is in force (the facts say why)."""
        if why := await self._opening.refusal():
            self._stage.active.pop(self.state.window.number, None)
            self.state.refusal = why.text
            self.state.fail(f"never began: {why.text}", why.cause)
            return False
        assert self._opening.verification is not None, "a prepared fault has a target"
        await self._arm(self._opening.verification)
        return True

    async def close(self) -> None:
        """End the look and undo the fault. Return when the undo has returned. It may be repeated:
        a run that fails undoes each fault that it does not know to be over."""
        state, verification = self.state, self._opening.verification
        if verification is None:
            return  # it got no further than asking who holds what
        await self._outcome.end_look(verification)
        if not verification.armed.returns:
            state.facts = replace(state.facts, ended_ns=None)
            for client in state.killed:
                self._stage.roles_of_worker.pop(client, None)  # later faults cannot mean it
            return
        receipt = await self._undo(verification.armed)
        if receipt is not None and verification.broken_off:
            self._outcome.judge_by_counters(verification, receipt)

    async def leave(self) -> None:
        """Wait until the fault is seen to be gone, at most GONE_LIMIT_S."""
        assert self._opening.verification is not None, "only what was opened is left"
        look = self._outcome.see_gone(self._opening.verification)
        seen = await self._stage.interrupt.look(look)
        if seen is None and not self.state.facts.gone:
            self.state.fail("not verified ended: an interrupt ended the verification")

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
            origin_ns=stage.run_ns(receipt.issued_ns),
            returned_ns=stage.run_ns(receipt.returned_ns),
            unverified_reason=NOT_VERIFIED,
        )
        verification.begin(receipt)

    async def _undo(self, armed: Armed) -> Receipt | None:
        """Return the receipt of the undo; None if it failed (the facts say why)."""
        state, stage = self.state, self._stage
        try:
            receipt = await perform_all(stage.executor_of(armed, undo=True), armed.undo)
            receipt = await self._replace_clients(armed, receipt)
        except (FaultError, DeployError, WorkerLost) as failure:
            now_ns = time.monotonic_ns()
            stage.record.fault(armed, "undo_returned", now_ns, False, str(failure))
            state.fail(f"the undo failed: {failure}")
            return None
        stage.journal.undone(armed)
        stage.record.returned(armed, "undo_issued", "undo_returned", receipt)
        state.facts = replace(state.facts, ended_ns=stage.run_ns(receipt.returned_ns))
        return receipt

    async def _replace_clients(self, armed: Armed, receipt: Receipt) -> Receipt:
        """Do what no executor can do: the receipt lasts until the new clients work. Raise the
        first failure when each one works, or has failed."""
        for action in armed.undo:
            if isinstance(action, ReplaceClients):
                work = map(self._start_successor, action.clients)
                for ended in await asyncio.gather(*work, return_exceptions=True):
                    if isinstance(ended, BaseException):
                        raise ended
                receipt = Receipt(receipt.issued_ns, time.monotonic_ns())
        return receipt

    async def _start_successor(self, client: str) -> None:
        absence = await self._replace_client(client)
        if absence is not None:  # on record at once, whatever becomes of the others
            self.state.newcomers.append(absence)
