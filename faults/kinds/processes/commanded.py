"""Looks at hosts that are not ours: what their owner's command says, and who answers outside."""

from dataclasses import dataclass

from faults.core.model import Armed, FaultError, Proof, Reply, VerifyResult
from faults.core.witness import SeesCommands
from faults.kinds.processes import commanded_rules as rules
from faults.polling import gather


@dataclass(slots=True)
class CommandedKill:
    """Of a stop, too."""

    armed: Armed
    witness: SeesCommands

    async def ready(self) -> None:
        proof = rules.may_begin(*await self._result_and_greeting())
        if not proof.ok:
            raise FaultError(proof.doubt)

    async def held(self) -> Proof:
        return rules.kill_held(*await self._result_and_greeting())

    async def gone(self) -> Proof:
        return rules.kill_gone(*await self._result_and_greeting())

    async def _result_and_greeting(self) -> tuple[VerifyResult | None, Reply]:
        return await gather(
            self.witness.verify_result(self.armed), self.witness.greets(self.armed.host)
        )


class CommandedFreeze(CommandedKill):
    async def held(self) -> Proof:
        return rules.freeze_held(*await self._result_and_greeting())

    async def gone(self) -> Proof:
        return rules.freeze_gone(*await self._result_and_greeting())
