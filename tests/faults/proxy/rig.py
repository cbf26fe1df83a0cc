"""Live proxies for tests: the embedded server in a process of its own, and sockets around it."""

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.contract.servers import HOST, Server, embedded


class Live:
    """A running embedded proxy, and what was opened around it."""

    def __init__(self, server: Server, stack: ExitStack) -> None:
        self.server = server
        self._stack = stack

    def listen(self) -> socket.socket:
        return self._stack.enter_context(socket.create_server((HOST, 0), backlog=512))

    def proxy(self, name: str, upstream: str | socket.socket) -> tuple[str, int]:
        if isinstance(upstream, socket.socket):
            upstream = "{}:{}".format(*upstream.getsockname())
        body = {"name": name, "listen": f"{HOST}:0", "upstream": upstream}
        listen = self.ask("POST", "/proxies", body)["listen"]
        return HOST, int(listen.rpartition(":")[2])

    def pair(
        self, address: tuple[str, int], upstream: socket.socket
    ) -> tuple[socket.socket, socket.socket]:
        client = self._stack.enter_context(socket.create_connection(address, timeout=20.0))
        server = self._stack.enter_context(upstream.accept()[0])
        server.settimeout(20.0)
        return client, server

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        connection = http.client.HTTPConnection(HOST, self.server.port, timeout=20.0)
        with contextlib.closing(connection):
            connection.request(method, path, json.dumps(body) if body is not None else None)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status < 400, text
            return json.loads(text) if text else None


@contextmanager
def live() -> Iterator[Live]:
    with embedded() as server, ExitStack() as stack:
        yield Live(server, stack)
