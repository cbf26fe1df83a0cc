"""Requests to RocketMQ servers through the agent: an answer, or None without one.

1. All servers are asked concurrently: one that hangs delays only callers that wait for all.
2. Without an agent no server is asked: that is not a silent server.
3. An answer is a command as the remoting protocol has it; what it means is cluster_state.py's.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from harness.cluster.agent import AgentError, AgentLost
from harness.systems.rocketmq.core.layout import ServerProcess
from harness.systems.rocketmq.core.service_ports import HELLO
from harness.workers.remoting.commands import Command
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.requests import Request

ASK = "harness.workers.agent_calls.remoting:ask"  # the agent imports it
ASK_LIMIT_S = 5.0
QUICK_LIMIT_S = 2.0  # where several are asked one after another, and one may stand still
GREET_LIMIT_S = 2.0


class ProcessAgent(Protocol):
    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]: ...


Port = Callable[[ServerProcess], int]


def usual(server: ServerProcess) -> int:
    return server.port


def votes(server: ServerProcess) -> int:
    return server.votes_at


class RocketApi:
    """`addresses`: by host, as the agent dials them."""

    def __init__(self, agent: ProcessAgent, addresses: Mapping[str, str]) -> None:
        self._agent = agent
        self._addresses = addresses

    async def ask(
        self,
        server: ServerProcess,
        request: Request,
        at: Port = usual,
        limit_s: float = ASK_LIMIT_S,
    ) -> Command | None:
        """`at`: the port that is asked. Raises AgentLost."""
        try:
            answer = await self._agent.call(
                ASK,
                limit_s,
                host=self._addresses[server.host],
                port=at(server),
                code=int(request.code),
                fields=dict(request.fields),
                body=request.body.decode(),
            )
        except AgentLost:
            raise
        except AgentError:
            return None
        header = Header(int(answer["code"]), 0, RESPONSE, answer["remark"], answer["fields"])
        return Command(header, answer["body"].encode())

    async def ask_each(
        self,
        servers: Iterable[ServerProcess],
        request: Request,
        at: Port = usual,
        limit_s: float = ASK_LIMIT_S,
    ) -> dict[ServerProcess, Command | None]:
        servers = list(servers)
        answers = await asyncio.gather(
            *(self.ask(server, request, at, limit_s) for server in servers)
        )
        return dict(zip(servers, answers, strict=True))

    async def greets(self, server: ServerProcess) -> bool:
        try:
            answer = await self._agent.call(
                HELLO.greets.call,
                GREET_LIMIT_S,
                host=self._addresses[server.host],
                port=server.port,
                **HELLO.greets.arguments,
            )
        except AgentError:
            return False
        return bool(answer["answered"])
