"""The agent: its calls over real sockets, and its life as a process."""

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from harness.systems.rabbitmq.broker import DECLARE
from harness.systems.rabbitmq.core.service_ports import AMQP_HEADER, RABBITMQ_SERVICE_PORTS
from harness.systems.rabbitmq.foreign.brokers import TRIAL
from harness.systems.rocketmq.api import ASK
from harness.workers.agent import answer, calls
from harness.workers.agent_calls.answers import in_thread
from harness.workers.agent_calls.network import ANSWER_MAX_BYTES
from harness.workers.protocol import EXIT_CLOSED, EXIT_ORPHANED, SILENCE_LIMIT_S
from tests.rigs.brokers.tiny_amqp import TinyBroker

HELLO = AMQP_HEADER.greets.arguments
AMQP = RABBITMQ_SERVICE_PORTS.canaries
_CANARY = {"canary": "c", "host": "127.0.0.1", "port": 1, "queue": "", "timeout_s": 1}

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "harness.workers.agent"]
NOWHERE = "127.0.0.1:1"

Ask = Callable[..., Awaitable[dict[str, Any]]]


class Forwarder:
    """A link that can be stalled in both directions, as `bandwidth 0` does it."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._tasks: set[asyncio.Task[None]] = set()
        self.flows = asyncio.Event()
        self.flows.set()
        self.port = 0

    async def listen(self) -> None:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.create_task(self._pump(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while chunk := await source.read(1 << 16):
            await self.flows.wait()
            sink.write(chunk)
        sink.close()


@asynccontextmanager
async def stage() -> AsyncIterator[tuple[Ask, TinyBroker, Forwarder]]:
    known = calls(NOWHERE)

    async def ask(name: str, **arguments: Any) -> dict[str, Any]:
        said = await answer(known, {"do": name, "id": 1, **arguments})
        return said["value"] if said["say"] == "answer" else said

    async with TinyBroker() as broker:
        link = Forwarder(broker.port)
        await link.listen()
        yield ask, broker, link


class Web:
    """Says the same to everybody, and keeps what it was reported."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self.head = b""
        self.url = ""

    async def __aenter__(self) -> "Web":
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.head += await reader.readuntil(b"\r\n\r\n")
        writer.write(self._answer)
        with suppress(OSError):
            await writer.drain()
        writer.close()


async def got(url: str) -> dict[str, Any]:
    headers = {"Authorization": "Basic c3dvcmRmaXNo"}
    request = {"do": "http", "id": 1, "method": "GET", "url": url, "headers": headers}
    return await answer(calls(NOWHERE), {**request, "body": "", "timeout_s": 20.0})


