"""Looks at processes: killed, stopped, frozen, and back again.

Of several places each is looked at, and all of them have to show it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import reduce

from faults.model import Armed, Proof, Witness
from faults.verify import processes as rules
from faults.verify.replies import both


@dataclass(slots=True)
class KillLook:
    armed: Armed
    witness: Witness

    async def held(self) -> Proof:
        return await self._each(self._held)

    async def gone(self) -> Proof:
        return await self._each(self._gone)

    async def _held(self, place: str) -> Proof:
        return rules.kill_held(await self.witness.process(place))

    async def _gone(self, place: str) -> Proof:
        state = await self.witness.process(place)
        serves = await self.witness.serves(place) if state.running else None
        return rules.kill_gone(state, serves)

    async def _each(self, look: Callable[[str], Awaitable[Proof]]) -> Proof:
        return reduce(both, await asyncio.gather(*map(look, self.armed.places)))


class StopLook(KillLook):
    async def _held(self, place: str) -> Proof:
        return rules.stop_held(await self.witness.process(place))


class FreezeLook(KillLook):
    async def _held(self, place: str) -> Proof:
        state = await self.witness.process(place)
        greets = await self.witness.greets(place) if state.frozen else None
        return rules.freeze_held(state, greets)

    async def _gone(self, place: str) -> Proof:
        state = await self.witness.process(place)
        runs_on = state.running and not state.frozen
        greets = await self.witness.greets(place) if runs_on else None
        return rules.freeze_gone(state, greets)
