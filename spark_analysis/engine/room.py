"""How much memory a task may take for one run: as it was told, else a share of its machine's."""

import os
from contextlib import suppress
from pathlib import Path

LEAST = 3 << 30  # what a run of 40 million rows takes that one thread judges
_SHARE = 4  # of so many parts of a machine one is ours, all tasks together
_LIMIT = Path("/sys/fs/cgroup/memory.max")  # of a container; a word where there is none


def of_task(told: int, hands: int) -> int:
    """Bytes. `told`: 0 where nothing was; `hands`: so many of the machine's cores are its."""
    cores = os.cpu_count() or 1
    return told or max(LEAST, of_machine() // _SHARE * min(hands, cores) // cores)


def of_machine() -> int:
    """Bytes that there are, or may be used; 0 where nobody tells."""
    found = []
    with suppress(OSError, ValueError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(OSError, ValueError):
        found.append(int(_LIMIT.read_text()))
    return min(found, default=0)
