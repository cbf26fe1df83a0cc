"""Files of a node that are replaced as a whole: each is whole, or is what it was before.

1. The content goes into `NAME.partial` first, which then takes the place of NAME.
"""

import os
from pathlib import Path


def replace(path: Path, octets: bytes, flushed: bool = False) -> None:
    """Write the file. `flushed`: it and its name are on the disk at the end. Raise OSError."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_bytes(octets)
    if flushed:
        sync(partial)
    partial.replace(path)
    if flushed:
        sync(path.parent)


def sync(path: Path) -> None:
    """Flush a file, or a folder's names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
