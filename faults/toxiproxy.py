"""A Toxiproxy server, driven through toxiproxy-python with that library's defects hidden.

1. The library's `APIConsumer` stays the driver, but each `Toxiproxy` has a consumer class of its
   own: the library keeps host and port in class attributes, one server a process.
2. Every call has a deadline. The library has none, and its `Proxy` objects cannot take one, so
   they are not used.
3. Every error status becomes a `ToxiproxyError` with that status and the server's own text.
4. Nothing goes through the proxies that the environment may name.
5. Names are escaped in paths. The server takes a name with a slash and can never address it
   again (its router splits `%2F`, too; seen in 2.12.0): such a name is refused here.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import requests
from toxiproxy.api import APIConsumer
from toxiproxy.exceptions import InvalidToxic, NotFound, ProxyExists

from faults.core.model import FaultError

DEADLINE_S = 5.0
TOKEN = "MQPROOF_PROXY_TOKEN"  # in the environment of the embedded one, and of its callers
BAD_REQUEST, MISSING, EXISTS = 400, 404, 409
_RAISED_BY_LIBRARY = {InvalidToxic: BAD_REQUEST, NotFound: MISSING, ProxyExists: EXISTS}
_NO_PROXIES = {"http": None, "https": None, "all": None}


class ToxiproxyError(FaultError):
    """An answer of the server, or of the way to it. `status` is None if no answer came."""

    def __init__(self, call: str, status: int | None, text: str) -> None:
        super().__init__(f"toxiproxy: {call}: {status or 'no answer'}: {text}")
        self.status = status
        self.text = text

    @property
    def absent(self) -> bool:
        """The server knows no such proxy or toxic. Other 404s are about the path."""
        return self.status == MISSING and self.text in {"proxy not found", "toxic not found"}


@dataclass(frozen=True, slots=True)
class ProxyState:
    """A proxy as the server describes it; `port` is the listener's real one."""

    name: str
    listen: str
    upstream: str
    enabled: bool
    toxics: tuple[str, ...]

    @property
    def port(self) -> int:
        return int(self.listen.rpartition(":")[2])


@dataclass(frozen=True, slots=True)
class Toxic:
    """A toxic to add: what it does to which direction of a proxy's connections."""

    name: str
    type: str
    stream: str  # upstream (client to server) or downstream
    attributes: dict[str, int]
    toxicity: float = 1.0

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "stream": self.stream,
            "attributes": self.attributes,
            "toxicity": self.toxicity,
        }


class Toxiproxy:
    """One server. Its methods block, at most so long as `deadline_s` between two bytes. `token`:
    what it asks its callers for; the real one asks for none."""

    def __init__(
        self, host: str, port: int, deadline_s: float = DEADLINE_S, token: str = ""
    ) -> None:
        self._deadline_s = deadline_s
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._api = type("ApiConsumerOfOneServer", (APIConsumer,), {"host": host, "port": port})

    def version(self) -> str:
        return str(self._call("GET", "/version")["version"])

    def proxies(self) -> dict[str, ProxyState]:
        document = self._call("GET", "/proxies")
        return {name: _proxy_state(entry) for name, entry in document.items()}

    def create(self, name: str, upstream: str, listen: str = "0.0.0.0:0") -> ProxyState:
        """Raises ToxiproxyError(409) where the name is taken."""
        _part(name)
        body = {"name": name, "upstream": upstream, "listen": listen, "enabled": True}
        return _proxy_state(self._call("POST", "/proxies", body))

    def enable(self, name: str, enabled: bool) -> ProxyState:
        return _proxy_state(self._call("POST", f"/proxies/{_part(name)}", {"enabled": enabled}))

    def delete(self, name: str) -> None:
        self._call("DELETE", f"/proxies/{_part(name)}")

    def add_toxic(self, proxy: str, toxic: Toxic) -> None:
        """Raises ToxiproxyError(409) where the proxy has a toxic of that name."""
        self._call("POST", f"/proxies/{_part(proxy)}/toxics", toxic.to_json())

    def remove_toxic(self, proxy: str, toxic: str) -> None:
        """Raises ToxiproxyError(404) where there is no such toxic, or no such proxy."""
        self._call("DELETE", f"/proxies/{_part(proxy)}/toxics/{_part(toxic)}")

    def release(self, proxy: str, toxic: str) -> None:
        """Lets what a toxic holds flow, whole and at once, without removing it; raises as
        `remove_toxic`.

        Removing a stall whose client has closed meanwhile blocks the server until its write limit
        of 5 s has passed (2.12.0); removing one that flows does not. It is released by its
        toxicity: a new rate is read while bytes are being cut to it, and can crash the server.
        """
        self._call("POST", f"/proxies/{_part(proxy)}/toxics/{_part(toxic)}", {"toxicity": 0})

    def reset(self) -> None:
        """Enables every proxy and removes every toxic."""
        self._call("POST", "/reset")

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        call = f"{method} {path}"
        verb: Callable[..., requests.Response] = getattr(self._api, method.lower())
        options: dict[str, Any] = {
            "timeout": self._deadline_s,
            "proxies": _NO_PROXIES,
            "headers": self._headers,
        }
        if body is not None:
            options["json"] = body
        try:
            response = verb(path, **options)
        except tuple(_RAISED_BY_LIBRARY) as error:
            raise ToxiproxyError(
                call, _RAISED_BY_LIBRARY[type(error)], _text(error.args[0])
            ) from None
        except requests.RequestException as error:
            raise ToxiproxyError(call, None, str(error)) from error
        return _content(call, response)


def _content(call: str, response: requests.Response) -> Any:
    if response.status_code >= BAD_REQUEST:
        raise ToxiproxyError(call, response.status_code, _text(response.content))
    if not response.content:
        return None
    try:
        return response.json()
    except ValueError:
        raise ToxiproxyError(call, response.status_code, _text(response.content)) from None


def _text(content: bytes) -> str:
    """The server's own words: errors are `{"error": TEXT, "status": N}`, and some are plain."""
    try:
        return str(json.loads(content)["error"])
    except (ValueError, KeyError, TypeError):
        return content.decode(errors="replace").strip()


def _proxy_state(entry: dict[str, Any]) -> ProxyState:
    """The library's own `Proxy` refuses what newer servers add, and drops the toxics."""
    return ProxyState(
        name=entry["name"],
        listen=entry["listen"],
        upstream=entry["upstream"],
        enabled=entry["enabled"],
        toxics=tuple(toxic["name"] for toxic in entry.get("toxics") or ()),
    )


def _part(name: str) -> str:
    """A name as one part of a path."""
    if "/" in name or name in {"", ".", ".."}:
        raise ToxiproxyError(f"name {name!r}", None, "the server could not address it")
    return quote(name, safe="")
