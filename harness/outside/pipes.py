"""Pipes that a person gives instead of a file: `-` for standard input, or `<(command)` of a shell.

1. Only pipes without a name are read. A named pipe (FIFO) may never get a writer, so it is refused
   like every other special file.
2. A pipe that brings nothing for IDLE_LIMIT_S, or lasts longer than LIMIT_S, is given up.
"""

import os
import select
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.outside.files import Unreadable
from spark_analysis.files.regular import CHUNK_BYTES

STANDARD_INPUT = Path("-")
IDLE_LIMIT_S = 60.0
LIMIT_S = 600.0


def is_pipe(path: Path) -> bool:
    """Return whether the path means standard input, or a pipe without a name."""
    if path == STANDARD_INPUT:
        return True
    try:
        return stat.S_ISFIFO(path.stat().st_mode) and path.resolve().name.startswith("pipe:[")
    except (OSError, ValueError):
        return False


def content_of(
    path: Path, bytes_max: int, idle_limit_s: float = IDLE_LIMIT_S, limit_s: float = LIMIT_S
) -> bytes:
    """Return at most `bytes_max` + 1 octets, up to the end of the pipe. Raise Unreadable."""
    pieces, left, end_s = [], bytes_max + 1, time.monotonic() + limit_s
    with _opened(path) as descriptor:
        while left:
            wait_s = min(idle_limit_s, end_s - time.monotonic())
            if wait_s <= 0:
                raise Unreadable(f"it is a pipe that has not ended after {limit_s:g} s")
            if not select.select([descriptor], [], [], wait_s)[0]:
                raise Unreadable(f"it is a pipe that brought nothing for {wait_s:.0f} s")
            piece = os.read(descriptor, min(left, CHUNK_BYTES))
            if not piece:
                break
            pieces.append(piece)
            left -= len(piece)
    return b"".join(pieces)


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Yield a descriptor; standard input stays open. Raise Unreadable, OSError."""
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise Unreadable("standard input is closed")
        yield sys.stdin.fileno()
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
