"""Faults of links to a name server and a broker, proved by canaries through our own proxy.

Servers are fakes, proxy and canaries are real: what is tried is whether canaries that speak side
by side, up and down at once, tell a fault from health.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from faults.core.actions import AddToxic, RemoveToxic
from faults.core.model import Armed, Proof, Replies, Words
from faults.core.witness import Witness
from faults.executors.canaries import Canaries
from faults.executors.ports import Agent
from faults.executors.service_ports import ServicePorts
from faults.executors.toxics import Toxics
from faults.kinds.client_links.cut_after import CutAfterOptions
from faults.kinds.client_links.hang import HangOptions
from faults.kinds.client_links.slow import SlowOptions
from faults.verification import gone, held
from harness.systems.rocketmq.core.service_ports import HELLO
from harness.workers.agent import answer, calls
from harness.workers.remoting.requests import Code
from tests.harness.workers.rocketmq.test_agent_remoting import broker, name_server
from tests.rigs.clusters.fault_world import compiled_fault
from tests.rigs.machine.loops import within
from tests.rigs.rocketmq.fake_server import Answer, fake, said

pytestmark = pytest.mark.slow
HERE, HOST = "127.0.0.1", "rkt1"
LIMIT_S, GONE_LIMIT_S = 90.0, 30.0
OPTIONS_OF = {  # what a busy machine does not do by itself
    "hang": HangOptions(),
    "slow": SlowOptions(latency_s=1.0, rate_kb=1000),
    "cut_after": CutAfterOptions(bytes=100),
}


class InProcess:
    """The agent's calls, answered here."""

    def __init__(self, toxiproxy: str) -> None:
        self._calls = calls(toxiproxy, HERE)

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        if arguments.get("host") == HOST:
            arguments["host"] = HERE
        message = {"do": name, "id": 1, "timeout_s": timeout_s, **arguments}
        found = await answer(self._calls, message)
        assert "value" in found, found
        return dict(found["value"])


class Watching:
    """Of a Witness what faults of clients' links ask for."""

    def __init__(self, canaries: Canaries, service_port: int) -> None:
        self._canaries = canaries
        self._direct = HOST, service_port

    async def prepare(self, armed: Armed) -> None:
        await self._canaries.open(armed, self._direct)

    async def words(self, armed: Armed, words: Words) -> Replies:
        return await self._canaries.say(armed, words)

    async def dismiss(self, armed: Armed) -> None:
        await self._canaries.close(armed)


@asynccontextmanager
async def proxy() -> AsyncIterator[str]:
    words = (sys.executable, "-m", "faults.proxy", "--port", "0")
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield str(json.loads(await process.stdout.readline())["listening"])
    finally:
        process.kill()
        await process.wait()


def telling(answer: Answer) -> Answer:
    """A server whose configuration is about as long as a real broker's."""
    long = (Code.GET_NAMESRV_CONFIG, Code.GET_BROKER_CONFIG)
    return lambda request: said(b"x" * 10_000) if request.code in long else answer(request)


@pytest.mark.parametrize("kind", OPTIONS_OF)
@within(LIMIT_S)
async def test_link_fault_of_two_servers_is_verified_active_and_ended(kind: str) -> None:
    async with (
        proxy() as at,
        fake("ns", telling(name_server())) as names,
        fake("broker", telling(broker())) as master,
    ):
        agent = Agent(InProcess(at), ())
        ways: dict[str, tuple[str, int]] = {}
        for link, server in (("to-names", names), ("to-broker", master)):
            upstream, listen = f"{HERE}:{server.port}", f"127.0.0.2:{server.port}"
            made = await agent.call(
                "proxy_create", 5.0, name=link, upstream=upstream, listen=listen
            )
            ways[link] = "127.0.0.2", int(made["port"])
        service_ports = ServicePorts(
            hello=HELLO,
            canaries="harness.workers.agent_calls.remoting:opened",
            peer_word=None,
            usual=master.port,
            to_peers=None,
            ports={HOST: (names.port, master.port)},
        )
        watching = Watching(Canaries(agent, ways.__getitem__, service_ports), names.port)
        holds, left = await _verified(kind, tuple(ways), watching, Toxics(agent, agent))
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt


async def _verified(
    kind: str, links: tuple[str, ...], watching: Watching, toxics: Toxics
) -> tuple[Proof, Proof]:
    armed = compiled_fault(kind, HOST, (HOST,), links, options=OPTIONS_OF[kind])
    witness = cast(Witness, watching)
    await watching.prepare(armed)
    for action in armed.actions:
        assert isinstance(action, AddToxic)
        await toxics.do(action)
    holds = await held(armed, witness)
    for action in armed.undo:
        assert isinstance(action, RemoveToxic)
        await toxics.undo(action)
    left = await gone(armed, witness, GONE_LIMIT_S)
    await watching.dismiss(armed)
    return holds, left
