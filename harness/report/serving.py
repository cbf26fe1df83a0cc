"""A results folder for browsers on this machine: pages and files of verdicts, and nothing else.

`/` is the page of all experiments, rendered at each request, so that experiments that end
meanwhile are on it. What was read of a verdict.json is kept as long as the file does not change.
An experiment without a verdict, or with one that cannot be read, says what to do.

1. It listens on loopback. A page of somebody else's that calls itself by a name which leads here
   (DNS rebinding) is refused: only loopback's own names are answered.
2. Recordings, hidden files and lists of folders are not given out, nor is anything but a regular
   file that lies in the folder: no device, and nothing that a symlink leads out to.
3. A connection that brings nothing for IDLE_LIMIT_S is closed. Of more than CONNECTIONS_MAX the
   oldest is closed, so that many slow ones do not block others.
"""

import os
import shlex
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from harness.claims.judge import ClaimOutcome
from harness.judging import exits, verdict_file
from harness.judging.exits import Exit
from harness.judging.verdict_file import RunEntry
from harness.outside.files import is_file, is_folder
from harness.plan.model import Cell, cell_of
from harness.plan.problems import PlanError
from harness.report import html
from harness.report.page import formats
from harness.run_folder import experiments
from harness.run_folder.experiments import NoExperiment

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

    def translate_path(self, path: str) -> str:
        """Return the file that is meant. Its name may be octets that are no UTF-8, as on disks."""
        plain = path.partition("?")[0].partition("#")[0]
        name = unquote(plain, errors="surrogateescape")
        return super().translate_path(quote(name, errors="surrogatepass"))

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


ROWS_MAX = 1000
CELLS_SHOWN, CLAIMS_SHOWN = 3, 4
_KEPT = 2 * ROWS_MAX
_VERDICTS: dict[int, tuple[str, str]] = {  # tone and words, by exit code
    Exit.PASSED: ("pass", "passed"),
    Exit.FAILED: ("fail", "failed"),
    Exit.NOT_DECIDED: ("open", "not decided"),
    Exit.INTERRUPTED: ("open", "interrupted"),
    Exit.BAD_INPUT: ("open", "not complete: a run was refused as bad input"),
    Exit.CRASH: ("open", "not complete: an error in mqproof"),
}
_NOT_JUDGED, _UNREADABLE = ("open", "not judged yet"), ("open", "not readable")


class ExperimentRow:
    """What the page says of one experiment. `report`: a link, or "" where there is no report."""

    def __init__(self, folder: Path) -> None:
        verdict = folder / verdict_file.NAME
        try:
            found = _judged(verdict) if is_file(verdict) else _not_judged(folder)
        except Exception as failure:  # whatever it is, the other rows are shown
            found = (), 0, _UNREADABLE, f"{type(failure).__name__}: {failure}"
        cells, runs, (self.tone, self.verdict), self.detail = found
        more = len(cells) - CELLS_SHOWN
        self.name, self.began = folder.name, formats.dated(folder.name)
        self.cells = tuple(
            f"{scenario} on {system}, {layout}, {client}"
            for scenario, system, layout, client in cells[:CELLS_SHOWN]
        )
        self.more_cells = f"and {formats.plural(more, 'more cell')}" if more > 0 else ""
        self.runs = formats.plural(runs, "run")
        has_report = is_file(folder / html.NAME)
        self.report = f"{quote(os.fsencode(folder.name))}/{html.NAME}" if has_report else ""


def text(folder: Path, nights: str = "") -> str:
    """Return the page. `nights`: a link to the pages of all nights, or ""."""
    found = all_experiments(folder)
    return html.template("results.html").render(
        folder=folder.resolve().name,
        rows=[ExperimentRow(one) for one in found[:ROWS_MAX]],
        total=formats.plural(len(found), "experiment"),
        older=max(0, len(found) - ROWS_MAX),
        nights=nights,
        script=html.search_script(),
    )


def all_experiments(folder: Path) -> list[Path]:
    """Return the folders of the experiments in a results folder, the latest first."""
    dated = [(began_ns, one) for one in folder.iterdir() if (began_ns := _began_ns(one))]
    return [one for _, one in sorted(dated, reverse=True)]


# An experiment's cells, how many runs, its verdict, and what stands below that.
_Found = tuple[tuple[Cell, ...], int, tuple[str, str], str]


def _judged(verdict: Path) -> _Found:
    try:
        state = verdict.stat()
        return _outcome(verdict, state.st_mtime_ns, state.st_size)
    except (PlanError, OSError) as failure:
        return (), 0, _UNREADABLE, str(failure)


@lru_cache(maxsize=_KEPT)
def _outcome(verdict: Path, changed_ns: int, size: int) -> _Found:  # noqa: ARG001  (its key)
    document = verdict_file.read(verdict)
    runs, code = document.runs, document.exit_code
    if code is None:
        code = exits.of_claims(run.claims for run in runs)
    cells = dict.fromkeys(cell_of(run.cell) for run in runs)
    return tuple(cells), len(runs), _VERDICTS.get(code, _UNREADABLE), _claims(runs)


def _claims(runs: Iterable[RunEntry]) -> str:
    """Return the promises behind a verdict: those that were broken, or else not decided."""
    promises = [one for run in runs for one in run.claims if one.is_promise]
    broken, undecided = (
        list(dict.fromkeys(one.claim for one in promises if one.outcome is outcome))
        for outcome in (ClaimOutcome.FAIL, ClaimOutcome.INCONCLUSIVE)
    )
    word, names = ("broken", broken) if broken else ("not decided", undecided)
    more = len(names) - CLAIMS_SHOWN
    rest = f", and {more} more" if more > 0 else ""
    return f"{word}: {', '.join(names[:CLAIMS_SHOWN])}{rest}" if names else ""


def _not_judged(folder: Path) -> _Found:
    try:
        stored = experiments.recall(folder)
    except NoExperiment as failure:
        return (), 0, _UNREADABLE, str(failure)
    planned = [run for one in stored.experiments for run in one.runs]
    cells = dict.fromkeys(run.cell for run in planned)
    advice = shlex.join(["mqproof", "analyse", str(folder)])
    return tuple(cells), len(planned), _NOT_JUDGED, f"to judge it: {advice}"


def _began_ns(folder: Path) -> int:
    """Return when an experiment began, or else was judged; 0: it is no experiment's folder."""
    if is_folder(folder):
        for name in (experiments.NAME, verdict_file.NAME):
            if is_file(folder / name):
                with suppress(OSError):  # it is gone meanwhile
                    return (folder / name).stat().st_mtime_ns
    return 0
