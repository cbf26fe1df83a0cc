"""A results folder for browsers on this machine: pages and files of verdicts, and nothing else.

1. It listens on loopback. A page of somebody else's that calls itself by a name which leads here
   (DNS rebinding) is refused: only loopback's own names are answered.
2. Recordings, hidden files and lists of folders are not given out.
"""

from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from harness.nightly.site import INDEX, SITE

LOOPBACK = "127.0.0.1"
NAMES = (LOOPBACK, "localhost")
KINDS = (".html", ".json", ".xml")


def server(folder: Path, port: int) -> ThreadingHTTPServer:
    """Not serving yet. `port` 0: any that is free. Raises OSError."""
    return ThreadingHTTPServer((LOOPBACK, port), partial(_Pages, directory=str(folder)))


def shown(path: str) -> bool:
    """Whether a request's path may be answered with a file."""
    told = PurePosixPath(unquote(urlsplit(path).path))
    return told.suffix in KINDS and not any(part.startswith(".") for part in told.parts)


class _Pages(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self._is_answered():
            super().do_GET()

    def do_HEAD(self) -> None:
        if self._is_answered():
            super().do_HEAD()

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _is_answered(self) -> bool:
        host = self.headers.get("Host", "")
        name, _, port = host.partition(":")
        if name not in NAMES or not (port or "0").isdigit():
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return False
        if urlsplit(self.path).path == "/":
            self.send_response(HTTPStatus.FOUND)
            self.send_header("Location", f"/{SITE}/{INDEX}")
            self.end_headers()
            return False
        if not shown(self.path):
            self.send_error(HTTPStatus.NOT_FOUND)
            return False
        return True
