"""The reason why a run was not judged, in one sentence: an outside failure, or a bug of ours.

1. A run that fails is reported with its path, and affects no other run.
2. An unforeseen exception is a bug of ours: it keeps its traceback.
"""

import os
import re
import traceback
from dataclasses import dataclass
from pathlib import Path

from spark_analysis.files.regular import NotRegular

OURS = "this is a defect of mqproof itself"
_SAID_MAX = 300


@dataclass(frozen=True, slots=True)
class Failed:
    """A run that was not judged."""

    run: str
    reason: str
    trace: str  # of a fault of ours; "" where it is the world's


def failed(run: str, folder: Path, error: Exception) -> Failed:
    if isinstance(error, OSError):
        return Failed(run, os_reason(error, folder), "")
    if isinstance(error, MemoryError):
        return Failed(run, f"{folder}: there is not enough memory to judge it", "")
    said = f"{type(error).__name__}: {error}"
    trace = "".join(traceback.format_exception(error))
    return Failed(run, f"{folder}: {OURS}: {said[:_SAID_MAX]}", trace)


def os_reason(error: OSError, place: Path | None) -> str:
    """Return the system's refusal and its path. `place`: if the error does not name it; None if no
    path is to blame."""
    if isinstance(error, NotRegular):
        return f"{error.filename}: {error.strerror}"
    # Arrow wraps the system's own words in its own.
    number = error.errno or next(map(int, re.findall(r"\[errno (\d+)\]", str(error))), 0)
    why = os.strerror(number) if number else str(error)
    where = error.filename or place
    return f"{where}: {why}" if where else f"the system refused something: {why}"
