"""What is handed to the agent to greet and ask by, of a protocol that it does not speak."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from faults.core.model import FIN
from harness.workers.agent import answer, calls
from harness.workers.agent_calls import foreign
from harness.workers.agent_calls.canaries import Opened
from harness.workers.agent_calls.ends import PeerClosed
from tests.rigs.machine.loops import in_a_loop


@asynccontextmanager
async def server(
    says: bytes, ends: bool = False
) -> AsyncIterator[tuple[dict[str, Any], bytearray]]:
    """A server that answers any line with this; yields its address and what it heard."""
    heard = bytearray()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(await reader.readline())
        writer.write(says)
        if ends:
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as listening:
        host, port = listening.sockets[0].getsockname()
        yield {"host": host, "port": port, "timeout_s": 0.5}, heard


async def said(call: str, **arguments: Any) -> dict[str, Any]:
    return await answer(calls("127.0.0.1:1"), {"do": call, "id": 1, **arguments})


@in_a_loop
async def test_greeting_counts_as_answered_if_the_reply_starts_correctly() -> None:
    async with server(b"\xffHOLA, and more") as (where, heard):
        value = (await said("greet", says="HELO\n", begins="\xffHOLA", **where))["value"]
        assert (value["answered"], value["detail"], value["end"]) == (True, "answered", "")
        assert heard == b"HELO\n"
        other = (await said("greet", says="HELO\n", begins="BYE", **where))["value"]
        assert not other["answered"]
        assert "began otherwise" in other["detail"]


@pytest.mark.parametrize(
    ("ends", "end", "detail"), [(True, "fin", "ended"), (False, "", "silent")]
)
def test_an_end_and_a_silence_are_distinguished(ends: bool, end: str, detail: str) -> None:
    @in_a_loop
    async def story() -> None:
        async with server(b"", ends) as (where, _):
            value = (await said("greet", says="HELO\n", begins="HOLA", **where))["value"]
            assert (value["answered"], value["end"]) == (False, end)
            assert detail in value["detail"]

    story()


async def smiles(host: str, port: int) -> None:
    """A greeter: a server that sends a smile first of all."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        writer.write(b"\n")
        said = await reader.read(2)
        if said != b":)":
            raise PeerClosed(f"no smile but {said!r}", "" if said else FIN)
    finally:
        writer.transport.abort()


@pytest.mark.parametrize(
    ("says", "ends", "met"),
    [
        (b":)", False, (True, "", "answered")),
        (b":(", False, (False, "", "no smile")),
        (b"", True, (False, "fin", "no smile")),
        (b"", False, (False, "", "silent for 0.5 s")),
    ],
)
@in_a_loop
async def test_without_answer_bytes_the_named_code_awaits_the_answer(
    says: bytes, ends: bool, met: tuple[bool, str, str]
) -> None:
    async with server(says, ends) as (where, _):
        value = (await said("greet_by", by=f"{__name__}:smiles", **where))["value"]
    assert (value["answered"], value["end"]) == met[:2]
    assert met[2] in value["detail"]
    assert (value["seconds"] >= 0.5) is ("silent" in met[2])


class Parrot:
    """A canary that says what it is asked."""

    end, octets = "", 3

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def passive_declare(self, queue: str) -> None:
        self.heard.append(queue)

    def drop(self) -> None:
        self.heard.append("dropped")


PARROT = Parrot()


async def parrot(host: str, port: int, canary: str, queue: str, speaks: bool) -> Opened:
    if port == 1:
        raise PeerClosed("no cage", FIN)
    PARROT.heard.append(f"{canary} at {host}:{port}, {queue!r}, {speaks}")
    return Opened(asks=PARROT, speaks=None)


@in_a_loop
async def test_a_canary_is_opened_by_the_code_that_is_named() -> None:
    known = calls("127.0.0.1:1")

    async def ask(call: str, **arguments: Any) -> dict[str, Any]:
        return await answer(known, {"do": call, "id": 1, "canary": "c", **arguments})

    how = {"host": "h", "queue": "q", "by": f"{__name__}:parrot", "timeout_s": 1.0}
    opened = await ask("canary_open", port=2, **how)
    assert opened["say"] == "answer"
    assert (await ask("canary_ask", timeout_s=1.0))["value"]["answered"]
    assert PARROT.heard == ["c at h:2, 'q', False", "q"]
    refused = await ask("canary_open", port=1, **how)  # one of its name was dropped first
    assert (refused["kind"], PARROT.heard[-1]) == ("refused", "dropped")
    assert "no cage" in refused["text"]
    assert (await ask("canary_ask", timeout_s=1.0))["kind"] == "bad"


@in_a_loop
async def test_a_question_is_answered_by_the_first_line() -> None:
    async with server(b'{"a": 1}\r\n{"b"') as (where, heard):
        assert (await said("words_ask", says="?\n", **where))["value"] == {"text": '{"a": 1}'}
        assert heard == b"?\n"


@in_a_loop
async def test_a_question_without_an_answer_line_fails_as_before() -> None:
    async with server(b"half a li", ends=True) as (where, _):
        failed = await said("words_ask", says="?\n", **where)
        assert (failed["say"], failed["kind"]) == ("error", "refused")
    async with server(b"half a li") as (where, _):
        assert (await said("words_ask", says="?\n", **where))["kind"] == "timeout"
    assert (await said("words_ask", says="?\n", **where))["kind"] == "refused"


@in_a_loop
async def test_an_answer_without_an_end_fills_no_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(foreign, "ANSWER_MAX_BYTES", 1000)
    async with server(b"x" * 100_000) as (where, _):
        failed = await said("words_ask", says="?\n", **where)
        assert "no end within 1000 bytes" in failed["text"]
