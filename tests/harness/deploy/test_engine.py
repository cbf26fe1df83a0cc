"""The engine is asked by many threads at once, and none ends another one's connection."""

import socketserver
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from docker.transport.unixconn import UnixHTTPAdapter

from harness.deploy import engine

THREADS, QUESTIONS = 32, 600


class Answering(BaseHTTPRequestHandler):
    """An engine whose containers are all empty."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = b'{"ApiVersion": "1.44"}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "a socket"

    def log_message(self, *_: object) -> None:
        pass


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 2 * THREADS


@pytest.fixture
def an_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with Server(str(tmp_path / "socket"), Answering) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path / 'socket'}")
        yield
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("an_engine")
def test_many_threads_ask_for_many_things_and_all_are_answered() -> None:
    client = engine.connect()
    with ThreadPoolExecutor(THREADS) as pool:
        requests = [pool.submit(client.api.inspect_container, str(it)) for it in range(QUESTIONS)]
        assert all(one.result() == {"ApiVersion": "1.44"} for one in requests)
    adapter = client.api.get_adapter("http+docker://localhost/one")
    assert isinstance(adapter, UnixHTTPAdapter)
    pools = {adapter.get_connection(f"http+docker://localhost/{it}") for it in range(100)}
    assert len(pools) == 1
    client.close()