def test_a_redirection_is_an_answer_and_gets_no_credentials() -> None:
    async def story() -> None:
        async with Web(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") as other:
            moved = f"HTTP/1.1 302 Found\r\nLocation: {other.url}\r\nContent-Length: 0\r\n\r\n"
            async with Web(moved.encode()) as web:
                said = await got(web.url)
            assert said["value"] == {"status": 302, "body": ""}
            assert b"c3dvcmRmaXNo" in web.head
            assert other.head == b""

    asyncio.run(story())


def test_too_long_answer_is_an_error_and_the_agent_survives() -> None:
    async def story() -> dict[str, Any]:
        flood = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * (ANSWER_MAX_BYTES + 1)
        async with Web(flood) as web:
            return await got(web.url)

    said = asyncio.run(story())
    assert (said["say"], said["kind"]) == ("error", "http")
    assert "more than 6 MB" in said["text"]


async def open_canary(ask: Ask, port: int) -> None:
    opened = await ask(
        "canary_open",
        canary="c",
        host="127.0.0.1",
        port=port,
        queue="orders",
        by=AMQP,
        timeout_s=5.0,
    )
    assert opened == {}


def test_a_canary_is_silent_until_queried_and_held_bytes_return() -> None:
    async def story() -> None:
        async with stage() as (ask, _, link):
            await open_canary(ask, link.port)
            assert (await ask("canary_ask", canary="c", timeout_s=5.0))["answered"]

            link.flows.clear()
            stalled = await ask("canary_ask", canary="c", timeout_s=0.2)
            assert not stalled["answered"]
            assert stalled["seconds"] >= 0.2
            assert "silent" in stalled["detail"]
            again = await ask("canary_ask", canary="c", timeout_s=0.2)
            assert not again["answered"]

            link.flows.set()
            assert (await ask("canary_ask", canary="c", timeout_s=5.0))["answered"]

    asyncio.run(story())


def test_a_closed_canary_is_distinguished_from_a_silent_one() -> None:
    async def story() -> None:
        async with stage() as (ask, broker, link):
            await open_canary(ask, link.port)
            broker.drop()
            closed = await ask("canary_ask", canary="c", timeout_s=5.0)
            assert not closed["answered"]
            assert closed["seconds"] < 2.0

    asyncio.run(story())


def test_a_canary_can_be_closed_while_its_link_stands_still() -> None:
    async def story() -> None:
        async with stage() as (ask, _, link):
            await open_canary(ask, link.port)
            link.flows.clear()
            await ask("canary_ask", canary="c", timeout_s=0.1)
            assert await ask("canary_close", canary="c") == {}
            assert (await ask("canary_ask", canary="c", timeout_s=0.1))["kind"] == "bad"
            assert await ask("canary_close", canary="c") == {}

    asyncio.run(story())


async def open_speaker(ask: Ask, canary: str, port: int) -> None:
    where = {"host": "127.0.0.1", "port": port, "queue": "", "by": AMQP, "timeout_s": 5.0}
    assert await ask("canary_open", canary=canary, speaks=True, **where) == {}


async def say(ask: Ask, canary: str, to: str, octets: int = 0) -> dict[str, Any]:
    return await ask("canary_say", canary=canary, to=to, octets=octets, rounds=3, timeout_s=0.5)


def test_canaries_hear_each_other_over_the_links_that_flow() -> None:
    async def story() -> None:
        async with stage() as (ask, broker, link):
            await open_speaker(ask, "linked", link.port)
            await open_speaker(ask, "direct", broker.port)
            ways = [("linked", "linked"), ("linked", "direct"), ("direct", "linked")]
            assert all([(await say(ask, *way))["answered"] for way in ways])

            link.flows.clear()
            stalled = [await say(ask, *way) for way in ways]
            assert all("silent" in reply["detail"] and not reply["end"] for reply in stalled)
            assert (await say(ask, "direct", "direct"))["answered"]

            link.flows.set()  # words that were held and come late belong to no call
            assert all([(await say(ask, *way))["answered"] for way in ways])

    asyncio.run(story())


def test_probe_message_has_its_size_and_counts_from_the_opening() -> None:
    """Count from the opening on what arrived."""

    async def story() -> None:
        async with stage() as (ask, broker, _):
            await open_speaker(ask, "c", broker.port)
            said = await say(ask, "c", "c", octets=300_000)  # more than a frame holds
            assert said["answered"]
            assert 3 * 300_000 < said["octets"] < 3 * 300_500

    asyncio.run(story())


def test_the_end_of_a_canary_is_noted_at_once() -> None:
    async def story() -> None:
        async with stage() as (ask, broker, link):
            await open_canary(ask, link.port)
            await open_speaker(ask, "speaker", link.port)
            broker.refuse()
            said = await say(ask, "speaker", "speaker")
            reply = await ask("canary_ask", canary="c", timeout_s=5.0)
            here = {"host": "127.0.0.1", "port": broker.port, "timeout_s": 5.0}
            assert [said["end"], reply["end"]] == ["fin", "fin"]
            assert (await ask("greet", **here, **HELLO))["end"] == "refused"

    asyncio.run(story())


def test_the_queue_of_a_canary_goes_with_it() -> None:
    async def story() -> None:
        async with stage() as (ask, broker, _):
            await open_speaker(ask, "c", broker.port)
            (queue,) = broker.queues
            assert queue.startswith("mqproof-canary.c.")
            await ask("canary_close", canary="c")
            while broker.connections:
                await asyncio.sleep(0.01)
            assert not broker.queues

    asyncio.run(story())


def test_a_reset_is_distinguished_from_an_end() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()

    async def story() -> None:
        async with stage() as (ask, _, _):
            server = await asyncio.start_server(reset, "127.0.0.1", 0)
            here = server.sockets[0].getsockname()[1]
            said = await ask("greet", host="127.0.0.1", port=here, timeout_s=5.0, **HELLO)
            server.close()
            assert (said["answered"], said["end"]) == (False, "rst")

    asyncio.run(story())


def test_a_missing_queue_is_no_answer_of_a_canary() -> None:
    async def story() -> None:
        async with stage() as (ask, broker, link):
            broker.missing = True
            opened = await ask(
                "canary_open",
                canary="c",
                host="127.0.0.1",
                port=link.port,
                queue="q",
                by=AMQP,
                timeout_s=5,
            )
            assert (opened["kind"], "404" in opened["text"]) == ("refused", True)

    asyncio.run(story())


def test_greet_and_connect_distinguish_silence_from_refusal() -> None:
    async def story() -> None:
        async with stage() as (ask, broker, _):
            here = {"host": "127.0.0.1", "port": broker.port, "timeout_s": 0.3}
            assert (await ask("greet", **here, **HELLO))["answered"]
            broker.silent = True
            silent = await ask("greet", **here, **HELLO)
            assert (silent["answered"], silent["seconds"] >= 0.3) == (False, True)
            assert (await ask("connect", **here))["connected"]
            broker.refuse()
            refused = await ask("connect", **here)
            assert (refused["connected"], refused["seconds"] < 0.3) == (False, True)

    asyncio.run(story())


def test_hear_distinguishes_speaking_waiting_closing_and_absent_peers() -> None:
    async def story() -> None:
        async def speak(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"hello")

        async def close(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.close()

        async with stage() as (ask, broker, _):
            replies = {}
            for serve in (speak, close):
                server = await asyncio.start_server(serve, "127.0.0.1", 0)
                here = server.sockets[0].getsockname()[1]
                replies[serve.__name__] = await ask(
                    "hear", host="127.0.0.1", port=here, timeout_s=2.0
                )
                server.close()
            waits = await ask("hear", host="127.0.0.1", port=broker.port, timeout_s=0.2)
            gone = await ask("hear", host="127.0.0.1", port=here, timeout_s=2.0)
        assert replies["speak"]["answered"]
        assert replies["close"]["detail"] == "closed"
        assert waits["detail"] == "silent for 0.2 s"
        assert waits["seconds"] >= 0.2
        assert "refused" in gone["detail"].lower() or "Connect call failed" in gone["detail"]

    asyncio.run(story())


def test_declare_makes_a_queue_and_says_goodbye() -> None:
    async def story() -> None:
        async with stage() as (ask, broker, _):
            here = {"host": "127.0.0.1", "port": broker.port, "timeout_s": 5.0}
            queue = {"queue": "orders", "durable": True, "arguments": {"x-queue-type": "quorum"}}
            assert await ask(DECLARE, **queue, **here) == {}
            assert broker.declared == {"orders": {"x-queue-type": "quorum"}}
            assert broker.connections == []

    asyncio.run(story())


async def brought(word: str) -> dict[str, Any]:
    """Stand for the call of a package."""
    return {"word": word}


def test_a_package_brings_a_call_by_its_module_and_name() -> None:
    request = {"do": f"{__name__}:brought", "id": 4, "word": "hello", "timeout_s": 1.0}
    said = asyncio.run(answer(calls(NOWHERE), request))
    assert said == {"say": "answer", "id": 4, "value": {"word": "hello"}}


@pytest.mark.parametrize("call", [DECLARE, TRIAL, ASK])
def test_calls_of_our_families_are_there_by_module_and_name(call: str) -> None:
    said = asyncio.run(answer(calls(NOWHERE), {"do": call, "id": 5}))
    assert "missing a required argument" in said["text"]


@pytest.mark.parametrize(
    ("request_", "kind"),
    [
        ({"do": "nonsense"}, "bad"),
        ({"do": "no.such.module:call"}, "bad"),
        ({"do": "harness.workers.agent_calls.remoting:AGAIN_S"}, "bad"),
        ({"do": f"{__name__}:brought", "word": 1, "more": 2}, "bad"),
        ({"do": "greet", "host": "127.0.0.1"}, "bad"),
        ({"do": "connect", "host": "127.0.0.1", "port": 1, "timeout_s": 1, "more": 1}, "bad"),
        ({"do": "greet_by", "host": "a", "port": 1, "timeout_s": 1, "by": "no.such:code"}, "bad"),
        ({"do": "canary_open", **_CANARY, "by": "harness.workers.agent:no_such"}, "bad"),
        ({"do": "proxy_delete", "prefix": ""}, "bad"),
        ({"do": "toxic_remove", "proxies": ["p"], "toxic": "t"}, "proxy"),
        (
            {
                "do": "http",
                "method": "GET",
                "url": f"http://{NOWHERE}/",
                "headers": {},
                "body": "",
                "timeout_s": 2,
            },
            "refused",
        ),
    ],
)
def test_a_call_that_fails_is_answered(request_: dict[str, Any], kind: str) -> None:
    said = asyncio.run(answer(calls(NOWHERE), {"id": 3, **request_}))
    assert (said["say"], said["id"], said["kind"]) == ("error", 3, kind)


def test_hanging_work_blocks_no_other_work() -> None:
    async def story() -> None:
        with pytest.raises(TimeoutError):
            await in_thread(_never, 0.1)
        assert await in_thread(lambda: 7, 5.0) == 7

    asyncio.run(story())


def _never() -> None:
    read, _ = os.pipe()
    os.read(read, 1)


@pytest.mark.slow
def test_the_agent_answers_lines_and_closes_on_request() -> None:
    said = subprocess.run(
        COMMAND,
        input=b'{"do": "hello"}\n{"do": "ping"}\nnonsense\n{"do": "close"}\n',
        stdout=subprocess.PIPE,
        cwd=ROOT,
        check=False,
    )
    hello, pong, error, closed = (json.loads(line) for line in said.stdout.splitlines())
    assert hello["say"] == "hello"
    assert hello["versions"].keys() >= {"python", "pika"}
    assert pong["say"] == "pong"
    assert (error["say"], error["kind"]) == ("error", "bad")
    assert closed == {"say": "closed"}
    assert said.returncode == EXIT_CLOSED


@pytest.mark.slow
def test_the_agent_ends_with_its_input() -> None:
    ended = subprocess.run(
        COMMAND, input=b'{"do": "hello"}\n', stdout=subprocess.PIPE, cwd=ROOT, check=False
    )
    assert ended.returncode == EXIT_ORPHANED


@pytest.mark.slow
def test_agent_ends_on_silence_even_with_a_hanging_call() -> None:
    hanging = {"do": "greet", "id": 1, "host": "127.0.0.1", "timeout_s": 500.0, **HELLO}
    listener = subprocess.Popen(
        [sys.executable, "-c", _SILENT_SERVER], stdout=subprocess.PIPE, text=True
    )
    assert listener.stdout is not None
    hanging["port"] = int(listener.stdout.readline())
    agent = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, bufsize=0
    )
    assert agent.stdin is not None
    began = time.monotonic()
    agent.stdin.write(json.dumps(hanging).encode() + b"\n")
    try:
        assert agent.wait(SILENCE_LIMIT_S + 10) == EXIT_ORPHANED
        assert time.monotonic() - began >= SILENCE_LIMIT_S
    finally:
        agent.kill()
        listener.kill()
        agent.communicate()
        listener.communicate()


_SILENT_SERVER = """
import socket, time
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
accepted = listener.accept()
accepted[0].recv(100)
listener.accept()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "status", "say"),
    [('{"do": "clock"}', 0, "answer"), ('{"do": "nonsense"}', 1, "error"), ("{", 1, "error")],
)
def test_once_answers_one_call(call: str, status: int, say: str) -> None:
    ended = subprocess.run([*COMMAND, "once", call], stdout=subprocess.PIPE, cwd=ROOT, check=False)
    assert (ended.returncode, json.loads(ended.stdout)["say"]) == (status, say)
