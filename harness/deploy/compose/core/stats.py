"""PURE: Docker's statistics of a container become what a host had used so far.

1. A host's network belongs to the container that owns the namespace; CPU, memory and disk belong
   to its processes.
2. Counters begin again when a process is started again; `HostUse` adds up, so that reported values
   never decrease.
3. A host is reported when each of its containers was sampled once: a part is no sum.
4. A missing value counts as nothing used: some kernels keep no disk counters.
"""

from dataclasses import dataclass
from typing import Any

from harness.cluster.port import HostSample


@dataclass(frozen=True, slots=True)
class Counters:
    """What one container had used since it was started."""

    cpu_ns: int
    network_received_bytes: int
    network_sent_bytes: int
    disk_read_bytes: int
    disk_written_bytes: int


@dataclass(frozen=True, slots=True)
class StatsSample:
    """One container's statistics at one instant."""

    memory_bytes: int
    counters: Counters


def read(statistics: dict[str, Any]) -> StatsSample:
    """Of one message of the engine's stream."""
    memory = statistics.get("memory_stats") or {}
    networks = (statistics.get("networks") or {}).values()
    usage = (statistics.get("cpu_stats") or {}).get("cpu_usage") or {}
    return StatsSample(
        memory_bytes=_resident(memory),
        counters=Counters(
            cpu_ns=int(usage.get("total_usage") or 0),
            network_received_bytes=sum(int(network["rx_bytes"]) for network in networks),
            network_sent_bytes=sum(int(network["tx_bytes"]) for network in networks),
            disk_read_bytes=_disk(statistics, "read"),
            disk_written_bytes=_disk(statistics, "write"),
        ),
    )


class HostUse:
    """Adds up the containers of one host."""

    def __init__(self, host: str, containers: frozenset[str]) -> None:
        self._host = host
        self._containers = containers
        self._last: dict[str, StatsSample] = {}
        self._before: dict[str, dict[str, int]] = {}

    def take(self, container: str, look: StatsSample) -> None:
        last = self._last.get(container)
        before = self._before.setdefault(container, dict.fromkeys(Counters.__slots__, 0))
        if last is not None:
            for name in Counters.__slots__:
                was = getattr(last.counters, name)
                if getattr(look.counters, name) < was:
                    before[name] += was
        self._last[container] = look

    def sample(self, at_ns: int) -> HostSample | None:
        if self._containers > self._last.keys():
            return None
        total = {
            name: sum(
                self._before[container][name] + getattr(look.counters, name)
                for container, look in self._last.items()
            )
            for name in Counters.__slots__
        }
        memory = sum(look.memory_bytes for look in self._last.values())
        return HostSample(host=self._host, at_ns=at_ns, memory_bytes=memory, **total)


def _resident(memory: dict[str, Any]) -> int:
    """Without the page cache, as `docker stats` counts it."""
    details = memory.get("stats") or {}
    cache = details.get("total_inactive_file", details.get("inactive_file", 0))
    return max(0, int(memory.get("usage") or 0) - int(cache or 0))


def _disk(statistics: dict[str, Any], operation: str) -> int:
    entries = (statistics.get("blkio_stats") or {}).get("io_service_bytes_recursive") or ()
    return sum(
        int(entry["value"]) for entry in entries if str(entry.get("op")).lower() == operation
    )
