"""Archives of somebody else, unpacked: files and folders only, and never more than a bound.

1. Sizes are added up before each member is written, so that a small archive cannot fill a disk.
2. A path that leaves the folder, or lies deeper than a pack's, is refused, whatever Python's own
   guard does (3.11.4 has one).
"""

import tarfile
from pathlib import Path, PurePosixPath

from harness.outside.files import guarded

UNPACKED_BYTES_MAX = 1 << 33
MEMBERS_MAX = 100_000
DEPTH_MAX = 12  # an experiment's pack has five


def unpack(archive: Path, into: Path, bytes_max: int = UNPACKED_BYTES_MAX) -> None:
    """Unpack a tar file. Raise ValueError for what is refused; OSError, EOFError, TarError."""
    total = 0
    with tarfile.open(archive) as tar:
        guarded(tar)
        for number, member in enumerate(tar, 1):
            _check(member)
            total += member.size
            if total > bytes_max:
                raise ValueError(f"it unpacks to more than {bytes_max:,} bytes")
            if number > MEMBERS_MAX:
                raise ValueError(f"it holds more than {MEMBERS_MAX:,} files")
            tar.extract(member, into)


def _check(member: tarfile.TarInfo) -> None:
    path = PurePosixPath(member.name)
    name = member.name if len(member.name) <= 100 else f"{member.name[:100]}..."
    if not (member.isreg() or member.isdir()):
        raise ValueError(f"{name} is neither a file nor a folder")
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{name} lies outside the folder that it is unpacked to")
    if len(path.parts) > DEPTH_MAX:
        raise ValueError(f"{name} lies deeper than {DEPTH_MAX} folders")
