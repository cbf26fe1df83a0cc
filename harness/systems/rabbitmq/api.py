"""RabbitMQ's management API on every host of a cluster, asked by the agent.

1. Every question has a short deadline of its own, and no answer is an answer: None.
2. Paths here name the virtual host `/`; an API of another one asks for the same there.
3. Queues are read without statistics (`disable_stats`). Those lag and may be missing, and while a
   member hangs they block the API of every node; without them it answers at once.
"""

import asyncio
import base64
import json
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from harness.cluster.agent import AgentClient, AgentError
from harness.cluster.port import DeployError
from harness.systems.rabbitmq.core.service_ports import API_PORT

ASK_LIMIT_S = 4.0
QUEUES = "/api/queues/%2F?disable_stats=true"
EXCHANGES = "/api/exchanges/%2F?columns=name"
NODES = "/api/nodes?columns=name,running,partitions,mem_alarm,disk_free_alarm"
CONNECTIONS = "/api/connections?columns=name,user_provided_name"
OVERVIEW = "/api/overview?columns=rabbitmq_version,erlang_version"
FEATURE_FLAGS = "/api/feature-flags?columns=name,state"
GUEST = ("guest", "guest")  # who is known to brokers that mqproof starts
_IN_ROOT = re.compile(r"^(/api/(?:exchanges|queues|policies)/)%2F(?=[/?]|$)")
_HEADERS = {
    "Content-Type": "application/json",
    "X-Reason": "mqproof",  # told to clients whose connection is closed
}


def in_virtual_host(path: str, name: str) -> str:
    """The same path in another virtual host."""
    return _IN_ROOT.sub(lambda found: found[1] + quote(name, safe=""), path)


def queue_path(name: str) -> str:
    return f"/api/queues/%2F/{quote(name, safe='')}?disable_stats=true"


def exchange_path(name: str) -> str:
    return f"/api/exchanges/%2F/{quote(name, safe='')}"


def held_path(name: str) -> str:
    """How much of a queue the asked host holds itself: of brokers that tell it (the reference)."""
    return f"/api/queues/%2F/{quote(name, safe='')}?held_here=true"


def queue_actions_path(name: str) -> str:
    return f"/api/queues/%2F/{quote(name, safe='')}/actions"


def connection_path(name: str) -> str:
    return f"/api/connections/{quote(name, safe='')}"


def enable_path(flag: str) -> str:
    return f"/api/feature-flags/{flag}/enable"


def policy_path(name: str) -> str:
    return f"/api/policies/%2F/{quote(name, safe='')}"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Any  # JSON, or text where it was none


class ManagementApi:
    """`urls`: host -> what the agent asks, without the path, in the layout's order.

    `login`: name and password. `nodes`: what the cluster calls its nodes -> what they are called
    here, where that is not the same. `limit_s`: of each question. `virtual_host`: of every queue
    and policy.
    """

    def __init__(
        self,
        agent: AgentClient,
        urls: Mapping[str, str],
        login: tuple[str, str] = GUEST,
        nodes: Mapping[str, str] | None = None,
        limit_s: float = ASK_LIMIT_S,
        virtual_host: str = "/",
    ) -> None:
        self._agent = agent
        self._virtual_host = virtual_host
        self._limit_s = limit_s
        self._urls = dict(urls)
        basic = base64.b64encode(":".join(login).encode()).decode()
        self._headers = {**_HEADERS, "Authorization": f"Basic {basic}"}
        self._nodes = dict(nodes or {})

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(self._urls)

    def add(self, host: str, url: str) -> None:
        self._urls[host] = url

    async def ask(
        self, host: str, path: str, method: str = "GET", body: Any = None
    ) -> Reply | None:
        """None where the host does not answer in time."""
        try:
            value = await self._agent.call(
                "http",
                timeout_s=self._limit_s,
                method=method,
                url=f"{self._urls[host]}{in_virtual_host(path, self._virtual_host)}",
                headers=self._headers,
                body="" if body is None else json.dumps(body),
            )
        except AgentError:
            return None
        return Reply(int(value["status"]), self._renamed(_parsed(str(value["body"]))))

    async def ask_all(self, path: str, method: str = "GET") -> dict[str, Reply | None]:
        """Every host's own answer, asked side by side."""
        hosts = tuple(self._urls)
        replies = await asyncio.gather(*(self.ask(host, path, method) for host in hosts))
        return dict(zip(hosts, replies, strict=True))

    async def bodies(self, path: str) -> dict[str, Any]:
        """Every host's own word; None where it has none."""
        answers = await self.ask_all(path)
        return {host: _body(reply) for host, reply in answers.items()}

    async def as_answered(self, path: str, method: str = "GET") -> AsyncGenerator[Reply, None]:
        """Yield answers in the order in which they come; a host that hangs delays no other."""
        questions = [asyncio.ensure_future(self.ask(host, path, method)) for host in self._urls]
        try:
            for answer in asyncio.as_completed(questions):
                reply = await answer
                if reply is not None:
                    yield reply
        finally:
            for question in questions:
                question.cancel()

    async def first(self, path: str) -> Any:
        """The word of the first host that has one. Raises DeployError."""
        async with aclosing(self.as_answered(path)) as replies:
            async for reply in replies:
                if reply.status == 200:
                    return reply.body
        raise DeployError(f"no broker answers {path.partition('?')[0]} within {self._limit_s:g} s")

    def _renamed(self, body: Any) -> Any:
        """The same, with nodes called as they are here: a node's name stands for nothing else."""
        match body:
            case str():
                return self._nodes.get(body, body)
            case list():
                return [self._renamed(one) for one in body] if self._nodes else body
            case dict():
                return {k: self._renamed(v) for k, v in body.items()} if self._nodes else body
        return body


def urls(addresses: Mapping[str, str], port: int = API_PORT) -> dict[str, str]:
    """Of hosts that all have the API on the same port."""
    return {host: f"http://{address}:{port}" for host, address in addresses.items()}


def _body(reply: Reply | None) -> Any:
    return reply.body if reply is not None and reply.status == 200 else None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text
