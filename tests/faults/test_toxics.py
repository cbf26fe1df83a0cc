"""What an agent does to links, and which agent replaces a lost one."""

import asyncio
from typing import Any

import pytest

from faults.core.actions import Disable, Enable, RemoveToxic
from faults.core.model import FaultError
from faults.executors.ports import Agent
from faults.executors.toxics import Toxics

LINKS = ("mqproof-peer.rkt1.rkt2.9877",)


class Lost(Exception):
    """As an agent's calls fail whose process ended."""


class Calls:
    def __init__(self, lost: bool = False) -> None:
        self.calls: list[str] = []
        self._lost = lost

    async def call(self, name: str, /, timeout_s: float, **_: Any) -> dict[str, Any]:
        if self._lost:
            raise Lost("the agent's process ended")
        self.calls.append(name)
        return {"boot_id": "another machine's"} if name == "clock" else {}


@pytest.mark.parametrize(
    ("action", "call"),
    [
        (Disable(LINKS), "proxy_enable"),
        (RemoveToxic(LINKS, "MQPROOF_1"), "toxic_remove"),
        (Enable(LINKS), "proxy_enable"),
    ],
)
def test_a_spare_agent_retries_each_step_of_an_undo(
    action: Disable | RemoveToxic | Enable, call: str
) -> None:
    spare = Calls()
    asyncio.run(Toxics(Agent(Calls(lost=True), (Lost,)), Agent(spare, ())).undo(action))
    assert call in spare.calls


def test_an_undo_that_all_agents_fail_is_an_error() -> None:
    lost = Agent(Calls(lost=True), (Lost,))
    with pytest.raises(FaultError, match="process ended"):
        asyncio.run(Toxics(lost, lost).undo(Enable(LINKS)))
