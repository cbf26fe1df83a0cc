"""HTTP/1.1 as the interface needs it: bytes in, requests out; a response in, bytes out.

1. No clock and no socket: `RequestReader` is fed what came, and keeps what is not whole.
2. A request that cannot be read ends the conversation, with the words that Go's server has.
3. Every buffer has a limit.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import quote, unquote, urlsplit

from faults.proxy.api import ApiRequest, Response

HEAD_MAX = 1 << 16
BODY_MAX = 1 << 24
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_BAD_ESCAPE = re.compile("%(?![0-9a-fA-F]{2})")
_REQUEST_LINE = re.compile(r"([!-~]+) ([!-~]+) HTTP/1\.([01])")


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """A whole request of HTTP/1.`version`. Without `keep_alive` its answer is the last."""

    request: ApiRequest
    version: int
    keep_alive: bool


@dataclass(frozen=True, slots=True)
class Expecting:
    """The client waits for leave to send its body."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """Bytes that are no request; nothing after them can be read."""

    status: int
    detail: str = ""


Heard = ParsedRequest | Expecting | Malformed


@dataclass(frozen=True, slots=True)
class _Head:
    method: str
    target: str
    version: int
    fields: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        return next((value for key, value in self.fields if key == name), "")


class _Unreadable(Exception):
    def __init__(self, status: int, detail: str = "") -> None:
        super().__init__(detail)
        self.malformed = Malformed(status, detail)


class RequestReader:
    def __init__(self) -> None:
        self._unread = b""
        self._head: _Head | None = None
        self._unreadable = False

    def feed(self, octets: bytes) -> list[Heard]:
        heard: list[Heard] = []
        if self._unreadable:
            return heard
        self._unread += octets
        try:
            while self._head is not None or self._read_head(heard):
                parsed = self._read_body()
                if parsed is None:
                    break
                heard.append(parsed)
        except _Unreadable as error:
            self._unreadable, self._unread = True, b""
            heard.append(error.malformed)
        return heard

    def _read_head(self, heard: list[Heard]) -> bool:
        end = self._unread.find(b"\r\n\r\n")
        if max(end, len(self._unread) if end < 0 else 0) > HEAD_MAX:
            raise _Unreadable(431)
        if end < 0:
            return False
        self._head = _head(self._unread[:end].decode("latin-1"))
        self._unread = self._unread[end + 4 :]
        if self._head.get("expect").lower() == "100-continue":
            heard.append(Expecting())
        return True

    def _read_body(self) -> ParsedRequest | None:
        head = self._head
        assert head is not None
        chunked = head.get("transfer-encoding").lower() == "chunked"
        body = self._chunked() if chunked else self._counted(head.get("content-length") or "0")
        if body is None:
            return None
        self._head = None
        connection = head.get("connection").lower()
        keep_alive = connection != "close" if head.version else connection == "keep-alive"
        return ParsedRequest(_request(head, body), head.version, keep_alive)

    def _counted(self, length: str) -> bytes | None:
        if not length.isascii() or not length.isdigit():
            raise _Unreadable(400)
        if int(length) > BODY_MAX:
            raise _Unreadable(413)
        if len(self._unread) < int(length):
            return None
        body, self._unread = self._unread[: int(length)], self._unread[int(length) :]
        return body

    def _chunked(self) -> bytes | None:
        """The whole body, or None while a part of it is missing."""
        body, at = b"", 0
        while (end := self._unread.find(b"\r\n", at)) >= 0:
            size_text = self._unread[at:end].partition(b";")[0].strip()
            if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", size_text):
                raise _Unreadable(400)
            size, start = int(size_text, 16), end + 2
            if len(body) + size > BODY_MAX:
                raise _Unreadable(413)
            if size == 0:
                return self._after_trailers(body, start)
            body += self._unread[start : start + size]
            at = start + size + 2
            if len(self._unread) < at:
                return None
        return None

    def _after_trailers(self, body: bytes, at: int) -> bytes | None:
        while (end := self._unread.find(b"\r\n", at)) > at:
            at = end + 2
        if end < 0:
            return None
        self._unread = self._unread[end + 2 :]
        return body


def render(parsed: ParsedRequest, response: Response, request_id: str, date: str) -> bytes:
    body = b"" if parsed.request.method == "HEAD" else response.body.encode()
    fields = []
    if response.content_type is not None:
        fields.append(("Content-Type", response.content_type))
        if response.content_type.startswith("text/plain"):
            fields.append(("X-Content-Type-Options", "nosniff"))
    if response.location is not None:
        fields.append(("Location", quote(response.location, safe="/?&=;:@!$'()*+,~")))
    if response.served:
        fields.append(("X-Toxiproxy-Request-Id", request_id))
    fields.append(("Date", date))
    if response.status != HTTPStatus.NO_CONTENT:
        fields.append(("Content-Length", str(len(body))))
    if parsed.keep_alive != bool(parsed.version):
        fields.append(("Connection", "keep-alive" if parsed.keep_alive else "close"))
    return _status_line(response.status, version=parsed.version) + _lines(fields) + b"\r\n" + body


def render_malformed(malformed: Malformed) -> bytes:
    """Go's server answers so, and closes."""
    phrase = f"{malformed.status} {HTTPStatus(malformed.status).phrase}"
    body = f"{phrase}: {malformed.detail}" if malformed.detail else phrase
    fields = [("Content-Type", "text/plain; charset=utf-8"), ("Connection", "close")]
    return (
        _status_line(malformed.status, malformed.detail) + _lines(fields) + b"\r\n" + body.encode()
    )


def _status_line(status: int, detail: str = "", version: int = 1) -> bytes:
    phrase = HTTPStatus(status).phrase + (f": {detail}" if detail else "")
    return f"HTTP/1.{version} {status} {phrase}\r\n".encode()


def _lines(fields: list[tuple[str, str]]) -> bytes:
    return "".join(f"{name}: {value}\r\n" for name, value in fields).encode()


def _head(text: str) -> _Head:
    first, *lines = text.lstrip("\r\n").split("\r\n")
    line = _REQUEST_LINE.fullmatch(first)
    if line is None:
        raise _Unreadable(400)
    fields = []
    for each in lines:
        name, colon, value = each.partition(":")
        if not colon or not name or name != name.strip():
            raise _Unreadable(400)
        fields.append((name.lower(), value.strip()))
    head = _Head(line[1], line[2], int(line[3]), tuple(fields))
    if head.version and "host" not in dict(fields):
        raise _Unreadable(400, "missing required Host header")
    return head


def _request(head: _Head, body: bytes) -> ApiRequest:
    target = urlsplit(head.target if head.target.startswith("http://") else f"//x{head.target}")
    if not target.path.startswith("/") or _BAD_ESCAPE.search(target.path):
        raise _Unreadable(400)
    path = unquote(target.path)
    who, token = head.get("user-agent"), head.get("authorization")
    return ApiRequest(head.method, path, body, who, target.query, token)
