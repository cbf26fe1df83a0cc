"""The verification of one armed fault: that it is active, and that it ended.

1. A look at an active fault ends with its window. One that outlasted it would see the undo, or
   keep the fault active.
2. If the window is shorter than a look, counters decide after the undo.
3. A supervisor may end a fault before its undo. So one more look, just before the undo, shows
   whether it lasted.
4. What was seen, and when, goes on record as it happens. The verdict is a Proof.
"""

import asyncio
import time
from contextlib import suppress
from functools import partial

from faults.core.kind import ArmedFault
from faults.core.model import FaultError, Proof, Receipt
from faults.rhythm import Change, Rhythm
from faults.verification import (
    counted,
    gone,
    held,
    held_limit_s,
    lasted,
    prepare,
    shortest_s,
)
from harness.plan.model import Window
from harness.run.core.progress import GONE_LIMIT_S
from harness.run.fault_windows.aiming import to_look_at
from harness.run.interrupts import RunInterrupted
from harness.run.run_group import Look
from harness.run.stage import LOOK_LIMIT_S, Stage


class FaultVerification:
    """The looks at one fault. `look`: at the active fault; None: no action was carried out.
    `broken_off`: the window was over before that look could be. `ended_early`: it was active, and
    not until its undo."""

    def __init__(self, stage: Stage, window: Window, armed: ArmedFault) -> None:
        self._stage = stage
        self._window = window
        self.armed = armed
        self._rhythm: Rhythm | None = None
        self.look: asyncio.Task[Proof] | None = None
        self.broken_off = False
        self.ended_early = False
        self._shown: Proof | None = None  # by the looks at the active fault, when its undo came

    async def prepare(self) -> None:
        """Open what the fault is to be seen by. Raise FaultError, RunInterrupted."""
        witness = self._stage.cluster.witness
        await self._stage.interrupt.unless(prepare(self._seen(), witness))

    def begin(self, receipt: Receipt) -> None:
        """Look at the fault from now on. `receipt`: of its actions."""
        self._rhythm = Rhythm(self._stage.executor, self.armed, receipt, self._note_change)
        limit_s = min(held_limit_s(self.armed), self._window.lasts_s)
        witness = self._stage.cluster.witness
        look = self._prove("verified", lambda: held(self._seen(), witness, limit_s))
        self.look = asyncio.create_task(look)

    async def end(self) -> Proof | None:
        """End the look with its window. None: there was none, or it is broken off."""
        if self._shown is None:  # a second undo changes nothing that was seen before the first
            self._shown = await self._end()
        return self._shown

    async def _end(self) -> Proof | None:
        if self.look is None or self.broken_off:
            return None
        if self._window.lasts_s < shortest_s(self.armed.declared) and not self.look.done():
            self.broken_off = True  # a fault ends when it should, whether it was verified or not
            self.look.cancel()
            with suppress(asyncio.CancelledError, FaultError):
                await self.look
            return None
        try:
            # A look that is still out when the window closes has shown nothing.
            async with asyncio.timeout(LOOK_LIMIT_S):
                proof = await self._stage.interrupt.unless(self.look)
                return await self._stage.interrupt.unless(self._lasted(proof))
        except TimeoutError:
            return Proof(False, "", "the check did not end before the fault")
        except RunInterrupted:
            return Proof(False, "", "an interrupt ended the check")

    async def _lasted(self, held: Proof) -> Proof:
        """Return the proof that the fault was active, if it is so until its undo."""
        by_operator = not self.armed.returns and bool(self._stage.plan.schedule.steps)
        if not held.ok or by_operator:
            return held
        started_ns, witness = time.monotonic_ns(), self._stage.cluster.witness
        look = partial(lasted, self._seen(), witness)
        proof = await self._stage.looked(self.armed, "lasted", look)
        if proof.ok:
            return held
        self.ended_early = True
        early = Proof(False, "", f"it was verified active, but just before its undo {proof.doubt}")
        ended_ns = time.monotonic_ns()
        self._stage.record.proof(self.armed, "verified", started_ns, ended_ns, early)
        self._note("verified", ended_ns, early)
        return early

    async def end_rhythm(self) -> str:
        """Return why its rhythm was not the one that was meant; "" if it was, or has none."""
        if self._rhythm is None:
            return ""
        await self._rhythm.end()
        return self._rhythm.doubt

    def by_counters(self, receipt: Receipt, lasted_s: float) -> Proof:
        """Return whether a fault that no look saw took effect. `receipt`: of its undo."""
        proof, record = counted(self.armed, receipt, lasted_s), self._stage.record
        record.proof(self.armed, "verified", receipt.issued_ns, receipt.returned_ns, proof)
        self._note("verified", receipt.returned_ns, proof)
        return proof

    async def ended(self) -> Proof:
        """Wait until the fault is seen to be gone."""
        witness = self._stage.cluster.witness
        return await self._prove("gone", lambda: gone(self._seen(), witness, self._gone_limit_s()))

    def _seen(self) -> ArmedFault:
        timeout_s = self._stage.plan.layout.detection_timeout_s
        return to_look_at(self.armed, self._stage.active, timeout_s)

    def _gone_limit_s(self) -> float:
        """Other active faults may hide for as long as they last that this one has ended."""
        others = self._stage.active.keys() - {self._window.number}
        windows = self._stage.plan.schedule.windows
        lasting = [each.lasts_s for each in windows if each.number in others]
        return GONE_LIMIT_S + max(lasting, default=0.0)

    async def _prove(self, event: str, look: Look) -> Proof:
        started_ns = time.monotonic_ns()
        try:
            proof = await self._stage.looked(self.armed, event, look)
        except FaultError as failure:
            proof = Proof(False, "", str(failure))
        ended_ns = time.monotonic_ns()
        self._stage.record.proof(self.armed, event, started_ns, ended_ns, proof)
        self._note(event, ended_ns, proof)
        return proof

    def _note(self, event: str, at_ns: int, proof: Proof) -> None:
        detail = proof.doubt or proof.detail
        self._stage.record.fault(self.armed, event, at_ns, proof.ok, detail)

    def _note_change(self, change: Change) -> None:
        """Note a change that is not the window's own first or last."""
        event, took_s = "down" if change.down else "up", change.late_s
        detail = f"number {change.number}, {took_s:.3f} s after its time, for {change.lasts_s:g} s"
        at_ns = change.receipt.issued_ns
        self._stage.record.fault(self.armed, event, at_ns, change.in_time, detail)
