"""The interface on a socket: limits, requests that are no HTTP, and clients that are slow."""

import asyncio
import json
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faults.proxy import server
from faults.proxy.server import BODY_MAX, HEAD_MAX, Server

LIMIT_S = 20.0
STREAM = (
    b"GET /version?x=1 HTTP/1.1\r\nHost: h\r\n\r\n"
    b"POST /proxies/a%20b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n{ \r\n"
    b"POST /proxies HTTP/1.1\r\nhost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"1;why=not\r\n{\r\n1\r\n}\r\n0\r\nTrailer: t\r\n\r\n"
    b"HEAD /nope HTTP/1.1\r\nHost: h\r\n\r\n"
    b"POST /reset HTTP/1.0\r\n\r\n"
)
STATUSES = [200, 404, 400, 404, 204]


def converse(*parts: bytes) -> bytes:
    """Return what comes back until the server closes. It must not have failed meanwhile."""
    failures: list[object] = []

    async def play() -> bytes:
        asyncio.get_running_loop().set_exception_handler(_fail(failures))
        embedded = Server(seed=1)
        host, _, port = (await embedded.open("127.0.0.1", 0)).rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            for part in parts:
                writer.write(part)
                await asyncio.sleep(0)
            said = await asyncio.wait_for(reader.read(), LIMIT_S)
        finally:
            writer.close()
            embedded.close()
        assert failures == []
        return said

    return asyncio.run(play())


def _fail(failures: list[object]) -> Callable[[object, dict[str, object]], None]:
    return lambda _loop, context: failures.append(context)


def statuses(said: bytes) -> list[int]:
    return [int(one.split()[0]) for one in said.split(b"HTTP/1.1 ")[1:]]


def post(path: str, body: bytes) -> bytes:
    """A request after which the server closes."""
    head = f"POST {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
def test_requests_are_answered_however_their_bytes_are_cut(cuts: list[int]) -> None:
    parts = [STREAM[start:end] for start, end in pairwise([0, *cuts, len(STREAM)])]
    assert statuses(converse(*parts)) == STATUSES


@pytest.mark.slow
@settings(deadline=None, max_examples=50)
@given(st.binary(max_size=200))
def test_bytes_that_are_no_http_are_refused(octets: bytes) -> None:
    said = statuses(converse(b"\x00" + octets + b"\r\n\r\n"))
    assert said == [400]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("octets", "status"),
    [
        (b"x" * (HEAD_MAX + 1), 431),
        (f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {BODY_MAX + 1}\r\n\r\n".encode(), 413),
        (b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (
            b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            + f"{BODY_MAX + 1:x}\r\n".encode()
            + bytes(BODY_MAX + 1),
            413,
        ),
    ],
)
def test_heads_and_bodies_have_a_limit(octets: bytes, status: int) -> None:
    assert statuses(converse(octets)) == [status]


@pytest.mark.slow
@pytest.mark.parametrize(
    "octets",
    [b"GET /version HTTP/1.1\r\nHo", b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{"],
)
def test_a_request_that_is_not_whole_in_time_is_refused(
    octets: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "REQUEST_LIMIT_S", 0.05)
    assert statuses(converse(octets)) == [408]


@pytest.mark.slow
def test_a_connection_between_two_requests_has_no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "REQUEST_LIMIT_S", 0.05)

    async def play() -> list[bytes]:
        embedded = Server(seed=1)
        host, _, port = (await embedded.open("127.0.0.1", 0)).rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        said = []
        for _ in range(2):
            writer.write(b"GET /proxies HTTP/1.1\r\nHost: h\r\n\r\n")
            said.append((await reader.readuntil(b"{}"))[:15])
            await asyncio.sleep(0.15)  # three times the limit
        writer.close()
        embedded.close()
        return said

    assert asyncio.run(play()) == [b"HTTP/1.1 200 OK"] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b"[" * 100_000,
        b'{"name":"\\ud800","upstream":"u:1"}',
        b'{"name":NaN}',
        b'{"enabled":' + b"9" * 5_000 + b"}",
        b'{"name":"a","upstream":"u:1","listen":"' + b"x" * 70 + b':1"}',
    ],
)
def test_an_unusable_body_is_refused_as_json(body: bytes) -> None:
    head, _, answer = converse(post("/proxies", body)).partition(b"\r\n\r\n")
    assert statuses(head)[0] in (400, 500)
    assert json.loads(answer)["status"] == statuses(head)[0]


@pytest.mark.slow
@pytest.mark.parametrize("toxicity", [b"1e400", b"1" + b"0" * 400, b"true", b'"1"', b"-Infinity"])
def test_a_toxicity_that_is_no_number_is_refused(toxicity: bytes) -> None:
    proxy = b'{"name":"a","upstream":"u:1","enabled":false}'
    made = b"POST /proxies HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % len(proxy)
    toxic = post("/proxies/a/toxics", b'{"type":"latency","toxicity":%b}' % toxicity)
    assert statuses(converse(made + proxy + toxic)) == [201, 400]
