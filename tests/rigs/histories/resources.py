"""Rows of the raw table `resources`, told by hand: what hosts had used, second by second."""

from collections.abc import Iterable

from tests.rigs.histories.by_hand import History, ns

ZERO = {
    "cpu_ns": 0,
    "memory_bytes": 0,
    "network_received_bytes": 0,
    "network_sent_bytes": 0,
    "disk_read_bytes": 0,
    "disk_written_bytes": 0,
}


def sample(history: History, host: str, at_ms: float, **counters: int) -> History:
    """One sample; a counter that is not named reads 0."""
    row = {"host": host, "at_ns": ns(at_ms), **ZERO, **counters}
    history.rows.setdefault("resources", []).append(row)
    return history


def sampled(
    history: History, host: str, at_ms: Iterable[float], *, cores: float, memory_bytes: int
) -> History:
    """A host that uses so many cores all the time, and so much memory."""
    for each in at_ms:
        cpu_ns = round(ns(each) * cores) + 1
        sample(history, host, each, cpu_ns=cpu_ns, memory_bytes=memory_bytes)
    return history
