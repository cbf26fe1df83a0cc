"""The pages for browsers on this machine: who is answered, and with what."""

import http.client
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.nightly import serving


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    given = "site/index.html", "e1/report.html"
    for name in (*given, "e1/raw.parquet", ".hidden.html", "x/.h/a.html"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path.parent / "outside.html").write_text("outside")
    with serving.server(tmp_path, 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def asked(port: int, path: str, host: str = "127.0.0.1", method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    connection.request(method, path, headers={"Host": f"{host}:{port}"})
    answer = connection.getresponse()
    told = answer.read().decode()
    connection.close()
    return answer.status, answer.getheader("Location") or told


def test_the_first_page_is_a_step_away(port: int) -> None:
    assert asked(port, "/") == (302, "/site/index.html")
    assert asked(port, "/site/index.html") == (200, "site/index.html")
    assert asked(port, "/e1/report.html", host="localhost")[0] == 200


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
    ],
)
def test_lists_recordings_hidden_files_and_what_lies_outside_are_not_given_out(
    port: int, path: str
) -> None:
    assert asked(port, path)[0] == 404


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_somebody_elses_name_that_leads_here_is_refused(port: int, method: str) -> None:
    assert asked(port, "/site/index.html", host="evil.example", method=method)[0] == 421


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_written(port: int, method: str) -> None:
    assert asked(port, "/site/index.html", method=method)[0] == 501
