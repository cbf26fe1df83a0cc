"""Operations as a run records them, and the times in which they may explain what clients saw.

1. An operation that may move a leader explains what begins before it has returned, or soon after.
   What it began (a boot, a policy) settles within SETTLES_NS: clients request routes every 30 s.
2. A stopped broker stays down until it is started again. If the cluster is altered for good, an
   outage may last as well.
3. A synchronisation moves no leader, but blocks the queue while it runs.
4. An operation that failed may still take effect, at any time.
5. docs/verdicts.md 7.3 says what follows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from faults.core.places import split
from harness.plan.operation_options import NO
from harness.plan.operations import OPERATIONS, START_NODE, SYNCHRONISE
from harness.plan.operations import LeadershipChange as Until
from harness.run_folder.tolerances import ON_ITS_WAY_NS
from spark_analysis.schema.facts import LeadershipChange, ProcessEnd
from spark_analysis.schema.operation_times import NOTICED_WITHIN_NS, OperationTime

SETTLES_NS = 30_000_000_000


@dataclass(slots=True)
class OperationRecord:
    """One operation of the schedule and what became of it; run time in ns."""

    number: int
    kind: str
    target: str
    resolved: str = ""  # hosts, the broker's queue, the policy
    began_ns: int | None = None  # None: it never did
    returned_ns: int | None = None  # None: it was on its way when the harness died
    ok: bool = False
    detail: str = "never began"  # what was said, or why it failed

    @property
    def done_ns(self) -> int | None:
        """Return when it had returned, and clients had heard of it; None: unknown, or it
        failed."""
        if not self.ok or self.returned_ns is None:
            return None
        return self.returned_ns + ON_ITS_WAY_NS


def leadership_changes(
    operations: Iterable[OperationRecord], process_ends: Iterable[ProcessEnd]
) -> Iterator[LeadershipChange]:
    """Yield the times in which an operation, or the unplanned end of a process, may have changed
    the leader of a queue."""
    for one in operations:
        until = OPERATIONS[one.kind].leadership_change
        if one.began_ns is not None and until is not Until.NEVER:
            yield LeadershipChange(one.began_ns, one.done_ns if until is Until.SOON else None)
    for end in process_ends:  # when its queues have settled is unknown
        yield LeadershipChange(end.at_ns - NOTICED_WITHIN_NS, None, of_process_end=True)


def operation_times(
    operations: Sequence[OperationRecord], schedule: Mapping[str, Any]
) -> Iterator[OperationTime]:
    """Yield when each operation may explain outages, waits and losses."""
    steps = schedule.get("steps", ())
    unwaited = {s["number"] for s in steps if s["operation"]["options"].get("waits") == NO}
    for one in operations:
        kind = OPERATIONS[one.kind]
        if one.began_ns is None:
            continue
        if kind is SYNCHRONISE:
            # Without waiting it goes on for an unknown time.
            until_ns = None if one.number in unwaited else one.done_ns
            yield OperationTime(one.began_ns, one.done_ns, until_ns, moves_leader=False)
        elif kind.leadership_change is not Until.NEVER:
            settled_ns = None if one.done_ns is None else one.done_ns + SETTLES_NS
            soon = kind.leadership_change is Until.SOON
            until_ns = None if kind.alters else settled_ns
            if kind.stops and not kind.starts:
                until_ns = _started_ns(one, operations)
            yield OperationTime(one.began_ns, one.done_ns if soon else settled_ns, until_ns)


def _started_ns(stop: OperationRecord, operations: Iterable[OperationRecord]) -> int | None:
    """Return when the hosts of a stop had been started again; None: never, or it is unknown."""
    if stop.done_ns is None:
        return None
    hosts = {*split(stop.resolved)}
    for one in operations:
        began = one.began_ns is not None and one.began_ns >= stop.done_ns - ON_ITS_WAY_NS
        if one.kind == START_NODE.name and began and hosts <= {*split(one.resolved)}:
            return None if one.done_ns is None else one.done_ns + SETTLES_NS
    return None
