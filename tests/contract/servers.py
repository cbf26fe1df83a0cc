"""The two servers that one contract binds: the real Toxiproxy and the embedded proxy.

1. Each is a process of its own on a free loopback port, and its starter ends it.
2. The real binary is named by MQPROOF_TOXIPROXY_BINARY, or copied out of mqproof's own image.
"""

import contextlib
import http.client
import io
import os
import re
import socket
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from harness.outside.files import guarded
from tests.rigs.machine.ports import free_port

BINARY = "MQPROOF_TOXIPROXY_BINARY"
REPOSITORY = Path(__file__).parents[2]
HOST = "127.0.0.1"
START_LIMIT_S = 20.0
ANSWER_LIMIT_S = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said."""

    status: int
    content_type: str | None
    body: str


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `crashed` says that its process is gone."""

    port: int
    process_id: int
    crashed: Callable[[], bool]

    def ask(
        self, method: str, path: str, body: str = "", headers: tuple[tuple[str, str], ...] = ()
    ) -> Answer:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=ANSWER_LIMIT_S)
        with contextlib.closing(connection):
            connection.request(method, path, body.encode("latin-1"), dict(headers))
            said = connection.getresponse()
            return Answer(
                status=said.status,
                content_type=said.getheader("Content-Type"),
                body=said.read().decode(),
            )

    def ask_raw(self, octets: bytes) -> list[int]:
        """The statuses that come back for these bytes until the server closes."""
        with socket.create_connection((HOST, self.port), timeout=ANSWER_LIMIT_S) as connection:
            connection.sendall(octets)
            said = b"".join(iter(lambda: connection.recv(1 << 16), b""))
        return [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3}) ", said)]


Start = Callable[[], contextlib.AbstractContextManager[Server]]


@contextmanager
def embedded() -> Iterator[Server]:
    command = [sys.executable, "-m", "faults.proxy", "--port", "0", "--with-parent"]
    with _process(command) as process:
        assert process.stdout is not None
        listening = re.search(rb":(\d+)", process.stdout.readline())
        assert listening is not None, "the embedded proxy did not start"
        yield Server(int(listening[1]), process.pid, lambda: process.poll() is not None)


@contextmanager
def real(binary: str) -> Iterator[Server]:
    port = free_port()
    with _process([binary, "-host", HOST, "-port", str(port)], quiet=True) as process:
        server = Server(port, process.pid, lambda: process.poll() is not None)
        for attempt in Retrying(
            stop=stop_after_delay(START_LIMIT_S),
            wait=wait_fixed(0.02),
            retry=retry_if_exception_type(ConnectionRefusedError),
            reraise=True,
        ):
            with attempt:
                server.ask("GET", "/version")
        yield server


def binary_from_image(folder: Path) -> str:
    """The binary out of mqproof's own image; the caller has made sure that it is there."""
    from harness.deploy import engine, images

    client = engine.connect(5.0)
    image = images.proxy_image()
    names = [image.official, images.tag_of(image)]
    container = client.containers.create(next(name for name in names if images.has(client, name)))
    try:
        stream, _ = container.get_archive("/toxiproxy")
        with tarfile.open(fileobj=io.BytesIO(b"".join(stream))) as archive:
            guarded(archive).extract("toxiproxy", folder)
    finally:
        container.remove()
    path = folder / "toxiproxy"
    path.chmod(0o755)
    return str(path)


@contextmanager
def _process(command: list[str], quiet: bool = False) -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL if quiet else subprocess.PIPE,
        env={**os.environ, "LOG_LEVEL": "disabled"},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=START_LIMIT_S)
