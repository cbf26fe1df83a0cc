"""The temporary folder in which servers play, and their end: by Ctrl-C, by signals, by kill -9.

1. Ctrl-C, SIGTERM and SIGHUP stop the servers and remove the folder; a SIGHUP that was ignored
   before (nohup) stays ignored. Once the end has begun, a further signal changes nothing.
2. A sweeper, a process in a session of its own, reads a pipe that only we hold. If we are killed,
   it removes the folder as soon as the servers, which end with us, have left it.
3. Nothing is started if a port is taken. If one server does not start, all are stopped.
"""

import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from reference_impl.shell.children import Children

HOST = "127.0.0.1"
BAD_INPUT, DID_NOT_START = 254, 2  # exit codes
PREFIX = "mqproof-reference-"
SWEEP_LIMIT_S = 30.0
QUIET_S = 1.0  # a server that still ends may write again
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class NotStarted(Exception):
    """Servers that ended before clients could dial them; its text names them."""


def play_in(begin: Callable[[Path, Children], None], ports: Iterable[int]) -> int:
    """Begin in a new folder, wait for the end of the servers or of us; return the exit code.

    `begin` raises NotStarted. `ports`: every one that the servers will listen on.
    """
    if taken := [port for port in ports if _is_taken(port)]:
        _print_taken(taken)
        return BAD_INPUT
    _on_signals(signal.default_int_handler)
    folder, children = Path(tempfile.mkdtemp(prefix=PREFIX)), Children()
    sweeper = _sweeper(folder)
    try:
        begin(folder, children)
        return children.wait()
    except NotStarted as names:
        print(f"{names} did not start; everything is stopped", file=sys.stderr, flush=True)
        return DID_NOT_START
    except KeyboardInterrupt:
        return 0
    finally:
        _on_signals(signal.SIG_IGN)
        children.stop()
        shutil.rmtree(folder, ignore_errors=True)
        sweeper.communicate()


def _is_taken(port: int) -> bool:
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the servers do
        try:
            trial.bind((HOST, port))
        except OSError:
            return True
    return False


def _print_taken(ports: list[int]) -> None:
    listed = ", ".join(map(str, ports))
    print(
        f"--port: another program uses {listed} on {HOST}; expected: free ports. "
        f"Choose another --port, or end that program.",
        file=sys.stderr,
        flush=True,
    )


def _on_signals(handler: object) -> None:
    for number in _ENDING:
        # SIGTERM is what stops us without a terminal: a shell's background jobs ignore SIGINT.
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)  # type: ignore[arg-type]


def _sweeper(folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "reference_impl.shell.playground", str(folder)],
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


@retry(
    stop=stop_after_delay(SWEEP_LIMIT_S),
    wait=wait_fixed(0.2),
    retry=retry_if_result(lambda swept: not swept),
    retry_error_callback=lambda _: False,
)
def _swept(folder: Path, gone_since: list[float]) -> bool:
    """Remove the folder; return whether it has stayed away for QUIET_S."""
    if folder.exists():
        gone_since.clear()
        with suppress(OSError):
            shutil.rmtree(folder)
    elif not gone_since:
        gone_since.append(time.monotonic())
    return bool(gone_since) and time.monotonic() - gone_since[0] >= QUIET_S


def main(folder: Path) -> int:
    for number in _ENDING:
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()  # until the end of the user's session
    if not folder.exists():
        return 0
    return 0 if _swept(folder, []) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
