"""Files that a person gives: their text, and never more of it than a bound.

1. What holds more than its bound is refused before it is held, and what is packed before it is
   unpacked, so that no file can fill the machine's memory.
2. Whatever stands in the way is `Unreadable`, told as what it is.
"""

import gzip
import os
import tarfile
import zlib
from pathlib import Path

TOML_BYTES_MAX = 1 << 20
JSON_BYTES_MAX = 1 << 28
HISTORY_BYTES_MAX = 1 << 29


class Unreadable(Exception):
    """There is no text to be had: why, without the path."""


def text_of(path: Path, bytes_max: int, encoding: str = "utf-8") -> str:
    """The file's text; of a .gz, of what is packed in it. Raises Unreadable."""
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            content = file.read(bytes_max + 1)
        if len(content) > bytes_max:
            raise Unreadable(f"it holds more than {bytes_max:,} bytes")
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"it is not UTF-8 text (byte {error.start})") from error
    # A path with a zero in it is a ValueError.
    except (OSError, EOFError, zlib.error, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise Unreadable(str(reason)) from error


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


def why_not_written(path: Path) -> str:
    """Why nothing could be put there, its folders made where they are missing; "" where it could.

    What is there already is looked at by whoever asks.
    """
    place = path.absolute()
    if "\0" in str(place):
        return "a path has no zero in it"
    try:
        place.exists()  # raises where a name is too long, or a folder is closed to us
        there = next(one for one in place.parents if one.exists())
        if not there.is_dir():
            return f"{there} is no folder"
    except OSError as error:
        return error.strerror or str(error)
    return "" if os.access(there, os.W_OK | os.X_OK) else f"{there} cannot be written"


def guarded(archive: tarfile.TarFile) -> tarfile.TarFile:
    """The archive, whose members stay in the folder: by Python's own guard (3.11.4 has it)."""
    if hasattr(tarfile, "data_filter"):
        archive.extraction_filter = tarfile.data_filter
    return archive
