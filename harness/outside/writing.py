"""Files that mqproof writes for people and programs: each is whole, or is what it was before.

1. The content goes into `NAME.partial` first, which then takes the place of NAME.
2. If the disk refuses, the partial file is removed and the error names the file: a full disk's own
   error has no path.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

FULL = (errno.ENOSPC, errno.EDQUOT)  # a disk, or what a user may have of it


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file's path to an error of a full disk, which does not name it."""
    try:
        yield
    except OSError as failure:
        if failure.filename is not None:
            raise
        reason = os.strerror(failure.errno) if failure.errno else str(failure)
        raise OSError(failure.errno, reason, str(path)) from failure


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write the file and return its path. Raises OSError.

    Characters that UTF-8 does not have (lone surrogates of file names) become question marks.
    """
    written = content.encode("utf-8", "replace") if isinstance(content, str) else content
    partial = path.with_name(f"{path.name}.partial")
    try:
        with naming(path):
            partial.write_bytes(written)
            partial.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
    return path
