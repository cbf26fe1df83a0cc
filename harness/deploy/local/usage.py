"""Resource use of a local cluster's processes, second by second, from /proc.

1. Brokers are reported by host, the proxy and all workers together by these words; the agent is
   not measured.
2. The use of an ended process stays counted, so reported values never decrease. Its use after the
   last sample before its end is unknown.
3. Linux counts no network for a process: received and sent are always 0 here.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from faults.executors import local_processes as processes
from faults.executors.local_processes import Running
from harness.cluster.port import HostSample
from harness.deploy.local.site import PROXY_NAME

INTERVAL_S = 1.0
WORKERS = "workers"
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Use:
    """What one process had used by now, and the memory that it holds."""

    cpu_ns: int
    read_bytes: int
    written_bytes: int
    memory_bytes: int


class Usage:
    """Adds up the processes of each host, those that have ended, too."""

    def __init__(self, hosts: tuple[str, ...]) -> None:
        self._seen: dict[str, dict[tuple[int, int], Use]] = {host: {} for host in hosts}

    def take(self, host: str, process: tuple[int, int], use: Use) -> None:
        """`process`: pid and start, which no other process has."""
        self._seen.setdefault(host, {})[process] = use

    def samples(self, at_ns: int, living: frozenset[tuple[int, int]]) -> tuple[HostSample, ...]:
        return tuple(
            HostSample(
                host=host,
                at_ns=at_ns,
                cpu_ns=sum(use.cpu_ns for use in uses.values()),
                memory_bytes=sum(u.memory_bytes for key, u in uses.items() if key in living),
                network_received_bytes=0,
                network_sent_bytes=0,
                disk_read_bytes=sum(use.read_bytes for use in uses.values()),
                disk_written_bytes=sum(use.written_bytes for use in uses.values()),
            )
            for host, uses in self._seen.items()
        )


async def watch(cluster: str, hosts: tuple[str, ...]) -> AsyncIterator[HostSample]:
    """Samples until the generator is closed."""
    usage = Usage((*hosts, PROXY_NAME, WORKERS))
    while True:
        living = set()
        for running in processes.of(cluster):
            use = _use(running.pid)
            if use is not None and (host := _host(running)):
                key = (running.pid, running.started_ticks)
                usage.take(host, key, use)
                living.add(key)
        for sample in usage.samples(time.monotonic_ns(), frozenset(living)):
            yield sample
        await asyncio.sleep(INTERVAL_S)


def _host(running: Running) -> str:
    roles = {
        processes.NODE: running.mark(processes.HOST),
        processes.PROXY: PROXY_NAME,
        processes.WORKER: WORKERS,
    }
    return roles.get(running.mark(processes.ROLE), "")


def _use(pid: int) -> Use | None:
    """None where the process has ended by now."""
    folder = Path(f"/proc/{pid}")
    try:
        fields = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        resident = int((folder / "statm").read_text().split()[1])
        entries = (line.partition(": ") for line in (folder / "io").read_text().splitlines())
        counted = {name: int(value) for name, _, value in entries}
        return Use(
            cpu_ns=(int(fields[11]) + int(fields[12])) * 1_000_000_000 // _TICKS_PER_S,
            read_bytes=counted["read_bytes"],
            written_bytes=counted["write_bytes"],
            memory_bytes=resident * _PAGE_BYTES,
        )
    except (OSError, IndexError, KeyError, ValueError):
        return None
