"""The management API's door: whom it reads, how far, and for how long."""

import asyncio
import base64
from collections.abc import Awaitable, Callable

import pytest

from reference_impl.process import ApiRequest
from reference_impl.shell import management
from reference_impl.shell.management import (
    BODY_OCTETS_MAX,
    HEADER_OCTETS_MAX,
    ManagementSockets,
)

LIMIT_S = 5.0
GUEST = b"authorization: Basic " + base64.b64encode(b"guest:guest") + b"\r\n"
GET = b"GET /api/overview?a=1 HTTP/1.1\r\nhost: a\r\n"


class Node:
    """Answers every request with its number, when it is let."""

    def __init__(self) -> None:
        self.heard: list[ApiRequest] = []
        self.sockets = ManagementSockets(self, self.turn)
        self.silent = False

    def api_request(self, request: ApiRequest) -> None:
        self.heard.append(request)

    def turn(self) -> None:
        if not self.silent:
            asyncio.get_running_loop().call_soon(self.answer, len(self.heard))

    def answer(self, number: int) -> None:
        self.sockets.answer(number, 200, b"%d" % number)


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def say(self, octets: bytes) -> None:
        self.writer.write(octets)

    async def head(self) -> bytes:
        return await self.reader.readuntil(b"\r\n\r\n")

    async def body(self, octets: int) -> bytes:
        return await self.reader.readexactly(octets)

    async def to_the_end(self) -> bytes:
        return await self.reader.read()


def run_story(story: Callable[[Node, Client], Awaitable[None]]) -> None:
    async def live() -> None:
        node = Node()
        loop = asyncio.get_running_loop()
        server = await loop.create_server(node.sockets.socket, "127.0.0.1", 0)
        client = Client(*await asyncio.open_connection(*server.sockets[0].getsockname()))
        try:
            async with asyncio.timeout(LIMIT_S):
                await story(node, client)
        finally:
            client.writer.transport.abort()
            server.close()

    asyncio.run(live())


def test_requests_of_one_connection_are_answered_one_after_another() -> None:
    async def story(node: Node, client: Client) -> None:
        client.say((GET + GUEST + b"\r\n") * 3)
        for number in (b"1", b"2", b"3"):
            assert (await client.head()).startswith(b"HTTP/1.1 200 ")
            assert await client.body(1) == number
        assert {(request.method, request.path, request.query) for request in node.heard} == {
            ("GET", "/api/overview", "a=1")
        }

    run_story(story)


def test_a_body_is_handed_over_whole() -> None:
    async def story(node: Node, client: Client) -> None:
        body = bytes(range(256)) * (BODY_OCTETS_MAX // 256)
        head = b"PUT /x HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n" % len(body)
        client.say(head + GUEST + b"\r\n" + body)
        await client.head()
        assert [request.body for request in node.heard] == [body]

    run_story(story)


@pytest.mark.parametrize("method", [b"GET", b"PUT", b"HEAD"])
@pytest.mark.parametrize("credentials", [b"", b"authorization: Basic Z3Vlc3Q6d3Jvbmc=\r\n"])
def test_missing_credentials_are_refused_by_the_request_head(
    method: bytes, credentials: bytes
) -> None:
    async def story(node: Node, client: Client) -> None:
        head = b" /x HTTP/1.1\r\nhost: a\r\ncontent-length: 300000000\r\n"
        client.say(method + head + credentials + b"\r\n")
        answer = await client.to_the_end()
        assert answer.startswith(b"HTTP/1.1 401 ")
        assert b'www-authenticate: Basic realm="RabbitMQ Management"' in answer
        assert (b"Login failed" in answer) is (method != b"HEAD")
        assert node.heard == []

    run_story(story)


def test_a_body_announced_as_too_large_is_refused_immediately() -> None:
    async def story(node: Node, client: Client) -> None:
        length = b"content-length: %d\r\n" % (BODY_OCTETS_MAX + 1)
        client.say(b"PUT /x HTTP/1.1\r\nhost: a\r\n" + length + GUEST + b"\r\n")
        assert (await client.to_the_end()).startswith(b"HTTP/1.1 413 ")
        assert node.heard == []

    run_story(story)


def test_a_body_without_length_is_refused_at_the_limit() -> None:
    async def story(node: Node, client: Client) -> None:
        head = b"PUT /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n"
        client.say(head + GUEST + b"\r\n")
        for _ in range(BODY_OCTETS_MAX // 65536 + 1):
            client.say(b"10000\r\n" + bytes(65536) + b"\r\n")
        assert (await client.to_the_end()).startswith(b"HTTP/1.1 413 ")
        assert node.heard == []

    run_story(story)


def test_a_head_that_is_too_large_is_refused() -> None:
    async def story(node: Node, client: Client) -> None:
        client.say(GET + b"x: " + b"y" * (HEADER_OCTETS_MAX + 1))
        assert (await client.to_the_end()).startswith(b"HTTP/1.1 431 ")

    run_story(story)


def test_bytes_that_are_no_request_are_refused() -> None:
    async def story(node: Node, client: Client) -> None:
        client.say(b"\x16\x03\x01 is no HTTP\r\n\r\n")
        assert (await client.to_the_end()).startswith(b"HTTP/1.1 400 ")

    run_story(story)


@pytest.mark.parametrize(
    "begun",
    [b"", GET, b"PUT /x HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n" + GUEST + b"\r\nbody"],
    ids=["nothing", "a head", "a body"],
)
def test_a_request_that_is_never_whole_is_refused_in_time(
    begun: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(management, "REQUEST_LIMIT_S", 0.2)

    async def story(node: Node, client: Client) -> None:
        client.say(begun)
        assert (await client.to_the_end()).startswith(b"HTTP/1.1 408 ")
        assert node.heard == []

    run_story(story)


def test_neither_slow_answers_nor_idle_connections_count_as_slow_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(management, "REQUEST_LIMIT_S", 0.1)

    async def pass_over() -> None:
        await asyncio.sleep(3 * management.REQUEST_LIMIT_S)

    async def story(node: Node, client: Client) -> None:
        node.silent = True
        client.say(GET + GUEST + b"\r\n")
        await pass_over()
        node.answer(1)
        assert (await client.head()).startswith(b"HTTP/1.1 200 ")
        assert await client.body(1) == b"1"
        await pass_over()
        node.silent = False
        client.say(GET + GUEST + b"\r\n")
        assert (await client.head()).startswith(b"HTTP/1.1 200 ")

    run_story(story)


def test_a_second_request_is_not_read_before_the_first_answer() -> None:
    async def story(node: Node, client: Client) -> None:
        node.silent = True
        client.say(GET + GUEST + b"\r\n" + bytes(32 << 20))
        while not node.heard:
            await asyncio.sleep(0.005)
        (socket,) = node.sockets._open.values()
        assert len(socket._http.trailing_data[0]) <= 1 << 20

    run_story(story)


def test_a_head_alone_is_answered_without_a_body() -> None:
    async def story(node: Node, client: Client) -> None:
        client.say(GET.replace(b"GET", b"HEAD") + GUEST + b"\r\n" + GET + GUEST + b"\r\n")
        assert b"content-length: 1" in await client.head()
        assert (await client.head()).startswith(b"HTTP/1.1 200 ")
        assert await client.body(1) == b"2"

    run_story(story)
