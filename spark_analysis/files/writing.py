"""Files that mqproof writes: each is whole, or is what it was before.

1. The content goes into `NAME.partial` first, which then takes the place of NAME.
2. If the disk refuses, the partial file is removed and the error names the file: a full disk's own
   error has no path.
3. Only regular files are replaced: as root, a device would be gone. A symlink is never followed.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from spark_analysis.files.regular import check_replaceable, remove_fifo

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


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield where to write what takes the place of `path` at the end. Raise OSError.

    After any exception `path` is as it was.
    """
    partial = path.with_name(f"{path.name}.partial")
    try:
        with naming(path):
            check_replaceable(path)
            remove_fifo(partial)
            yield partial
            partial.replace(path)
    except BaseException:
        # On a full disk it would stand in the way of its like.
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: str | bytes, *, durable: bool = False) -> Path:
    """Write the file and return its path. Raise OSError.

    Characters that UTF-8 does not have (lone surrogates of file names) become question marks.
    `durable`: the content is on the disk before it takes its place.
    """
    written = content.encode("utf-8", "replace") if isinstance(content, str) else content
    with replacing(path) as partial, partial.open("wb") as stream:
        stream.write(written)
        if durable:
            stream.flush()
            os.fsync(stream.fileno())
    return path
