"""Memory and disk of this operating system process, for its node's alarms.

1. Linux says how much; on other systems nothing is in use, and no alarm is raised.
2. What a process frees, its allocator may keep: under an alarm it has to give it back, or the
   alarm would never be over.
"""

import ctypes
import os
from contextlib import suppress
from pathlib import Path

_STATUS = Path("/proc/self/statm")
_SHARE = 0.4  # of the machine's memory, as RabbitMQ's vm_memory_high_watermark


def resident_octets() -> int:
    with suppress(OSError, ValueError, IndexError):
        return int(_STATUS.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def high_watermark() -> int:
    """Return the watermark of a node without a configured one; 0 if the machine does not say what
    it has."""
    with suppress(OSError, ValueError):
        return int(_SHARE * os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return 0


def free_octets(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def give_back() -> None:
    """glibc's alone."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
