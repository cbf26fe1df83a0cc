"""Carries actions out on a cluster that is not ours: its owner's commands, our proxy and clients.

1. What happens to a host, its owner's commands do, and undo.
2. Links are broken at the proxy's listeners that were made for a run, clients as on any machine of
   ours; what cannot be had so is an error.
3. A proxy of ours that is gone has taken what was on it with it; of one that was there already, an
   undo that fails has failed.
"""

from faults.core.actions import (
    Action,
    AddToxic,
    ClearAlarm,
    ClearImpairment,
    Cut,
    Disable,
    DoCommand,
    Enable,
    Freeze,
    Impair,
    Isolate,
    Join,
    Kill,
    RaiseAlarm,
    Rejoin,
    RemoveToxic,
    Say,
    Start,
    Stop,
    Thaw,
    UndoCommand,
)
from faults.core.commands import DO, UNDO
from faults.core.mechanisms import EXTERNAL
from faults.core.model import FaultError, Receipt
from faults.executors.commands import Commands
from faults.executors.local import LocalExecutor
from faults.executors.ports import Agent, AgentCalls, Failures
from faults.executors.toxics import Toxics
from faults.kinds import KINDS


class ExternalExecutor:
    """The executor of one cluster. `own_proxy`: whether the proxy is a process of ours."""

    def __init__(
        self,
        cluster: str,
        commands: Commands,
        agent: AgentCalls,
        spare: AgentCalls,
        failures: Failures = (),
        own_proxy: bool = True,
    ) -> None:
        self._commands = commands
        self._here = LocalExecutor(cluster, _no_start, _no_address, agent, spare, failures)
        self._toxics = Toxics(Agent(agent, failures), Agent(spare, failures))
        self._own_proxy = own_proxy

    async def perform(self, action: Action) -> Receipt:
        match action:
            case Kill(host=host):
                return await self._commands.act(host, "kill", DO)
            case Stop(host=host):
                return await self._commands.act(host, "stop", DO)
            case Freeze(host=host):
                return await self._commands.act(host, "freeze", DO)
            case Start(host=host, after=kind):
                return await self._commands.act(host, kind, UNDO)
            case Thaw(host=host):
                return await self._commands.act(host, "freeze", UNDO)
            case DoCommand(host=host, kind=kind):
                return await self._commands.act(host, kind, DO)
            case UndoCommand(host=host, kind=kind):
                return await self._commands.act(host, kind, UNDO)
            case Cut() | Join() | Isolate() | Rejoin() | RaiseAlarm() | ClearAlarm() | Say():
                raise FaultError(f"{action}: not on a cluster that is not ours")
            case Impair() | ClearImpairment():
                raise FaultError(f"{action}: not on a cluster that is not ours")
            case AddToxic() | Disable() if not self._own_proxy:
                return await self._toxics.do(action)
            case RemoveToxic() | Enable() if not self._own_proxy:
                return await self._toxics.undo(action)
        return await self._here.perform(action)

    def mechanism(self, kind: str) -> str:
        return KINDS[kind].offers[EXTERNAL]


def _no_start(host: str) -> None:
    raise AssertionError(f"{host} is started by its owner's command")


def _no_address(host: str) -> tuple[str, int]:
    raise AssertionError(f"nothing here asks for the address of {host}")
