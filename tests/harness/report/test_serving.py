"""The pages for browsers on this machine: who is answered, and with what."""

import http.client
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from harness.report import serving


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    given = "site/index.html", "e1/report.html", os.fsdecode(b"e\xff/report.html")
    for name in (*given, "e1/raw.parquet", ".hidden.html", "x/.h/a.html"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.fsencode(name))
    (tmp_path.parent / "outside.html").write_text("outside")
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "out.html").symlink_to(tmp_path.parent / "outside.html")
    (tmp_path / "in.html").symlink_to(tmp_path / "site" / "index.html")
    (tmp_path / "ring.html").symlink_to("ring.html")
    (tmp_path / "device.html").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "fifo.html")
    with serving.server(tmp_path, 0, lambda: "<p>experiments</p>") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def get(port: int, path: str, host: str = "127.0.0.1", method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request(method, path, headers={"Host": f"{host}:{port}"})
    answer = connection.getresponse()
    body = answer.read().decode(errors="replace")
    connection.close()
    return answer.status, answer.getheader("Location") or body


def test_the_first_page_is_rendered_and_files_are_read(port: int) -> None:
    assert get(port, "/") == (200, "<p>experiments</p>")
    assert get(port, "/", method="HEAD") == (200, "")
    assert get(port, "/site/index.html") == (200, "site/index.html")
    assert get(port, "/e1/report.html", host="localhost")[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/e1/",
        "/e1/raw.parquet",
        "/.hidden.html",
        "/x/.h/a.html",
        "/../outside.html",
        "/site/%2e%2e/%2e%2e/outside.html",
        "/nothing.html",
        "/a%00.html",
        "/%ff%00%fe.html",
        "/folder.html",
        "/folder.html/",
        "/out.html",
        "/ring.html",
        "/device.html",
        "/fifo.html",
        "/" + "x" * 5_000 + ".html",
    ],
)
def test_recordings_hidden_files_and_outside_paths_are_not_served(port: int, path: str) -> None:
    """List no folder either."""
    assert get(port, path)[0] == 404


def test_a_name_that_is_no_utf8_is_found(port: int) -> None:
    assert get(port, "/e%FF/report.html?x=1")[0] == 200
    assert get(port, "/e1%2Freport.html")[0] == 200
    assert get(port, "/..%2Foutside.html")[0] == 404


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_foreign_host_name_that_leads_here_is_refused(port: int, method: str) -> None:
    assert get(port, "/site/index.html", host="evil.example", method=method)[0] == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_the_server_refuses_every_writing_method(port: int, method: str) -> None:
    assert get(port, "/site/index.html", method=method)[0] == 501


def test_a_symlink_within_the_folder_is_followed(port: int) -> None:
    assert get(port, "/in.html") == (200, "site/index.html")


@pytest.mark.parametrize("begun", [b"", b"GET /site/index.html HTTP/1.1\r\nHost: local"])
def test_slow_connections_do_not_block_others(port: int, begun: bytes) -> None:
    slow, others = [], threading.active_count()
    try:
        for _ in range(300):
            slow.append(socket.create_connection(("127.0.0.1", port), timeout=5))
            slow[-1].sendall(begun)
        assert get(port, "/site/index.html")[0] == 200
        assert _threads_end_below(others + serving.CONNECTIONS_MAX + 20)
    finally:
        for one in slow:
            one.close()


@retry(stop=stop_after_delay(20), wait=wait_fixed(0.05), retry=retry_if_result(lambda ok: not ok))
def _threads_end_below(most: int) -> bool:
    return threading.active_count() < most


def test_a_connection_that_brings_nothing_is_closed(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving._Pages, "timeout", 0.1)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as silent:
        assert silent.recv(1) == b""
