"""The agent's connections to brokers with TLS: what they need, by the address that is dialled.

1. The agent makes the listeners of proxies itself, so it knows which broker each leads to: the
   certificate must hold that broker's name, not the proxy's.
2. A way that is unknown must hold the name that it is dialled by: it is never left unchecked.
"""

import http.client
import ssl
import urllib.request
from functools import partial
from typing import Any

from faults.self_connections import refuse_self_connection
from harness.workers import tls

_led: dict[int, str] = {}  # listeners' ports -> where they lead, `address:port`


def leads(port: int, upstream: str) -> None:
    """Note where a listener leads. A port that is used again leads to the last one."""
    _led[port] = upstream


def arguments(host: str, port: int) -> dict[str, Any]:
    """Return what asyncio's connections take for TLS; nothing where they are not encrypted."""
    found = tls.trust()
    if found is None:
        return {}
    return {"ssl": tls.context(), "server_hostname": _name(found, host, port)}


class HttpsHandler(urllib.request.HTTPSHandler):
    """HTTPS by the same authorities and names; without a topology's TLS as Python does it."""

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        found = tls.trust()
        if found is None:
            return super().https_open(request)
        connection = partial(_NamedConnection, trust=found)
        return self.do_open(connection, request, context=tls.context())


class _NamedConnection(http.client.HTTPSConnection):
    """A connection whose certificate must hold a name that may differ from the address."""

    def __init__(self, *arguments: Any, trust: tls.Trust, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._trust = trust
        self._ssl: ssl.SSLContext = options["context"]

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        refuse_self_connection(self.sock)
        name = _name(self._trust, self.host, self.port)
        self.sock = self._ssl.wrap_socket(self.sock, server_hostname=name)


def _name(found: tls.Trust, host: str, port: int) -> str:
    direct = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return found.ways.get(direct) or found.ways.get(_led.get(port, ""), host)
