"""A results folder for browsers on this machine: pages and files of verdicts, and nothing else.

`/` is the page of all experiments (results_page.py), rendered at each request.

1. It listens on loopback. A page of somebody else's that calls itself by a name which leads here
   (DNS rebinding) is refused: only loopback's own names are answered.
2. Recordings, hidden files and lists of folders are not given out, nor is anything but a regular
   file that lies in the folder: no device, and nothing that a symlink leads out to.
3. A connection that brings nothing for IDLE_LIMIT_S is closed. Of more than CONNECTIONS_MAX the
   oldest is closed, so that many slow ones do not block others.
"""

import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

LOOPBACK = "127.0.0.1"
NAMES = (LOOPBACK, "localhost")
KINDS = (".html", ".json", ".xml")
IDLE_LIMIT_S = 10.0
CONNECTIONS_MAX = 64


def server(folder: Path, port: int, first_page: Callable[[], str]) -> ThreadingHTTPServer:
    """Return a server that does not serve yet. `port` 0: any that is free. `first_page`: the HTML
    of `/`. Raise OSError."""
    handler = partial(_Pages, directory=str(folder), first_page=first_page)
    return _Server((LOOPBACK, port), handler)


def shown(path: str) -> bool:
    """Whether a request's path may be answered with a file."""
    path_part = PurePosixPath(unquote(urlsplit(path).path))
    return path_part.suffix in KINDS and not any(part.startswith(".") for part in path_part.parts)


def lies_inside(folder: Path, path: Path) -> bool:
    """Whether that is a regular file in the folder, wherever symlinks lead."""
    try:
        real = path.resolve(strict=True)
        return real.is_relative_to(folder.resolve()) and real.is_file()
    except (OSError, ValueError, RuntimeError):  # a path with a zero; a ring of symlinks
        return False


class _Server(ThreadingHTTPServer):
    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        self._open: dict[int, socket.socket] = {}  # by id, the oldest first
        self._lock = threading.Lock()
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open[id(request)] = request
            surplus = list(self._open.values())[:-CONNECTIONS_MAX]
        for oldest in surplus:
            self._close(oldest)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(id(request), None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no news."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def _close(self, request: socket.socket) -> None:
        """Its thread finds the end, and forgets it."""
        with self._lock:
            self._open.pop(id(request), None)
        with suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)


class _Pages(SimpleHTTPRequestHandler):
    timeout = IDLE_LIMIT_S

    def __init__(self, *arguments: Any, first_page: Callable[[], str], **options: Any) -> None:
        self._first_page = first_page
        super().__init__(*arguments, **options)  # it handles the request here

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
            self._send_first_page()
            return False
        path = Path(self.translate_path(self.path))
        if not (shown(self.path) and lies_inside(Path(self.directory), path)):
            self.send_error(HTTPStatus.NOT_FOUND)
            return False
        return True

    def _send_first_page(self) -> None:
        content = self._first_page().encode("utf-8", "replace")
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
