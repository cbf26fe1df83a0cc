"""Files that a person gives: their text, and never more of it than a bound.

1. What holds more than its bound is refused before it is held, and what is packed before it is
   unpacked, so that no file can fill the machine's memory.
2. Only regular files are read. Where a caller accepts a pipe, outside/pipes.py bounds its time.
3. Whatever stands in the way is `Unreadable`, told as what it is.
"""

import gzip
import lzma
import os
import tarfile
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from spark_analysis.files.regular import check_replaceable, opened, read_up_to

TOML_BYTES_MAX = 1 << 20
JSON_BYTES_MAX = 1 << 28
HISTORY_BYTES_MAX = 1 << 29
FOLDER_GONE, FOLDER_ADVICE = "the current folder is gone", "cd to one that exists"


class Unreadable(Exception):
    """There is no text to be had: why, without the path."""


def text_of(path: Path, bytes_max: int, encoding: str = "utf-8") -> str:
    """The file's text; of a .gz or .xz, of what is packed in it. Raises Unreadable."""
    try:
        with opened(path) as file:
            content = _read(path, file, bytes_max)
        return decoded(content, bytes_max, encoding)
    # A path with a zero in it is a ValueError.
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise Unreadable(str(reason)) from error


def decoded(content: bytes, bytes_max: int, encoding: str) -> str:
    """The text of what was read up to a bound. Raises Unreadable."""
    if len(content) > bytes_max:
        raise Unreadable(f"it holds more than {bytes_max:,} bytes")
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 text (byte {error.start})") from error


def _read(path: Path, file: BinaryIO, bytes_max: int) -> bytes:
    if path.name.endswith(".gz"):
        with gzip.GzipFile(fileobj=file) as packed:
            return read_up_to(cast(BinaryIO, packed), bytes_max)
    if path.name.endswith(".xz"):
        with lzma.LZMAFile(file) as packed_by_xz:
            return read_up_to(cast(BinaryIO, packed_by_xz), bytes_max)
    return read_up_to(file, bytes_max)


def is_folder(path: Path) -> bool:
    """Whether a folder is there that can be looked at: a path that cannot be is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):  # too long, or in a folder that is closed to us
        return False


def is_file(path: Path) -> bool:
    """The same of a file."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def real_path(path: Path) -> Path:
    """Where the links of a path lead; as it is where they lead round or that cannot be known."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # no current folder; a zero; a ring of links
        return path


def why_not_written(path: Path) -> str:
    """Return why nothing can be written there, "" if it can. Folders may be missing.

    The caller checks for existing files.
    """
    if "\0" in str(path):
        return "a path has no zero in it"
    if not path.is_absolute() and is_folder_gone():
        return f"{FOLDER_GONE}: {FOLDER_ADVICE}"
    place = real_path(path.absolute().parent) / path.name
    try:
        if any(one.is_symlink() for one in place.parents):
            return "its symbolic links lead round in a ring: name another place"
        place.exists()  # raises where a name is too long, or a folder is closed to us
        there = next(one for one in place.parents if one.exists())
        if not there.is_dir():
            return f"{there} is no folder"
    except OSError as error:
        return error.strerror or str(error)
    return "" if os.access(there, os.W_OK | os.X_OK) else f"{there} cannot be written"


def why_not_replaced(path: Path) -> str:
    """Return why what a user names must not be overwritten, "" if it may be, or is not there."""
    if path.is_symlink():
        return "it is a symlink, which is not followed: name the file itself"
    try:
        check_replaceable(path)
    except OSError as error:
        return f"{error.strerror}: name another file"
    return ""


def is_folder_gone() -> bool:
    """Whether somebody removed the folder that this process is in."""
    try:
        Path.cwd()
    except OSError:
        return True
    return False


def guarded(archive: tarfile.TarFile) -> tarfile.TarFile:
    """The archive, whose members stay in the folder: by Python's own guard (3.11.4 has it)."""
    if hasattr(tarfile, "data_filter"):
        archive.extraction_filter = tarfile.data_filter
    return archive
