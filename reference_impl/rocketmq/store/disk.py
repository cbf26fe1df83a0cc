"""The port of a store to its disk.

1. A series is files of equal size, as one stretch of octets from its first file on. What was never
   written is zero.
2. What was written survives the end of the process, and only what was flushed survives the loss of
   power: `Series.flush` is the difference.
3. A document appears whole or not at all.
"""

from typing import Protocol


class Series(Protocol):
    """One stretch of octets. Every place is counted from the beginning of time, not of the first
    file that is still there."""

    @property
    def file_octets(self) -> int: ...

    @property
    def first(self) -> int:
        """Return where the first file that is there begins."""

    @property
    def allocated(self) -> int:
        """Return where the last one ends; `first` if there is none."""

    def write(self, at: int, octets: bytes) -> None:
        """Within one file."""

    def read(self, at: int, count: int) -> bytes:
        """Fewer where a file or the series ends."""

    def flush(self, start: int, end: int) -> None:
        """Make what stands there survive the loss of power."""

    def truncate(self, at: int) -> None:
        """Make what stands there and after zero, or remove it."""


class Disk(Protocol):
    """The folder of one broker."""

    def series(self, folder: str, file_octets: int) -> Series: ...

    def folders(self, folder: str) -> list[str]:
        """Names of the folders in there."""

    def drop(self, folder: str) -> None:
        """With all that is in it."""

    def document(self, name: str) -> bytes | None:
        """None: there is none."""

    def keep(self, name: str, document: bytes, flushed: bool = False) -> None:
        """`flushed`: it survives the loss of power, too."""

    def forget(self, name: str) -> None:
        """Of a document."""
