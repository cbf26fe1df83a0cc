"""RabbitMQ's management API on every host of a cluster, asked by the agent.

1. Every question has a short deadline of its own, and no answer is an answer: None.
2. Queues are read without statistics (`disable_stats`). Those lag and may be missing, and while a
   member hangs they block the API of every node; without them it answers at once.
"""

import asyncio
import base64
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from harness.deploy.agent import AgentClient, AgentError
from harness.deploy.port import DeployError

API_PORT = 15672
ASK_LIMIT_S = 4.0
QUEUES = "/api/queues/%2F?disable_stats=true"
NODES = "/api/nodes?columns=name,running,partitions,mem_alarm,disk_free_alarm"
CONNECTIONS = "/api/connections?columns=name,user_provided_name"
OVERVIEW = "/api/overview?columns=rabbitmq_version,erlang_version"
_HEADERS = {
    "Authorization": f"Basic {base64.b64encode(b'guest:guest').decode()}",
    "Content-Type": "application/json",
    "X-Reason": "mqproof",  # told to clients whose connection is closed
}


def queue_path(name: str) -> str:
    return f"/api/queues/%2F/{quote(name, safe='')}?disable_stats=true"


def queue_actions_path(name: str) -> str:
    return f"/api/queues/%2F/{quote(name, safe='')}/actions"


def connection_path(name: str) -> str:
    return f"/api/connections/{quote(name, safe='')}"


def policy_path(name: str) -> str:
    return f"/api/policies/%2F/{quote(name, safe='')}"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Any  # JSON, or text where it was none


class ManagementApi:
    """`addresses`: host -> what the agent dials, in the layout's order; a host may be added."""

    def __init__(
        self, agent: AgentClient, addresses: Mapping[str, str], port: int = API_PORT
    ) -> None:
        self._port = port
        self._agent = agent
        self._addresses = addresses

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(self._addresses)

    async def ask(
        self, host: str, path: str, method: str = "GET", body: Any = None
    ) -> Reply | None:
        """None where the host does not answer in time."""
        try:
            value = await self._agent.call(
                "http",
                timeout_s=ASK_LIMIT_S,
                method=method,
                url=f"http://{self._addresses[host]}:{self._port}{path}",
                headers=_HEADERS,
                body="" if body is None else json.dumps(body),
            )
        except AgentError:
            return None
        return Reply(int(value["status"]), _parsed(str(value["body"])))

    async def ask_all(
        self, path: str, method: str = "GET", body: Any = None
    ) -> dict[str, Reply | None]:
        """Every host's own answer, asked side by side."""
        hosts = tuple(self._addresses)
        replies = await asyncio.gather(*(self.ask(host, path, method, body) for host in hosts))
        return dict(zip(hosts, replies, strict=True))

    async def bodies(self, path: str) -> dict[str, Any]:
        """Every host's own word; None where it has none."""
        answers = await self.ask_all(path)
        return {host: _body(reply) for host, reply in answers.items()}

    async def as_answered(self, path: str) -> AsyncGenerator[Reply, None]:
        """Answers in the order in which they come; a host that hangs keeps nobody waiting."""
        asked = [asyncio.ensure_future(self.ask(host, path)) for host in self._addresses]
        try:
            for answer in asyncio.as_completed(asked):
                reply = await answer
                if reply is not None:
                    yield reply
        finally:
            for question in asked:
                question.cancel()

    async def first(self, path: str) -> Any:
        """The word of the first host that has one. Raises DeployError."""
        async with aclosing(self.as_answered(path)) as replies:
            async for reply in replies:
                if reply.status == 200:
                    return reply.body
        raise DeployError(f"no broker answers {path.partition('?')[0]} within {ASK_LIMIT_S:g} s")


def _body(reply: Reply | None) -> Any:
    return reply.body if reply is not None and reply.status == 200 else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
