"""The standby: a small process that takes the guardian's place if harness and guardian both die.

1. The guardian starts it and holds the only other end of its pipe. The line `done` ends it.
2. The pipe's end without that line means that the guardian was killed. While the harness lives,
   the harness starts another guardian; the standby ends as soon as that one runs.
3. If the harness is dead, too, the standby becomes a guardian itself: it executes the guardian's
   command with an empty standard input, so that the new guardian undoes all faults at once.
4. It sits in a session of its own and ignores the signals that people send to a harness.
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.deploy.owner import alive, owner_of

DONE = b"done\n"
# Both are in the environment: a `pkill -f guardian` must not find the standby.
HARNESS = "MQPROOF_GUARDED"  # the harness that the guardian watches
GUARDIAN = "MQPROOF_GUARDIAN"  # the guardian's command line, as JSON
STOP_LIMIT_S = 5.0
POLL_S = 0.1
_MODULE = "harness.cleanup.standby"
_IGNORED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def beside(guardian: Sequence[str], experiment: Path) -> Iterator[None]:
    """Keep a standby while the calling guardian works.

    `guardian`: the guardian's command line. `experiment`: shown in lists of processes.
    """
    try:
        process = _begin(guardian, experiment)
    except OSError:  # no memory, no process more: the guardian watches without one
        yield
        return
    assert process.stdin is not None, "it was started with a pipe"
    try:
        yield
    finally:
        with suppress(OSError):  # somebody killed it
            process.stdin.write(DONE)
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_LIMIT_S)


def _begin(guardian: Sequence[str], experiment: Path) -> "subprocess.Popen[bytes]":
    """Raise OSError."""
    harness = os.environ.get(HARNESS) or owner_of(os.getppid())
    return subprocess.Popen(
        [sys.executable, "-m", _MODULE, str(experiment)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, HARNESS: harness, GUARDIAN: json.dumps(list(guardian))},
        cwd=Path(__file__).parents[2],
        start_new_session=True,
    )


def main() -> int:
    guardian = json.loads(os.environ[GUARDIAN])
    for number in _IGNORED:
        signal.signal(number, signal.SIG_IGN)
    if sys.stdin.buffer.readline() == DONE:
        return 0
    if _succeeded(guardian, os.environ[HARNESS]):
        return 0
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    return os.execv(guardian[0], guardian)


def _succeeded(guardian: Sequence[str], harness: str) -> bool:
    """Wait while the harness lives; return whether it started another guardian meanwhile."""
    try:
        ended = os.pidfd_open(int(harness.partition(" ")[0]))
    except OSError:
        return False
    while alive(harness):
        if _runs(guardian):
            return True
        select.select([ended], [], [], POLL_S)
    return False


def _runs(command: Sequence[str]) -> bool:
    """Return whether any process has this command line."""
    wanted = b"\0".join(os.fsencode(word) for word in command) + b"\0"
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            if path.read_bytes() == wanted:
                return True
    return False


if __name__ == "__main__":
    sys.exit(main())
