"""Requests out of bytes, however they are cut."""

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from faults.proxy.api import ApiRequest, Response
from faults.proxy.http_wire import (
    BODY_MAX,
    HEAD_MAX,
    Expecting,
    Heard,
    Malformed,
    ParsedRequest,
    RequestReader,
    render,
)

STREAM = (
    b"GET /version?x=1 HTTP/1.1\r\nHost: h\r\nUser-Agent: me\r\n\r\n"
    b"POST /proxies/a%20b HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n{ \r\n"
    b"POST /reset HTTP/1.1\r\nhost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;why=not\r\nabc\r\n2\r\n\r\n\r\n0\r\nTrailer: t\r\n\r\n"
    b"DELETE /proxies/a HTTP/1.0\r\nExpect: 100-continue\r\n\r\n"
    b"nonsense\r\n\r\n"
)
HEARD: list[Heard] = [
    ParsedRequest(ApiRequest("GET", "/version", b"", "me", "x=1"), 1, True),
    ParsedRequest(ApiRequest("POST", "/proxies/a b", b"{ \r\n"), 1, True),
    ParsedRequest(ApiRequest("POST", "/reset", b"abc\r\n"), 1, True),
    Expecting(),
    ParsedRequest(ApiRequest("DELETE", "/proxies/a"), 0, False),
    Malformed(400),
]


@settings(deadline=None)
@given(st.lists(st.integers(0, len(STREAM)), max_size=12).map(sorted))
def test_the_same_requests_are_heard_however_the_bytes_are_cut(cuts: list[int]) -> None:
    reader = RequestReader()
    edges = [0, *cuts, len(STREAM)]
    heard = [one for start, end in pairwise(edges) for one in reader.feed(STREAM[start:end])]
    assert heard == HEARD


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_crash_it(octets: bytes) -> None:
    RequestReader().feed(octets + b"\r\n\r\n")


def test_heads_and_bodies_have_a_limit() -> None:
    assert RequestReader().feed(b"x" * (HEAD_MAX + 1)) == [Malformed(431)]
    head = f"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: {BODY_MAX + 1}\r\n\r\n"
    assert RequestReader().feed(head.encode()) == [Malformed(413)]
    chunked = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"
    assert RequestReader().feed(chunked) == [Malformed(413)]


def test_a_keyed_name_cannot_break_a_redirect_into_two_lines() -> None:
    parsed = ParsedRequest(ApiRequest("GET", "//a\r\nb"), 1, True)
    lines = render(parsed, Response(301, location="/a\r\nb"), "id", "date").split(b"\r\n")
    assert b"Location: /a%0D%0Ab" in lines
