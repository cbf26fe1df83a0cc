"""Which process made something, in a form that outlives it: pid, start time and boot.

1. A pid alone is used again by others; with its start time and the boot it is not.
"""

import os
from pathlib import Path


def owner() -> str:
    """`<pid> <start ticks> <boot id>` of this process."""
    return f"{os.getpid()} {_start_ticks(os.getpid())} {_boot_id()}"


def alive(text: str) -> bool:
    """Whether the process that `owner` described still runs on this machine."""
    pid, _, rest = text.partition(" ")
    ticks, _, boot = rest.partition(" ")
    return pid.isdecimal() and boot == _boot_id() and ticks == _start_ticks(int(pid)) != "0"


def _start_ticks(pid: int) -> str:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return "0"
    # The second field is the command's name in brackets and may hold blanks and brackets.
    return text.rpartition(")")[2].split()[19]


def _boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return "unknown"
