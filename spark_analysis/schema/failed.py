"""Why a run was not judged, in a sentence: what the world did, or that the fault is ours.

1. A run that fails is told with its path, and concerns no other run.
2. What nobody foresaw is a fault of ours, whatever it is: it keeps its traceback.
"""

import os
import re
import traceback
from dataclasses import dataclass
from pathlib import Path

OURS = "this is a fault of mqproof itself"
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


def os_reason(error: OSError, place: Path) -> str:
    """What the system refused, and where. `place`: where it does not say that itself."""
    # Arrow wraps the system's own words in its own.
    number = error.errno or next(map(int, re.findall(r"\[errno (\d+)\]", str(error))), 0)
    return f"{error.filename or place}: {os.strerror(number) if number else error}"
