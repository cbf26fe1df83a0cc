"""The agent's client over a channel that is two queues."""

import asyncio
from typing import Any

import pytest

from harness.cluster.agent import (
    AgentClient,
    AgentError,
    AgentLost,
    AgentRefused,
    AgentTimeout,
)
from harness.cluster.port import DeployError
from tests.rigs.machine.loops import in_a_loop


class FakeChannel:
    """port.Channel: what was sent is kept, what is said is put in by the test."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.said: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.broken = ""
        self.closed = False
        self.errors = ""
        self.code: int | None = None

    async def send(self, message: dict[str, Any]) -> None:
        if self.broken:
            raise DeployError(self.broken)
        if message["do"] != "ping":
            self.sent.put_nowait(message)

    async def receive(self) -> dict[str, Any] | None:
        return await self.said.get()

    async def exit_code(self) -> int | None:
        return self.code

    async def kill(self) -> None: ...

    async def close(self) -> None:
        self.closed = True


async def started() -> tuple[AgentClient, FakeChannel]:
    channel = FakeChannel()
    channel.said.put_nowait({"say": "hello", "boot_id": "b", "versions": {"pika": "1"}})
    client = await AgentClient.start(channel, 1.0)
    assert await channel.sent.get() == {"do": "hello"}
    return client, channel


@in_a_loop
async def test_answers_find_their_calls_in_any_order() -> None:
    client, channel = await started()
    assert client.hello["versions"] == {"pika": "1"}
    first = asyncio.create_task(client.call("connect", 1.0, host="a", port=1))
    second = asyncio.create_task(client.call("proxy_create", 1.0, name="p", upstream="a:1"))
    sent = [await channel.sent.get(), await channel.sent.get()]
    assert sent == [
        {"do": "connect", "id": 1, "timeout_s": 1.0, "host": "a", "port": 1},
        {"do": "proxy_create", "id": 2, "timeout_s": 1.0, "name": "p", "upstream": "a:1"},
    ]
    channel.said.put_nowait({"say": "answer", "id": 2, "value": {"port": 7}})
    channel.said.put_nowait({"say": "pong", "monotonic_ns": 1})
    channel.said.put_nowait({"say": "answer", "id": 9, "value": {}})
    channel.said.put_nowait({"say": "answer", "id": 1, "value": {"connected": True}})
    assert await first == {"connected": True}
    assert await second == {"port": 7}
    await client.close()
    assert channel.closed


@in_a_loop
@pytest.mark.parametrize(
    ("kind", "error"),
    [("timeout", AgentTimeout), ("refused", AgentRefused), ("bad", AgentError)],
)
async def test_an_error_has_the_class_of_its_kind(kind: str, error: type[AgentError]) -> None:
    client, channel = await started()
    call = asyncio.create_task(client.call("greet", 1.0, host="a", port=1))
    await channel.sent.get()
    channel.said.put_nowait({"say": "error", "id": 1, "kind": kind, "text": "because"})
    with pytest.raises(error, match="greet: because"):
        await call
    await client.close()


@in_a_loop
async def test_the_end_of_the_agent_ends_every_call() -> None:
    client, channel = await started()
    calls = [asyncio.create_task(client.call("clock", 60.0)) for _ in range(3)]
    await channel.sent.get()
    channel.said.put_nowait(None)
    for call in calls:
        with pytest.raises(AgentLost, match="process ended"):
            await call
    with pytest.raises(AgentLost):
        await client.call("clock", 1.0)
    await client.close()


@in_a_loop
async def test_a_channel_that_breaks_is_the_loss_of_the_agent() -> None:
    client, channel = await started()
    channel.broken = "pipe closed"
    with pytest.raises(AgentLost, match="pipe closed"):
        await client.call("clock", 1.0)
    await client.close()


@in_a_loop
async def test_an_agent_that_does_not_speak_is_given_up() -> None:
    channel = FakeChannel()
    with pytest.raises(AgentTimeout, match="said nothing"):
        await AgentClient.start(channel, 0.05)
    assert channel.closed


@in_a_loop
async def test_an_agent_that_ends_at_once_is_lost() -> None:
    before, channel = asyncio.all_tasks(), FakeChannel()
    channel.said.put_nowait(None)
    channel.code, channel.errors = 1, "EOFError: marshal data too short"
    with pytest.raises(AgentLost, match=r"ended with exit code 1; its last words:\nEOFError: mar"):
        await AgentClient.start(channel, 1.0)
    assert channel.closed
    assert asyncio.all_tasks() == before


@in_a_loop
async def test_a_start_that_is_interrupted_leaves_no_task() -> None:
    before, channel = asyncio.all_tasks(), FakeChannel()
    start = asyncio.create_task(AgentClient.start(channel, 60.0))
    assert await channel.sent.get() == {"do": "hello"}
    start.cancel()
    await asyncio.gather(start, return_exceptions=True)
    assert channel.closed
    assert asyncio.all_tasks() == before


@in_a_loop
async def test_calls_end_even_if_the_exit_code_cannot_be_read() -> None:
    client, channel = await started()

    async def unreadable() -> int | None:
        raise ConnectionError("the engine is gone")

    channel.exit_code = unreadable  # type: ignore[method-assign]
    call = asyncio.create_task(client.call("clock", 60.0))
    await channel.sent.get()
    channel.said.put_nowait(None)
    with pytest.raises(AgentLost, match="process ended"):
        await call
    await client.close()
