"""The processes of clusters on this machine, found by what their environment says of them.

1. A process belongs to a cluster if its environment names it: nothing is found by a command line,
   nor by a pid that somebody remembered. Children inherit it, and so are found, too.
2. Only processes of this user are seen; one that has ended and waits for its parent is none.
3. A signal goes to the process that was looked at, never to a later one with the same pid.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.places import host_of, process_of

CLUSTER = "MQPROOF_CLUSTER"
FOLDER = "MQPROOF_FOLDER"  # of the cluster: its plan, configurations, logs and data
EXPERIMENT = "MQPROOF_EXPERIMENT"
OWNER = "MQPROOF_OWNER"
KEEP = "MQPROOF_KEEP"
ROLE = "MQPROOF_ROLE"
HOST = "MQPROOF_HOST"  # a node's host; for other roles the process's own name
PROCESS = "MQPROOF_PROCESS"  # a node's word in the layout: one of its host's processes
EXTERNAL = "MQPROOF_EXTERNAL"  # "1": of what is ours around a cluster that is not

NODE, PROXY, AGENT, WORKER = "node", "proxy", "agent", "worker"

_PROC = Path("/proc")
_MARK = f"{CLUSTER}=".encode()
_STOPPED = frozenset({"T", "t"})
_ENDED = frozenset({"Z", "X"})
_EXEC_LIMIT_S = 1.0


@dataclass(frozen=True, slots=True)
class Running:
    """One process as /proc shows it at one instant."""

    pid: int
    started_ticks: int
    state: str  # the kernel's letter: R, S, D, T, ...
    marks: tuple[tuple[str, str], ...]  # what its environment says of ours

    def mark(self, name: str) -> str:
        return dict(self.marks).get(name, "")

    def at(self, place: str) -> bool:
        """Whether it is of that host, or is that process of one (faults/places.py)."""
        process = process_of(place)
        return self.mark(HOST) == host_of(place) and process in ("", self.mark(PROCESS))

    @property
    def stopped(self) -> bool:
        return self.state in _STOPPED

    def signal(self, number: int) -> None:
        """No error where it is gone by now."""
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(self.pid)
            try:
                # The descriptor holds on to one process: if that is ours, it stays ours.
                if _started_ticks(self.pid) == self.started_ticks:
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)


def every() -> tuple[Running, ...]:
    """The processes of all clusters, oldest pid first."""
    pids = sorted(int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal())
    return tuple(found for pid in pids for found in _looked_at(pid))


def of(cluster: str, role: str = "", place: str = "") -> tuple[Running, ...]:
    """Those of one cluster; of one role; of one place, which for other roles than a node's is the
    process's own name."""
    return tuple(
        running
        for running in every()
        if running.mark(CLUSTER) == cluster
        and role in ("", running.mark(ROLE))
        and (not place or running.at(place))
    )


@retry(
    stop=stop_after_delay(_EXEC_LIMIT_S),
    wait=wait_fixed(0.001),
    retry=retry_if_result(lambda seen: not seen),
    retry_error_callback=lambda _: False,  # it has ended already: others tell that
)
def seen(pid: int) -> bool:
    """Whether a process that was just started can be found; waits for that a moment.

    The kernel tells whoever started it before it shows the new environment.
    """
    return bool(list(_looked_at(pid))) or not (_PROC / str(pid)).exists()


def _looked_at(pid: int) -> Iterator[Running]:
    """None or one: it may be somebody else's, or gone."""
    try:
        environment = (_PROC / str(pid) / "environ").read_bytes()
        if _MARK not in environment:
            return
        fields = _fields(pid)
    except (OSError, ValueError):
        return
    entries = (entry.decode(errors="replace").partition("=") for entry in environment.split(b"\0"))
    marks = tuple((name, value) for name, _, value in entries if name.startswith("MQPROOF_"))
    state, started_ticks = fields[0], int(fields[19])
    if state not in _ENDED and any(name == CLUSTER for name, _ in marks):
        yield Running(pid, started_ticks, state, marks)


def _started_ticks(pid: int) -> int | None:
    try:
        return int(_fields(pid)[19])
    except (OSError, ValueError):
        return None


def _fields(pid: int) -> list[str]:
    """Of /proc/PID/stat, from the state on: the name before it may hold blanks and brackets."""
    text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    fields = text.rpartition(")")[2].split()
    if len(fields) < 20:
        raise ValueError(f"/proc/{pid}/stat says {text!r}")
    return fields
