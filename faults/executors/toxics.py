"""Toxics on links, put there and taken away through an agent: the same under every deployment.

1. The agent does and times it, if it shares this machine's clock (same boot id); if it does not,
   the instants are those around the call to it.
2. What the agent could not remove, a spare one tries again: an undo may not depend on a process
   that may be lost.
"""

import time
from pathlib import Path
from typing import Any

from faults.actions import AddToxic, RemoveToxic
from faults.executors.ports import Agent
from faults.model import FaultError, Receipt

LIMIT_S = 15.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Toxics:
    """`spare`: what is asked when `agent` fails to remove; it may be the same."""

    def __init__(self, agent: Agent, spare: Agent) -> None:
        self._agent = agent
        self._spare = spare
        self._same_clock: bool | None = None

    async def add(self, action: AddToxic) -> Receipt:
        arguments = {
            "proxies": list(action.proxies),
            "toxic": action.toxic,
            "type": action.type,
            "streams": list(action.streams),
            "attributes": dict(action.attributes),
        }
        return await self._ask(self._agent, "toxic_add", arguments)

    async def remove(self, action: RemoveToxic) -> Receipt:
        arguments = {"proxies": list(action.proxies), "toxic": action.toxic}
        try:
            return await self._ask(self._agent, "toxic_remove", arguments)
        except FaultError:
            if self._agent is self._spare:
                raise
        return await self._ask(self._spare, "toxic_remove", arguments)

    async def _ask(self, agent: Agent, name: str, arguments: dict[str, Any]) -> Receipt:
        if self._same_clock is None:
            clock = await agent.call("clock", LIMIT_S)
            self._same_clock = clock["boot_id"] == _BOOT_ID.read_text().strip()
        issued_ns = time.monotonic_ns()
        value = await agent.call(name, LIMIT_S, **arguments)
        if not self._same_clock:
            return Receipt(issued_ns, time.monotonic_ns())
        return Receipt(value["issued_ns"], value["returned_ns"])
