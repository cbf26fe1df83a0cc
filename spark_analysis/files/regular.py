"""Files that somebody else may have put there: only regular files are opened, and read to a bound.

1. A FIFO without a writer would block for ever, and a device may have no end. Both are refused, as
   an OSError that names the kind and the path.
2. No more is allocated than a file holds, whatever its limit is.
"""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

from spark_analysis.schema.declared import parsed

CHUNK_BYTES = 1 << 20
_KINDS = {
    stat.S_IFIFO: "a FIFO (named pipe)",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


class NotRegular(OSError):
    """A file that is none, or too large: why, in its `strerror`."""


def check_regular(path: Path) -> os.stat_result:
    """Return what the file system says of a regular file. Raise OSError for anything else."""
    looks = path.stat()
    if stat.S_ISDIR(looks.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(looks.st_mode):
        raise NotRegular(errno.EINVAL, _expected(looks), str(path))
    return looks


def check_replaceable(path: Path) -> None:
    """Raise OSError if no file may take this place: it is a folder, a device, a FIFO, a socket, or
    a symlink to one of these. Any other symlink is replaced itself, and not followed."""
    try:
        looks = path.stat()
    except OSError:  # nothing is there, or nothing that can be looked at: the write shows it
        return
    if stat.S_ISDIR(looks.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(looks.st_mode):
        raise NotRegular(errno.EPERM, _expected(looks), str(path))


def _expected(looks: os.stat_result) -> str:
    kind = _KINDS.get(stat.S_IFMT(looks.st_mode), "a special file")
    return f"it is {kind}; a regular file was expected"


def opened(path: Path) -> BufferedReader:
    """Open a regular file for reading. Raise OSError."""
    check_regular(path)
    # Between the look and the opening somebody may have put a FIFO there: it must not block.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegular(errno.EINVAL, "it is no regular file any more", str(path))
    return os.fdopen(descriptor, "rb")


def content_of(path: Path, bytes_max: int | None = None) -> bytes:
    """Return all octets of a regular file. Raise OSError, also for more than `bytes_max`."""
    with opened(path) as file:
        content = read_up_to(file, bytes_max)
    if bytes_max is not None and len(content) > bytes_max:
        raise NotRegular(errno.EFBIG, f"it holds more than {bytes_max:,} bytes", str(path))
    return content


def json_of(path: Path, bytes_max: int) -> Any:
    """Return the document in a regular file. Raise OSError; ValueError if it is no JSON."""
    return parsed(content_of(path, bytes_max))


def read_up_to(file: BinaryIO, bytes_max: int | None) -> bytes:
    """Return at most `bytes_max` + 1 octets, read piece by piece."""
    if bytes_max is None:
        return file.read()
    pieces, left = [], bytes_max + 1
    while left and (piece := file.read(min(left, CHUNK_BYTES))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def remove_fifo(path: Path) -> None:
    """Remove a FIFO that lies where a file is to be written: opening it would block."""
    if path.is_fifo():
        path.unlink()
