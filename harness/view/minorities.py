"""Times in which faults that overlapped left less than a majority of the nodes reachable.

1. Only what was recorded counts: verified faults, the hosts that they hit, and the hosts that held
   the queue when the first of them began. If any of it is unknown, nothing is said.
2. It names no cause: why a queue was unavailable only the brokers know.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from faults.core.isolation import isolates
from faults.core.places import split
from faults.kinds import KINDS
from harness.plan.checks.majorities import Minority, minority, nodes_of
from harness.run_folder.fault_options import options_from_json
from harness.run_folder.manifest import Manifest
from harness.run_folder.replica_looks import ReplicaLook
from harness.view.timeline import FaultSpan
from spark_analysis.schema.service import Outage


@dataclass(frozen=True, slots=True)
class MinorityTime:
    """A time [from_ns, until_ns) of run time in which the faults were in force for certain."""

    from_ns: int
    until_ns: float
    of: Minority

    def meets(self, outage: Outage) -> bool:
        return self.from_ns < outage.until_ns and outage.from_ns < self.until_ns

    def __str__(self) -> str:
        *first, last = map(str, self.of.faults)
        were = "was" if self.of.left == 1 else "were"
        together = f"while faults {', '.join(first)} and {last} were active together"
        return f"{together}, {self.of} {were} reachable: no majority"


def minorities(
    manifest: Manifest, faults: Sequence[FaultSpan], looks: Sequence[ReplicaLook]
) -> tuple[MinorityTime, ...]:
    """Return these times of one run; one for each fault that began in one."""
    planned = manifest.schedule.get("windows", [])
    options = {one["number"]: one["fault"].get("options", {}) for one in planned}
    away = [one for one in faults if one.verified and _isolates(one, options)]
    hosts = _hosts(faults, looks)
    if not away or hosts is None or nodes_of(manifest.state) != len(hosts):
        return ()
    return tuple(_times(away, hosts))


def _times(away: Sequence[FaultSpan], hosts: frozenset[str]) -> Iterator[MinorityTime]:
    for latest in away:
        active = [one for one in away if one.returned_ns <= latest.returned_ns < _until_ns(one)]
        hit = hosts & _hit(active)
        found = minority([one.number for one in active], len(hit), len(hosts))
        if found is not None:
            yield MinorityTime(latest.returned_ns, min(map(_until_ns, active)), found)


def _hit(active: Sequence[FaultSpan]) -> frozenset[str]:
    return frozenset(place for one in active for place in split(one.resolved))


def _until_ns(fault: FaultSpan) -> float:
    ends = (fault.undo_issued_ns, fault.ended_ns)
    return min((at_ns for at_ns in ends if at_ns is not None), default=inf)


def _isolates(fault: FaultSpan, options: Mapping[int, Mapping[str, Any]]) -> bool:
    kind = KINDS.get(fault.kind)
    if kind is None or fault.number not in options:
        return False
    return isolates(kind, options_from_json(fault.kind, options[fault.number]))


def _hosts(faults: Sequence[FaultSpan], looks: Sequence[ReplicaLook]) -> frozenset[str] | None:
    """Return the hosts that held each queue when the first fault began; None if it is unknown, or
    if queues were held by different ones."""
    begun_ns = min((one.issued_ns for one in faults), default=0)
    before = {one.queue: one for one in looks if one.at_ns <= begun_ns}
    found = {frozenset((one.serving, *one.copies)) for one in before.values() if one.serving}
    return found.pop() if len(found) == 1 else None
