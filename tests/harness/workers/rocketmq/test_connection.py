"""Questions get their own answers, and every one of them ends."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import pytest

from harness.workers import credentials
from harness.workers.protocol import Endpoint
from harness.workers.remoting import requests
from harness.workers.remoting.commands import Command, encode
from harness.workers.remoting.headers import Header
from harness.workers.remoting.requests import Code, Request, TopicQueue
from harness.workers.rocketmq import line as line_module
from harness.workers.rocketmq.connection import Connection, Unanswered
from harness.workers.rocketmq.line import Line
from tests.rigs.rocketmq.fake_server import fake, said

LIMIT_S = 5.0
T = TypeVar("T")


def offset_of(request: Request) -> Command | None:
    """Queue n has the offset n; queue 9 is never answered."""
    number = int(request.fields["queueId"])
    return None if number == 9 else said(offset=number)


def question(number: int) -> Request:
    return requests.max_offset(TopicQueue("orders", number))


def run(story: Awaitable[T]) -> T:
    async def limited() -> T:
        async with asyncio.timeout(4 * LIMIT_S):
            return await story

    return asyncio.run(limited())


def test_questions_side_by_side_get_their_own_answers() -> None:
    async def story() -> list[str]:
        async with fake("b", offset_of) as server:
            connection = await Connection.connect(server.endpoint, LIMIT_S)
            requests = (connection.ask(question(number), LIMIT_S) for number in range(5))
            replies = await asyncio.gather(*requests)
            connection.close()
        return [command.header.fields["offset"] for command in replies]

    assert run(story()) == ["0", "1", "2", "3", "4"]


def test_every_request_is_signed_if_the_process_has_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Request] = []

    def answer(request: Request) -> Command:
        seen.append(request)
        return said()

    async def story() -> None:
        async with fake("b", answer) as server:
            connection = await Connection.connect(server.endpoint, LIMIT_S)
            await connection.ask(Request(Code.GET_BROKER_CONFIG, "its configuration"), LIMIT_S)
            connection.send_oneway(question(3))
            await connection.ask(question(4), LIMIT_S)
            connection.close()

    run(story())
    monkeypatch.setenv(credentials.USER, "rocketmq2")
    monkeypatch.setenv(credentials.PASSWORD, "12345678")
    run(story())
    unsigned, with_keys = seen[:3], seen[3:]
    assert not any("Signature" in one.fields for one in unsigned)
    assert {one.fields["AccessKey"] for one in with_keys} == {"rocketmq2"}
    # As AclClientRPCHook of rocketmq-acl 4.9.7 signs a request without fields.
    assert with_keys[0].fields["Signature"] == "Ou1T58RIcyZWaTIwzkhJZWn/Zvs="
    assert len({one.fields["Signature"] for one in with_keys}) == 3


def test_an_answer_is_matched_by_number_and_others_are_dropped() -> None:
    async def story() -> Command:
        async def backwards(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            pull = Command(Header(Code.PULL_MESSAGE, 1))  # a request of the server's own
            late = Command(Header(0, 99, flag=1))
            ours = Command(Header(0, 1, flag=1, remark="ours"))
            writer.write(encode(pull) + encode(late) + encode(ours))

        server = await asyncio.start_server(backwards, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        connection = await Connection.connect(Endpoint("b", "127.0.0.1", port), LIMIT_S)
        answer = await connection.ask(question(1), LIMIT_S)
        connection.close()
        server.close()
        return answer

    assert run(story()).header.remark == "ours"


def test_unanswered_request_ends_and_the_next_one_is_answered() -> None:
    async def story() -> str:
        async with fake("b", offset_of) as server:
            connection = await Connection.connect(server.endpoint, LIMIT_S)
            with pytest.raises(Unanswered, match=r"no answer within 0\.05 s"):
                await connection.ask(question(9), 0.05)
            answer = await connection.ask(question(3), LIMIT_S)
            connection.close()
            return answer.header.fields["offset"]

    assert run(story()) == "3"


def test_a_connection_that_ends_ends_every_question_at_once() -> None:
    async def story() -> None:
        async with fake("b", offset_of) as server:
            connection = await Connection.connect(server.endpoint, LIMIT_S)
            open_question = asyncio.create_task(connection.ask(question(9), 60.0))
            while not server.codes:
                await asyncio.sleep(0.001)
            server.connections[0].close()
            with pytest.raises(Unanswered, match="closed by the server"):
                await open_question
            with pytest.raises(Unanswered, match="closed by the server"):
                await connection.ask(question(1), LIMIT_S)

    run(story())


def test_a_peer_with_another_protocol_is_disconnected() -> None:
    async def story() -> None:
        async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await reader.read()

        server = await asyncio.start_server(http, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        connection = await Connection.connect(Endpoint("b", "127.0.0.1", port), LIMIT_S)
        with pytest.raises(Unanswered, match="does not speak the remoting protocol"):
            await connection.ask(question(1), LIMIT_S)
        server.close()

    run(story())


def test_a_refused_connection_is_reported() -> None:
    async def story() -> None:
        async with fake("b", offset_of) as server:
            endpoint = server.endpoint
        with pytest.raises(Unanswered, match="no connection"):
            await Connection.connect(endpoint, LIMIT_S)

    run(story())


def test_a_line_replaces_a_connection_that_was_lost() -> None:
    async def story() -> tuple[str, int]:
        async with fake("b", offset_of) as server:
            line = Line(server.endpoint)
            await line.ask(question(1), LIMIT_S)
            server.connections[0].close()
            answer = None  # until the end of the connection is known here
            while answer is None:
                try:
                    answer = await line.ask(question(2), LIMIT_S)
                except Unanswered:
                    continue
            line.close()
            return answer.header.fields["offset"], line.connects

    assert run(story()) == ("2", 2)


def test_long_silent_connection_is_opened_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_module, "SILENCE_S", 0.1)

    async def story() -> tuple[int, bool]:
        async with fake("b", lambda request: None) as server:
            line = Line(server.endpoint)
            while line.connects < 3:
                with pytest.raises(Unanswered):
                    await line.ask(question(1), 0.05)
            server.answer = offset_of
            await line.ask(question(2), LIMIT_S)
            line.close()
            return line.connects, len(server.connections) >= 3

    connects, dialled = run(story())
    assert connects >= 3
    assert dialled


def test_questions_that_wait_for_one_connection_share_it() -> None:
    async def story() -> tuple[int, int]:
        async with fake("b", offset_of) as server:
            line = Line(server.endpoint)
            await asyncio.gather(*(line.ask(question(number), LIMIT_S) for number in range(4)))
            line.close()
            return line.connects, len(server.connections)

    assert run(story()) == (1, 1)
