"""A lock on a folder itself.

It needs no file, so a folder that cannot be written has one, too, and it ends with its process,
however that ends.
"""

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path


def lock(folder: Path, held: ExitStack, *, wait: bool) -> bool:
    """Until `held` is left. False: somebody else has it, and we did not wait."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return True  # the reader reports it
    held.callback(os.close, descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        pass  # this file system knows no locks
    return True
