"""Standard output and standard error as mqproof writes to them: what they refuse ends nothing.

1. A reader that went away (`| head`) and a stream that was closed (`>&-`) are no failure.
2. Anything else that a stream refuses (a full disk) is remembered with the stream's name. Then the
   rest goes nowhere, and the work goes on: an experiment is worth more than its output.
3. A descriptor that was closed is opened on /dev/null first. Otherwise the next file that mqproof
   opens would get its number, and whatever prints would write into that file.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO


@dataclass(slots=True)
class Outlet:
    """A stream that does not fail; anything but writing is the stream's own."""

    stream: TextIO
    name: str
    refusals: list[str] = field(default_factory=list)

    def write(self, text: str) -> int:
        try:
            return self.stream.write(text)
        except (OSError, ValueError) as error:  # a closed stream is a ValueError
            self._refused(error)
            return len(text)

    def flush(self) -> None:
        try:
            self.stream.flush()
        except (OSError, ValueError) as error:
            self._refused(error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def _refused(self, error: OSError | ValueError) -> None:
        if isinstance(error, OSError) and error.errno != errno.EPIPE:
            self.refusals.append(f"{self.name}: {error.strerror or error}")
        # What the stream still holds is written with the next flush: it must go somewhere.
        with suppress(OSError, ValueError):
            _nowhere(self.stream.fileno())


@contextmanager
def guarded() -> Iterator[Outlet]:
    """Put outlets in the place of both streams; yield that of standard output."""
    for descriptor in (0, 1, 2):
        _open(descriptor)
    kept = sys.stdout, sys.stderr
    out = Outlet(kept[0] or _null(), "standard output")
    err = Outlet(kept[1] or _null(), "standard error")
    sys.stdout, sys.stderr = out, err
    try:
        yield out
    finally:
        out.flush()
        err.flush()
        sys.stdout, sys.stderr = kept


def _open(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        _nowhere(descriptor)


def _nowhere(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)


def _null() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")
