"""A limit on the size of files, as a full disk sets one, for a process that compiles nothing.

1. Python stores each module that it imports as a `.pyc` file. Many versions do not check that the
   file was written whole (python/cpython#126606), so a limit leaves half of it.
2. All later processes read that half and end with `EOFError: marshal data too short`: an agent
   of a local cluster, for example, before it can answer. So no limit without rule 3.
3. A limited process stores no `.pyc` file.
"""

import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def small_files(bytes_max: int) -> Iterator[None]:
    """Limit the files of this process. The error has no path, as a full disk's."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    stored = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = stored


def child_with_small_files(bytes_max: int) -> dict[str, Any]:
    """Return the arguments by which `subprocess` or asyncio starts a limited Python process."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_max, bytes_max))

    return {"preexec_fn": limit, "env": {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}}
