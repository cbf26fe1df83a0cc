"""The memory that a task may take for one run: the configured size, else a share of its host's."""

import os
from contextlib import suppress
from pathlib import Path

LEAST = 3 << 30  # what a run of 40 million rows takes that one thread judges
_SHARE = 4  # of so many parts of a machine one is ours, all tasks together
_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container; a word where there is none


def of_task(configured: int, threads: int) -> int:
    """Return the bytes of one task.

    `configured`: 0 if nothing is configured. `threads`: the number of cores that the task may use.
    """
    cores = os.cpu_count() or 1
    return configured or max(LEAST, of_machine() // _SHARE * min(threads, cores) // cores)


def of_machine() -> int:
    """Return the bytes of memory, or of the container's limit; 0 if both are unknown."""
    found = []
    with suppress(OSError, ValueError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):
        found.append(int(_LIMIT.read_text()))
    return min(found, default=0)
