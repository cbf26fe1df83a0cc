"""The processes of clusters on this machine, found by what their environment says of them.

1. A process belongs to a cluster if its environment names it: nothing is found by a command line,
   nor by a pid that somebody remembered. Children inherit it, and so are found, too.
2. Only processes of this user are seen. A process runs until its parent can read how it ended: the
   kernel first takes its memory, and with it the environment, which takes up to 0.1 s for 200 MB.
   What its environment said before is remembered until then.
3. A signal goes to the process that was looked at, never to a later one with the same pid.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tenacity import retry, retry_if_result, stop_after_delay, wait_fixed

from faults.core.places import host_of, process_of

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
_STATE, _THREADS, _STARTED = 0, 17, 19  # of the fields of /proc/PID/stat from the state on
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
        """Return whether it is of that host, or is that process of one (faults/core/places.py)."""
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


_remembered: dict[int, Running] = {}  # by pid, as each was when its environment was last read


def every() -> tuple[Running, ...]:
    """The processes of all clusters, oldest pid first."""
    pids = sorted(int(entry.name) for entry in _PROC.iterdir() if entry.name.isdecimal())
    for pid in set(_remembered) - set(pids):
        _remembered.pop(pid, None)
    return tuple(found for pid in pids for found in _looked_at(pid))


def of(cluster: str, role: str = "", place: str = "") -> tuple[Running, ...]:
    """Return the processes of one cluster; of one role; of one place, which for roles other than a
    node's is the process's own name."""
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
    """Return whether a process that was just started can be found; wait for that a moment.

    The kernel reports the start to the parent before it shows the new environment.
    """
    return bool(list(_looked_at(pid))) or not (_PROC / str(pid)).exists()


def _looked_at(pid: int) -> Iterator[Running]:
    """None or one: it may be somebody else's, or gone."""
    try:
        environment = _environment(pid)
        if environment and _MARK not in environment:
            _remembered.pop(pid, None)
            return
        fields = _fields(pid)
    except (OSError, ValueError):
        return
    state, started_ticks = fields[_STATE], int(fields[_STARTED])
    if state in _ENDED and int(fields[_THREADS]) <= 1:
        return
    if environment:
        marks = _marks(environment)
    else:
        before = _remembered.get(pid)
        marks = before.marks if before and before.started_ticks == started_ticks else ()
    if any(name == CLUSTER for name, _ in marks):
        _remembered[pid] = Running(pid, started_ticks, state, marks)
        yield _remembered[pid]


def _environment(pid: int) -> bytes:
    """Empty where the process has lost it already, or is another user's."""
    with suppress(OSError):
        return (_PROC / str(pid) / "environ").read_bytes()
    return b""


def _marks(environment: bytes) -> tuple[tuple[str, str], ...]:
    entries = (entry.decode(errors="replace").partition("=") for entry in environment.split(b"\0"))
    return tuple((name, value) for name, _, value in entries if name.startswith("MQPROOF_"))


def _started_ticks(pid: int) -> int | None:
    try:
        return int(_fields(pid)[_STARTED])
    except (OSError, ValueError):
        return None


def _fields(pid: int) -> list[str]:
    """Of /proc/PID/stat, from the state on: the name before it may hold blanks and brackets."""
    text = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    fields = text.rpartition(")")[2].split()
    if len(fields) <= _STARTED:
        raise ValueError(f"/proc/{pid}/stat says {text!r}")
    return fields
