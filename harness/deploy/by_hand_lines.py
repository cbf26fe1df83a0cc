"""JSON lines between a keeper and a command line: what each side says.

1. A request is one line with `do`; while its answer comes, a second line may ask for its end.
2. An answer is lines with `say`; the last one is `end`, with the exit code.
3. A socket is found by its folder: the path of a socket may have 107 bytes, and a folder has more.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.deploy.by_hand_files import SOCKET

STATUS, FAULT, DOWN, INTERRUPT = "status", "fault", "down", "interrupt"  # `do`
CHECK, RUN, START = "check", "run", "start"  # of `mqproof run --on-standing`
STEP, STEP_ENDED, MESSAGE = "step", "step_ended", "message"  # `say`, with `text` or `seconds`
REFUSED, FAILED, CRASHED = "refused", "failed", "crashed"
CLUSTERS, UP, END = "clusters", "up", "end"
CLEAN, ATTACHED, STARTED, ENDED = "clean", "attached", "started", "ended"  # to a run
LINE_BYTES_MAX = 1 << 20
GO = b"go\n"  # to a keeper that is up: it may outlive its parent


@contextmanager
def socket_path(folder: Path) -> Iterator[str]:
    """Yield a short path of the folder's socket. Raise OSError."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}/{SOCKET}"
    finally:
        os.close(descriptor)
