"""Looks at the processes of a host: killed, stopped, frozen, and back again."""

from dataclasses import dataclass

from faults.model import Armed, Proof, Witness
from faults.verify import processes as rules


@dataclass(slots=True)
class KillLook:
    armed: Armed
    witness: Witness

    async def held(self) -> Proof:
        return rules.kill_held(await self.witness.process(self.armed.resolved))

    async def gone(self) -> Proof:
        host = self.armed.resolved
        state = await self.witness.process(host)
        serves = await self.witness.serves(host) if state.running else None
        return rules.kill_gone(state, serves)


class StopLook(KillLook):
    async def held(self) -> Proof:
        return rules.stop_held(await self.witness.process(self.armed.resolved))


@dataclass(slots=True)
class FreezeLook:
    armed: Armed
    witness: Witness

    async def held(self) -> Proof:
        host = self.armed.resolved
        state = await self.witness.process(host)
        greets = await self.witness.greets(host) if state.frozen else None
        return rules.freeze_held(state, greets)

    async def gone(self) -> Proof:
        host = self.armed.resolved
        state = await self.witness.process(host)
        runs_on = state.running and not state.frozen
        greets = await self.witness.greets(host) if runs_on else None
        return rules.freeze_gone(state, greets)
