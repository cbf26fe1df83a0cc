"""The thin layer over toxiproxy-python, against a server with scripted answers."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from faults.toxiproxy import Toxic, Toxiproxy, ToxiproxyError

PROXY = {
    "name": "a.b",
    "listen": "[::]:43541",
    "upstream": "rmq1:5672",
    "enabled": True,
    "Logger": {},
    "toxics": [{"name": "t_upstream", "type": "bandwidth"}],
}


@dataclass
class Script:
    """What the server answers, and what it was asked."""

    status: int = 200
    body: bytes = b"{}"
    wait_s: float = 0.0
    requests: list[tuple[str, str, object]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    script: Script

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.script.requests.append((self.command, self.path, json.loads(body) if body else None))
        self.script.over.wait(self.script.wait_s)
        self.send_response(self.script.status)
        self.send_header("Content-Length", str(len(self.script.body)))
        self.end_headers()
        self.wfile.write(self.script.body)

    do_GET = do_POST = do_DELETE = _answer

    def log_message(self, *_: object) -> None:
        pass


def serve(script: Script) -> ThreadingHTTPServer:
    handler = type("ScriptedHandler", (Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


@pytest.fixture
def script() -> Iterator[Script]:
    made = Script()
    yield made
    made.over.set()


@pytest.fixture
def server(script: Script) -> Iterator[ThreadingHTTPServer]:
    made = serve(script)
    yield made
    script.over.set()
    made.shutdown()
    made.server_close()


@pytest.fixture
def toxiproxy(server: ThreadingHTTPServer) -> Toxiproxy:
    return Toxiproxy("127.0.0.1", server.server_port, deadline_s=0.5)


def test_a_created_proxy_reports_its_real_port(toxiproxy: Toxiproxy, script: Script) -> None:
    script.status, script.body = 201, json.dumps(PROXY).encode()
    created = toxiproxy.create("a.b", "rmq1:5672")
    assert (created.port, created.toxics) == (43541, ("t_upstream",))
    body = {"name": "a.b", "upstream": "rmq1:5672", "listen": "0.0.0.0:0", "enabled": True}
    assert script.requests == [("POST", "/proxies", body)]


def test_a_toxic_is_added_with_its_attributes(toxiproxy: Toxiproxy, script: Script) -> None:
    toxiproxy.add_toxic("a.b", Toxic("t_upstream", "bandwidth", "upstream", {"rate": 0}))
    body = {
        "name": "t_upstream",
        "type": "bandwidth",
        "stream": "upstream",
        "attributes": {"rate": 0},
        "toxicity": 1.0,
    }
    assert script.requests == [("POST", "/proxies/a.b/toxics", body)]


def test_a_stall_is_released_by_toxicity_and_never_by_rate(
    toxiproxy: Toxiproxy, script: Script
) -> None:
    """Removing a stall whose client has closed blocks the real server for 5 s; this does not, and
    a new rate once crashed it (2.12.0, slice bounds out of range in BandwidthToxic)."""
    toxiproxy.release("a.b", "stall")
    body = {"toxicity": 0}
    assert script.requests == [("POST", "/proxies/a.b/toxics/stall", body)]


def test_names_are_escaped(toxiproxy: Toxiproxy, script: Script) -> None:
    script.status, script.body = 204, b""
    toxiproxy.remove_toxic("run 1?", "t%")
    assert script.requests == [("DELETE", "/proxies/run%201%3F/toxics/t%25", None)]


@pytest.mark.parametrize("name", ["a/b", ".", "..", ""])
def test_a_name_that_could_never_be_addressed_is_refused(
    toxiproxy: Toxiproxy, script: Script, name: str
) -> None:
    with pytest.raises(ToxiproxyError, match="could not address"):
        toxiproxy.create(name, "rmq1:5672")
    assert script.requests == []


@pytest.mark.parametrize("status", [400, 403, 404, 405, 409, 500, 503])
def test_every_error_status_is_an_error_with_the_servers_words(
    toxiproxy: Toxiproxy, script: Script, status: int
) -> None:
    script.status = status
    script.body = json.dumps({"error": "listen tcp: in use", "status": status}).encode()
    with pytest.raises(ToxiproxyError) as raised:
        toxiproxy.create("p", "rmq1:5672")
    assert (raised.value.status, raised.value.text) == (status, "listen tcp: in use")


@pytest.mark.parametrize(
    ("text", "absent"),
    [
        (b'{"error": "toxic not found", "status": 404}', True),
        (b'{"error": "proxy not found", "status": 404}', True),
        (b"404 page not found", False),
    ],
)
def test_only_a_missing_thing_is_absent(
    toxiproxy: Toxiproxy, script: Script, text: bytes, absent: bool
) -> None:
    script.status, script.body = 404, text
    with pytest.raises(ToxiproxyError) as raised:
        toxiproxy.remove_toxic("p", "t")
    assert raised.value.absent == absent


def test_a_server_that_hangs_is_given_up(toxiproxy: Toxiproxy, script: Script) -> None:
    script.wait_s = 30.0
    began = time.monotonic()
    with pytest.raises(ToxiproxyError) as raised:
        toxiproxy.version()
    assert raised.value.status is None
    assert time.monotonic() - began < 10.0


def test_no_server_is_an_error(server: ThreadingHTTPServer, toxiproxy: Toxiproxy) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(ToxiproxyError, match="no answer"):
        toxiproxy.proxies()


def test_a_reply_that_is_not_json_is_an_error(toxiproxy: Toxiproxy, script: Script) -> None:
    script.body = b"<html>"
    with pytest.raises(ToxiproxyError, match="<html>"):
        toxiproxy.proxies()


def test_two_servers_are_two_servers(toxiproxy: Toxiproxy, script: Script) -> None:
    other_script = Script(body=b'{"version": "other"}')
    other = serve(other_script)
    script.body = b'{"version": "first"}'
    try:
        second = Toxiproxy("127.0.0.1", other.server_port)
        assert (toxiproxy.version(), second.version()) == ("first", "other")
        assert toxiproxy.version() == "first"
    finally:
        other.shutdown()
        other.server_close()


def test_the_environments_proxies_are_not_used(
    toxiproxy: Toxiproxy, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.body = b'{"version": "2.12.0"}'
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert toxiproxy.version() == "2.12.0"
