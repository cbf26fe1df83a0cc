"""Queries and commands of a run to the nodes, through the agent: systems.port.RunningBroker.

1. A node that does not answer in time has no answer, which is one: None.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from harness.cluster.agent import AgentClient, AgentError
from harness.cluster.orders import Order
from harness.cluster.polling import until
from harness.cluster.port import DeployError, Health, Roles
from pigeonhole import VERSION
from pigeonhole.lines import encode

ASK_LIMIT_S = 4.0
Words = dict[str, Any]


class Pigeons:
    """`ways`: host -> address and port that the agent dials, in the layout's order."""

    cannot_answer: frozenset[str] = frozenset()

    def __init__(self, agent: AgentClient, ways: Mapping[str, tuple[str, int]]) -> None:
        self._agent = agent
        self._ways = dict(ways)

    async def declare(self, queue: str, durable: bool, host: str, max_priority: int = 0) -> None:
        assert durable, "its client declares that it cannot do transient"
        assert not max_priority, "its client declares that it cannot do priorities"
        said = await self._ask(host, {"do": "declare", "queue": queue})
        if said is None:
            raise DeployError(f"{host} did not declare {queue}")

    async def roles(self, queue: str) -> Roles:
        claims = await self.masters(queue)
        if all(claim is None for claim in claims.values()):
            raise DeployError(f"no node tells whether it holds {queue}")
        holders = [host for host, claim in claims.items() if claim]
        return Roles(master=holders[0] if holders else None, mirrors=(), synchronised=())

    async def masters(self, queue: str) -> dict[str, bool | None]:
        said = await self._ask_all({"do": "find", "queue": queue})
        return {host: None if one is None else bool(one["here"]) for host, one in said.items()}

    async def held(self, queue: str, host: str) -> int | None:
        return None  # it does not tell

    async def members(self, host: str) -> tuple[str, ...]:
        return tuple(await self._running(host))

    async def policy(self, name: str) -> dict[str, Any] | None:
        return None  # it knows none

    async def controller(self) -> str:
        return ""  # no node reports which one leads

    async def connections(self, prefix: str, close: bool) -> tuple[str, ...]:
        said = await self._ask_all({"do": "names", "begins": prefix})
        answers = [one["names"] for one in said.values() if one is not None]
        if not answers:
            raise DeployError("no node tells who is connected")
        if close:
            await self._ask_all({"do": "close", "begins": prefix})
        return tuple(sorted(name for names in answers for name in names))

    async def delete(self, prefix: str) -> None:
        await self._ask_all({"do": "delete", "begins": prefix})

    async def greets(self, host: str) -> bool:
        return await self._ask(host, {"do": "hello"}) is not None

    async def listed(self, host: str) -> bool:
        """Whether every other node that answers sees it run."""
        said = await self._ask_all({"do": "nodes"})
        others = [one["running"] for name, one in said.items() if one and name != host]
        if not others:
            raise DeployError(f"no other node tells whether {host} runs")
        return all(running[host] for running in others)

    async def health(self, limit_s: float) -> Health:
        return await until(self._look, lambda health: health.clean, limit_s)

    async def set_policies(self) -> None:
        """It knows none."""

    async def versions(self) -> dict[str, str]:
        return {"pigeonhole": VERSION}

    async def _look(self) -> Health:
        said, doubts = await self._ask_all({"do": "nodes"}), list[str]()
        for host, one in said.items():
            missed = [] if one is None else [peer for peer, on in one["running"].items() if not on]
            doubts += [f"{host} does not answer"] if one is None else []
            doubts += [f"{host} does not see {peer}" for peer in missed]
        return Health(clean=not doubts, doubts=tuple(doubts))

    async def _running(self, host: str) -> dict[str, bool]:
        said = await self._ask(host, {"do": "nodes"})
        if said is None:
            raise DeployError(f"{host} does not report which nodes there are")
        return dict(said["running"])

    async def _ask_all(self, words: Words) -> dict[str, Words | None]:
        said = await asyncio.gather(*(self._ask(host, words) for host in self._ways))
        return dict(zip(self._ways, said, strict=True))

    async def _ask(self, host: str, words: Words) -> Words | None:
        address, port = self._ways[host]
        says = encode(words).decode()
        try:
            found = await self._agent.call(
                "words_ask", timeout_s=ASK_LIMIT_S, host=address, port=port, says=says
            )
        except AgentError:
            return None
        return dict(json.loads(found["text"]))


class NoOperator:
    """harness.cluster.orders.Operator of brokers that take no orders."""

    async def carry_out(self, order: Order) -> str:
        raise DeployError(f"pigeonhole has nothing like {type(order).__name__}")
