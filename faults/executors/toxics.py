"""Operations on links, through an agent that calls the proxy: the same under every deployment.

1. The agent does and times them, if it shares this machine's clock (same boot id); if it does not,
   the instants are those around the call to it.
2. What the agent could not undo, a spare one tries again: an undo must not depend on a process
   that may be lost.
"""

import time
from pathlib import Path
from typing import Any

from faults.core.actions import AddToxic, Disable, Enable, RemoveToxic
from faults.core.model import FaultError, Receipt
from faults.executors.ports import Agent

LIMIT_S = 15.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Toxics:
    """`spare`: what is asked when `agent` fails to undo; it may be the same."""

    def __init__(self, agent: Agent, spare: Agent) -> None:
        self._agent = agent
        self._spare = spare
        self._same_clock: bool | None = None

    async def do(self, action: AddToxic | Disable) -> Receipt:
        return await self._ask(self._agent, *_call(action))

    async def undo(self, action: RemoveToxic | Enable | Disable) -> Receipt:
        """Closing links is the beginning of an undo, too (peers.renew)."""
        name, arguments = _call(action)
        try:
            return await self._ask(self._agent, name, arguments)
        except FaultError:
            if self._agent is self._spare:
                raise
        return await self._ask(self._spare, name, arguments)

    async def _ask(self, agent: Agent, name: str, arguments: dict[str, Any]) -> Receipt:
        if self._same_clock is None:
            clock = await agent.call("clock", LIMIT_S)
            self._same_clock = clock["boot_id"] == _BOOT_ID.read_text().strip()
        issued_ns = time.monotonic_ns()
        value = await agent.call(name, LIMIT_S, **arguments)
        if not self._same_clock:
            return Receipt(issued_ns, time.monotonic_ns())
        return Receipt(value["issued_ns"], value["returned_ns"])


def _call(action: AddToxic | RemoveToxic | Disable | Enable) -> tuple[str, dict[str, Any]]:
    """The agent's call that carries an action out, and its arguments."""
    proxies = list(action.proxies)
    match action:
        case AddToxic(toxic=toxic, type=type, streams=streams, attributes=attributes):
            toxic_of = {"toxic": toxic, "type": type, "streams": list(streams)}
            return "toxic_add", {"proxies": proxies, **toxic_of, "attributes": dict(attributes)}
        case RemoveToxic(toxic=toxic):
            return "toxic_remove", {"proxies": proxies, "toxic": toxic}
        case Disable():
            return "proxy_enable", {"proxies": proxies, "enabled": False}
        case Enable():
            return "proxy_enable", {"proxies": proxies, "enabled": True}
