"""A lock on a folder itself.

It needs no file, so a folder that cannot be written has one, too, and it ends with its process,
however that ends.
"""

import fcntl
import os
from contextlib import ExitStack
from enum import Enum, auto
from pathlib import Path
from typing import NoReturn


class LockAnswer(Enum):
    """The answer to an attempt to take a lock."""

    TAKEN = auto()  # it is ours
    HELD = auto()  # another process has it, and we did not wait
    UNKNOWN = auto()  # the folder cannot be opened, or its file system knows no locks

    def __bool__(self) -> NoReturn:
        raise TypeError("a lock is not only taken or held: compare the answer")


def lock(folder: Path, held: ExitStack, *, wait: bool) -> LockAnswer:
    """Take the lock until `held` is left."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return LockAnswer.UNKNOWN  # the reader reports it
    held.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return LockAnswer.HELD
    except OSError:
        return LockAnswer.UNKNOWN
    return LockAnswer.TAKEN
