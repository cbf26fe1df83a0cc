"""The end of a broker's log, as much of it as a run's folder holds.

1. A broker that writes without end fills no disk and no memory here: of what came since the last
   fetch the last BYTES_MAX are kept, and the file says there how much is left out.
2. What verdicts are made of goes by no such way: it is whole, or missed.
"""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO

BYTES_MAX = 32 << 20  # of each log, a run
_SLACK = 4 << 20
LeftOut = Mapping[str, int]  # file in broker_logs/ -> bytes that are not in it; only those


class Tail:
    """A file that keeps only the last part of what is written to it."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._kept = bytearray()
        self.left_out = 0

    def add(self, chunk: bytes) -> None:
        self._kept += chunk
        if len(self._kept) > self._bytes_max + _SLACK:
            self._trim()

    def append_to(self, file: Path) -> None:
        """Raises OSError."""
        self._trim()
        with file.open("ab") as log:
            log.write(gap(self.left_out))
            log.write(self._kept)

    def _trim(self) -> None:
        surplus = len(self._kept) - self._bytes_max
        if surplus > 0:
            del self._kept[:surplus]
            self.left_out += surplus


def append_new(source: Path, target: Path, known: int, bytes_max: int) -> tuple[int, int]:
    """Appends what `source` has beyond its first `known` bytes, the last `bytes_max` of that; how
    many bytes it had, and how many of them are left out. Raises OSError."""
    if not source.exists():
        return known, 0
    with source.open("rb") as log, target.open("ab") as file:
        size = source.stat().st_size
        begin = max(known, size - bytes_max)
        file.write(gap(begin - known))
        log.seek(begin)
        _copy(log, file, max(0, size - begin))
    return max(known, size), begin - known


def append_all(source: Path, target: Path, known: int) -> int:
    """All of what is new, whatever it is; how many bytes `source` had. Raises OSError."""
    if not source.exists():
        return known
    target.parent.mkdir(exist_ok=True)
    with source.open("rb") as log, target.open("ab") as file:
        log.seek(known)
        shutil.copyfileobj(log, file)
        return log.tell()


def those_cut(found: Iterable[tuple[str, int]]) -> LeftOut:
    return {name: left_out for name, left_out in found if left_out}


def gap(left_out: int) -> bytes:
    """What stands in a log where some of it is left out."""
    return f"[mqproof: {left_out:,} bytes are left out here]\n".encode() if left_out else b""


def _copy(log: BinaryIO, file: BinaryIO, count: int) -> None:
    """So many bytes: a log may grow faster than it is read."""
    while count > 0 and (chunk := log.read(min(count, _SLACK))):
        file.write(chunk)
        count -= len(chunk)
