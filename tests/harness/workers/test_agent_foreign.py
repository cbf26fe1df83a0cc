"""Words that are handed to the agent, of a protocol that it does not speak."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from harness.workers.agent import answer, calls
from harness.workers.agent_calls import foreign
from tests.rigs.machine.loops import in_a_loop


@asynccontextmanager
async def server(
    says: bytes, ends: bool = False
) -> AsyncIterator[tuple[dict[str, Any], bytearray]]:
    """Says this to whoever has said a line; where to find it, and what it heard."""
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
async def test_a_greeting_is_answered_when_the_answer_begins_as_it_should() -> None:
    async with server(b"\xffHOLA, and more") as (where, heard):
        value = (await said("words_greet", says="HELO\n", begins="\xffHOLA", **where))["value"]
        assert (value["answered"], value["detail"], value["end"]) == (True, "answered", "")
        assert heard == b"HELO\n"
        other = (await said("words_greet", says="HELO\n", begins="BYE", **where))["value"]
        assert not other["answered"]
        assert "began otherwise" in other["detail"]


@pytest.mark.parametrize(
    ("ends", "end", "detail"), [(True, "fin", "ended"), (False, "", "silent")]
)
def test_an_end_and_a_silence_are_told_apart(ends: bool, end: str, detail: str) -> None:
    @in_a_loop
    async def story() -> None:
        async with server(b"", ends) as (where, _):
            value = (await said("words_greet", says="HELO\n", begins="HOLA", **where))["value"]
            assert (value["answered"], value["end"]) == (False, end)
            assert detail in value["detail"]

    story()


@in_a_loop
async def test_a_question_is_answered_by_the_first_line() -> None:
    async with server(b'{"a": 1}\r\n{"b"') as (where, heard):
        assert (await said("words_ask", says="?\n", **where))["value"] == {"text": '{"a": 1}'}
        assert heard == b"?\n"


@in_a_loop
async def test_a_question_that_nobody_answers_with_a_line_fails_as_it_did() -> None:
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
