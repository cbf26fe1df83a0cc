"""The clock of the day: servers' own logs tell the time by it; runs themselves do without."""

import time


def wall_ns(monotonic_ns: int) -> int:
    """What it would have said then, in ns since 1970, had it always run as it runs now."""
    return time.time_ns() - (time.monotonic_ns() - monotonic_ns)
