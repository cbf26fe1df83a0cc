"""Toxiproxy's HTTP interface: a request in, a response out, commands to the registry between.

1. Paths, statuses, fields and content types are those of 2.12.0 (tests/contract). Texts of errors
   are its own where it words them; what is wrong with a body or an address is in our words.
2. A body is JSON whatever its content type says. Errors are JSON, served as text.
3. An unknown path is 404 and a method that it has not is 405, before anything else is looked at;
   after that a browser is refused.
4. Beyond the real server: if a token is required, a caller without it learns nothing but that,
   before anything else.
"""

import hmac
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from faults.proxy.core import bodies
from faults.proxy.core.model import Proxy, ProxyError
from faults.proxy.core.registry import EXISTS, Registry

VERSION = "2.12.0-embedded"
JSON = "application/json"
PLAIN = "text/plain; charset=utf-8"
OK, CREATED, NO_CONTENT, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, NO_METHOD = (
    200, 201, 204, 401, 403, 404, 405,
)  # fmt: skip
BEARER = "Bearer "


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """`path` has its escapes undone, and no query."""

    method: str
    path: str
    body: bytes = b""
    user_agent: str = ""
    authorization: str = ""


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    body: str = ""
    content_type: str | None = None


class Api:
    """`token`: what every request has to bring; "" where none is asked for."""

    def __init__(self, registry: Registry, token: str = "") -> None:
        self._registry = registry
        self._token = token
        self._routes: list[tuple[re.Pattern[str], Mapping[str, Callable[..., Response]]]] = [
            (_path("/reset"), {"POST": self._reset}),
            (_path("/proxies"), {"GET": self._list, "POST": self._create}),
            (_path("/populate"), {"POST": self._populate}),
            (
                _path("/proxies/NAME"),
                {
                    "GET": self._show,
                    "POST": self._update,
                    "PATCH": self._update,
                    "DELETE": self._delete,
                },
            ),
            (
                _path("/proxies/NAME/toxics"),
                {"GET": self._list_toxics, "POST": self._create_toxic},
            ),
            (
                _path("/proxies/NAME/toxics/NAME"),
                {
                    "GET": self._show_toxic,
                    "POST": self._update_toxic,
                    "PATCH": self._update_toxic,
                    "DELETE": self._delete_toxic,
                },
            ),
            (_path("/version"), {"GET": self._version}),
        ]

    def handle(self, request: ApiRequest) -> Response:
        if not self._lets_in(request):
            return Response(UNAUTHORIZED, "the token of this proxy is missing\n", PLAIN)
        for pattern, methods in self._routes:
            if match := pattern.fullmatch(request.path):
                if request.method not in methods:
                    return Response(NO_METHOD)
                return self._serve(methods[request.method], request, match.groups())
        return Response(NOT_FOUND, "404 page not found\n", PLAIN)

    def _lets_in(self, request: ApiRequest) -> bool:
        wanted = f"{BEARER}{self._token}".encode()
        given = request.authorization.encode("latin-1", "replace")
        return not self._token or hmac.compare_digest(wanted, given)

    def _serve(
        self, handler: Callable[..., Response], request: ApiRequest, names: tuple[str, ...]
    ) -> Response:
        if request.user_agent.startswith("Mozilla/"):
            return Response(FORBIDDEN, "User agent not allowed\n", PLAIN)
        try:
            return handler(request.body, *names)
        except ProxyError as error:
            return _refused(error)

    def _version(self, _body: bytes) -> Response:
        return Response(OK, _text({"version": VERSION}), "application/json;charset=utf-8")

    def _reset(self, _body: bytes) -> Response:
        self._registry.reset()
        return Response(NO_CONTENT)

    def _populate(self, body: bytes) -> Response:
        """Create or replace proxies. What was made before an error stays, and the error lists
        it."""
        made: list[Proxy] = []
        error: bodies.Json = {}
        status = CREATED
        try:
            for wanted in bodies.read_proxies(body):
                made.append(self._registry.replace(wanted))
        except ProxyError as refused:
            status, error = refused.status, _error(refused)
        proxies = [bodies.proxy(one) for one in made] or None
        return _answer(status, {**error, "proxies": proxies})

    def _list(self, _body: bytes) -> Response:
        proxies = sorted(self._registry.all(), key=lambda one: one.name)
        return _answer(OK, {one.name: bodies.proxy(one) for one in proxies})

    def _create(self, body: bytes) -> Response:
        made = self._registry.create(bodies.read_proxy(body))
        return _answer(CREATED, bodies.proxy(made))

    def _show(self, _body: bytes, name: str) -> Response:
        return _answer(OK, bodies.proxy(self._registry.get(name)))

    def _update(self, body: bytes, name: str) -> Response:
        proxy = self._registry.get(name)
        self._registry.update(proxy, bodies.read_proxy_update(body, proxy))
        return _answer(OK, bodies.proxy(proxy))

    def _delete(self, _body: bytes, name: str) -> Response:
        self._registry.remove(self._registry.get(name))
        return Response(NO_CONTENT)

    def _list_toxics(self, _body: bytes, name: str) -> Response:
        toxics = self._registry.get(name).ordered()
        return _answer(OK, [bodies.toxic(one) for one in toxics])

    def _create_toxic(self, body: bytes, name: str) -> Response:
        proxy = self._registry.get(name)
        toxic = bodies.read_toxic(body, lambda wanted: _must_be_new(proxy, wanted))
        self._registry.add_toxic(proxy, toxic)
        return _answer(OK, bodies.toxic(toxic))

    def _show_toxic(self, _body: bytes, name: str, toxic: str) -> Response:
        return _answer(OK, bodies.toxic(self._registry.toxic(self._registry.get(name), toxic)))

    def _update_toxic(self, body: bytes, name: str, toxic: str) -> Response:
        proxy = self._registry.get(name)
        updated = bodies.read_toxic_update(body, self._registry.toxic(proxy, toxic))
        self._registry.update_toxic(proxy, updated)
        return _answer(OK, bodies.toxic(updated))

    def _delete_toxic(self, _body: bytes, name: str, toxic: str) -> Response:
        proxy = self._registry.get(name)
        self._registry.remove_toxic(proxy, self._registry.toxic(proxy, toxic))
        return Response(NO_CONTENT)


def _must_be_new(proxy: Proxy, wanted: str) -> None:
    if any(toxic.name == wanted for toxic in proxy.toxics):
        raise ProxyError(EXISTS, "toxic already exists")


def _path(text: str) -> re.Pattern[str]:
    return re.compile(text.replace("NAME", "([^/]+)"))


def _answer(status: int, body: Any) -> Response:
    return Response(status, _text(body), JSON)


def _refused(error: ProxyError) -> Response:
    return Response(error.status, _text(_error(error)), PLAIN)


def _error(error: ProxyError) -> bodies.Json:
    return {"error": error.text, "status": error.status}


def _text(body: Any) -> str:
    return json.dumps(body, separators=(",", ":"))
