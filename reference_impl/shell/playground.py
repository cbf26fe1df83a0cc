"""The temporary folder in which servers play, and their end: by Ctrl-C, by signals, by kill -9.

1. Ctrl-C, SIGTERM and SIGHUP stop the servers and remove the folder; a SIGHUP that was ignored
   before (nohup) stays ignored. Once the end has begun, a further signal changes nothing.
2. A sweeper, a process in a session of its own, reads a pipe that only we hold. If we are killed,
   it removes the folder as soon as the servers, which end with us, have left it.
"""

import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from reference_impl.shell.children import Children

PREFIX = "mqproof-reference-"
SWEEP_LIMIT_S = 30.0
QUIET_S = 1.0  # a server that still ends may write again
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def play_in(begin: Callable[[Path, Children], None]) -> int:
    """Begin in a new folder, and wait for the end of the servers or of us; the exit status."""
    _on_signals(signal.default_int_handler)
    folder, children = Path(tempfile.mkdtemp(prefix=PREFIX)), Children()
    sweeper = _sweeper(folder)
    try:
        begin(folder, children)
        return children.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        _on_signals(signal.SIG_IGN)
        children.stop()
        shutil.rmtree(folder, ignore_errors=True)
        sweeper.communicate()


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
