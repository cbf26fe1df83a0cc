"""Faults of the network of hosts that are not ours, by their owner's commands."""

from dataclasses import dataclass

from faults.core.actions import DoCommand, UndoCommand
from faults.core.kind import Compiled, ResolvedFault
from faults.core.model import Proof, Reply, VerifyResult
from faults.kinds.network import commanded_rules as rules
from faults.kinds.processes.commanded import CommandedFreeze, CommandedKill
from faults.polling import gather


def commanded(fault: ResolvedFault, kind: str) -> Compiled:
    """One command and its undo, whatever packet filter or power switch they use."""
    return Compiled((DoCommand(fault.host, kind),), (UndoCommand(fault.host, kind),))


@dataclass(slots=True)
class _SeesOthers(CommandedFreeze):
    """A fault of one host's network: what silences the others, too, is another fault.

    It has ended as a freeze has: by the command's word, and something comes through.
    """

    async def _evidence(self) -> tuple[VerifyResult | None, Reply, dict[str, Reply]]:
        (result, greeting), others = await gather(self._result_and_greeting(), self._others())
        return result, greeting, others

    async def _others(self) -> dict[str, Reply]:
        mute = {self.armed.host, *self.armed.meanwhile().mute}
        hosts = [host for host in self.armed.hosts if host not in mute]
        replies = await gather(*map(self.witness.greets, hosts))
        return dict(zip(hosts, replies, strict=True))


class CommandedPartition(_SeesOthers):
    async def held(self) -> Proof:
        return rules.partition_held(*await self._evidence())


class CommandedBlackHole(_SeesOthers):
    async def held(self) -> Proof:
        return rules.black_hole_held(*await self._evidence())


class CommandedReboot(CommandedKill):
    """It has ended as a kill has: what was started again answers."""

    async def held(self) -> Proof:
        return rules.reboot_held(*await self._result_and_greeting())
