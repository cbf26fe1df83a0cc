"""Which process made something, in a form that outlives it: pid, start time and boot.

1. A pid alone is used again by others; with its start time and the boot it is not.
2. A process that has ended is dead, even while its parent has not read its status (a zombie).
"""

import os
from pathlib import Path

_ENDED = ("Z", "X")


def owner() -> str:
    """`<pid> <start ticks> <boot id>` of this process."""
    return owner_of(os.getpid())


def alive(text: str) -> bool:
    """Whether the process that `owner` described still runs on this machine."""
    pid, _, rest = text.partition(" ")
    ticks, _, boot = rest.partition(" ")
    return pid.isdecimal() and boot == _boot_id() and ticks == _start_ticks(int(pid)) != "0"


def owner_of(pid: int) -> str:
    """Describe another process as `owner` describes this one."""
    return f"{pid} {_start_ticks(pid)} {_boot_id()}"


def _start_ticks(pid: int) -> str:
    """Return the start time of a living process; "0" if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "0"
    # The second field is the command's name in brackets and may hold blanks and brackets.
    fields = text.rpartition(")")[2].split()
    return "0" if fields[0] in _ENDED else fields[19]


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return "unknown"
