"""A proxy between two sockets that a scenario holds by hand, and words for what they see.

1. Nothing is waited for without a limit: `soon` for what must happen, `quiet` for what must not.
2. Observations are words, so that two servers can be compared: "FIN", "RST", "silent", the bytes,
   "after about 300 ms".
"""

import json
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tests.contract.servers import HOST, Server

SOON_S = 5.0
QUIET_S = 0.25
# Where the proxies listen. No connection to them has this address as its own, so that no port of
# theirs is taken by one while they are disabled.
PROXY_HOST = "127.0.0.2"
EARLY_MS, LATE_MS = 40, 900  # two busy cores may be late; nothing may be early


class Peer:
    """One end of a connection."""

    def __init__(self, connection: socket.socket) -> None:
        self._socket = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send(self, text: str) -> None:
        self.send_octets(text.encode())

    def send_octets(self, octets: bytes) -> None:
        self._socket.settimeout(SOON_S)
        self._socket.sendall(octets)

    def fill(self, limit: int) -> int:
        """Sends until nothing more is taken for a while; how much that was."""
        self._socket.settimeout(4 * QUIET_S)
        sent = 0
        try:
            while sent < limit:
                sent += self._socket.send(b"x" * min(65_536, limit - sent))
        except TimeoutError:
            pass
        return sent

    def soon(self) -> str:
        """What comes first: bytes, FIN or RST."""
        return self._hear(SOON_S)

    def quiet(self) -> str:
        """As `soon`, but expected to be silent."""
        return self._hear(QUIET_S)

    def whole(self, count: int) -> str:
        """So many bytes, or what came instead of the rest."""
        octets, end = self._read(count)
        text = f"{len(octets)} bytes" if len(octets) > 40 else repr(octets.decode())
        return text if end is None else f"{text}, then {end}"

    def intact(self, expected: bytes) -> str:
        octets, end = self._read(len(expected))
        if octets == expected:
            return f"all {len(expected)} bytes"
        return f"{len(octets)} of {len(expected)} bytes, then {end}"

    def finish(self) -> None:
        self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        self._socket.close()

    def reset(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._socket.close()

    def _hear(self, limit_s: float) -> str:
        self._socket.settimeout(limit_s)
        try:
            octets = self._socket.recv(1 << 16)
        except TimeoutError:
            return "silent"
        except (ConnectionResetError, BrokenPipeError):
            return "RST"
        return repr(octets.decode()) if octets else "FIN"

    def _read(self, count: int) -> tuple[bytes, str | None]:
        octets = bytearray()
        deadline = time.monotonic() + SOON_S
        while len(octets) < count:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            try:
                part = self._socket.recv(min(1 << 16, count - len(octets)))
            except TimeoutError:
                return bytes(octets), "silent"
            except ConnectionResetError:
                return bytes(octets), "RST"
            if not part:
                return bytes(octets), "FIN"
            octets += part
        return bytes(octets), None


class Rig:
    """A server with one proxy, `p`, whose upstream the scenario plays itself."""

    def __init__(self, server: Server, stack: ExitStack) -> None:
        self.server = server
        self._stack = stack
        self.upstream = self.listen()
        self.address = self.create("p", self.upstream)

    def create(self, name: str, upstream: socket.socket) -> tuple[str, int]:
        body = {"name": name, "listen": f"{PROXY_HOST}:0", "upstream": at(upstream)}
        self._stack.callback(lambda: self.server.ask("DELETE", f"/proxies/{name}"))
        return _address(self.ask("POST", "/proxies", body)["listen"])

    def listen(self) -> socket.socket:
        """Another upstream."""
        return self._stack.enter_context(socket.create_server((HOST, 0), backlog=256))

    def connect(self, address: tuple[str, int] | None = None) -> Peer:
        return Peer(
            self._stack.enter_context(
                socket.create_connection(address or self.address, timeout=SOON_S)
            )
        )

    def accept(self, upstream: socket.socket | None = None) -> Peer:
        listening = upstream or self.upstream
        listening.settimeout(SOON_S)
        return Peer(self._stack.enter_context(listening.accept()[0]))

    def pair(self, upstream: socket.socket | None = None) -> tuple[Peer, Peer]:
        """A client and its server, between which bytes have flowed both ways."""
        client, server = self.new_pair(upstream)
        client.send("?")
        assert server.soon() == "'?'"
        server.send("!")
        assert client.soon() == "'!'"
        return client, server

    def new_pair(self, upstream: socket.socket | None = None) -> tuple[Peer, Peer]:
        return self.connect(), self.accept(upstream)

    def refused(self) -> str:
        try:
            self.connect().close()
        except ConnectionRefusedError:
            return "refused"
        return "accepted"

    def toxic(
        self, type: str, stream: str = "downstream", toxicity: float = 1, **attributes: int
    ) -> None:
        """Its name is its type and its stream."""
        body = {"type": type, "stream": stream, "toxicity": toxicity, "attributes": attributes}
        self.ask("POST", "/proxies/p/toxics", body)

    def update(self, toxic: str, **fields: Any) -> None:
        self.ask("POST", f"/proxies/p/toxics/{toxic}", fields)

    def remove(self, toxic: str) -> None:
        self.ask("DELETE", f"/proxies/p/toxics/{toxic}")

    def change(self, **fields: Any) -> Any:
        return self.ask("POST", "/proxies/p", fields)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.server.ask(method, path, "" if body is None else json.dumps(body))
        assert answer.status < 400, answer
        return json.loads(answer.body) if answer.body else None


@contextmanager
def rigged(server: Server) -> Iterator[Rig]:
    with ExitStack() as stack:
        yield Rig(server, stack)


def timed(due_ms: int, look: Callable[[], str], began: float | None = None) -> str:
    """What is seen, and whether it came when it was due, counted from `began` or from now."""
    began = time.monotonic() if began is None else began
    seen = look()
    took_ms = (time.monotonic() - began) * 1000
    if due_ms - EARLY_MS <= took_ms <= due_ms + LATE_MS:
        return f"{seen} after about {due_ms} ms"
    return f"{seen} after {took_ms:.0f} ms, not {due_ms} ms"


def at(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"{host}:{port}"


def _address(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"(.*):(\d+)", text)
    assert found is not None, text
    return found[1], int(found[2])
