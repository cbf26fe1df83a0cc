"""Requests to the management API, taken apart, and answers to them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote

import msgspec

from reference_impl.process import Answer, ApiRequest, Effect

VHOST = "/"  # the only one
# Bodies that are no JSON of ours: of another shape, in no UTF-8, or nested too deeply.
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Request:
    number: int
    method: str
    path: tuple[str, ...]  # segments after /api
    query: dict[str, str]
    body: bytes

    @property
    def name(self) -> str:
        """Return the name of the path's subject."""
        return self.path[2] if self.path[0] in ("queues", "policies") else self.path[1]

    def flag(self, name: str) -> bool:
        return self.query.get(name) == "true"


Handler = Callable[[Request], list[Effect]]
Routes = dict[tuple[str, str], Handler]  # by method and pattern; * stands for one segment


def parse(received: ApiRequest) -> Request | None:
    """None where it is no path of the API."""
    root, *path = (unquote(segment) for segment in received.path.strip("/").split("/"))
    if root != "api":
        return None
    query = {name: values[-1] for name, values in parse_qs(received.query).items()}
    return Request(received.request, received.method, tuple(path), query, received.body)


def routed(routes: Routes, request: Request) -> list[Effect]:
    matching = {
        method: handler
        for (method, pattern), handler in routes.items()
        if _matches(pattern.split("/"), request.path)
    }
    if not matching:
        return not_found(request)
    handler = matching.get("GET" if request.method == "HEAD" else request.method)
    if handler is None:
        return error(request, 405, "Method Not Allowed")
    return handler(request)


def answer(request: Request, words: Any) -> list[Effect]:
    """200; of each object only the columns that were asked for."""
    columns = request.query.get("columns")
    if columns is not None:
        words = _with_columns(words, columns.split(","))
    return [Answer(request.number, 200, msgspec.json.encode(words))]


def done(request: Request, status: int = 204) -> list[Effect]:
    return [Answer(request.number, status, b"")]


def not_found(request: Request) -> list[Effect]:
    words = {"error": "Object Not Found", "reason": "Not Found"}
    return [Answer(request.number, 404, msgspec.json.encode(words))]


def bad(request: Request, reason: str) -> list[Effect]:
    words = {"error": "bad_request", "reason": reason}
    return [Answer(request.number, 400, msgspec.json.encode(words))]


def error(request: Request, status: int, reason: str) -> list[Effect]:
    return [Answer(request.number, status, msgspec.json.encode({"error": reason}))]


def failed(request: Request, words: dict[str, Any]) -> list[Effect]:
    """A health check that does not hold."""
    return [Answer(request.number, 503, msgspec.json.encode(words))]


def _matches(pattern: list[str], path: tuple[str, ...]) -> bool:
    if len(pattern) != len(path):
        return False
    if "vhost" in pattern and path[pattern.index("vhost")] != VHOST:
        return False
    return all(
        wanted in ("*", "vhost", found) for wanted, found in zip(pattern, path, strict=True)
    )


def _with_columns(words: Any, columns: list[str]) -> Any:
    if isinstance(words, list):
        return [_with_columns(one, columns) for one in words]
    return {name: words[name] for name in columns if name in words}
