"""What windows and operations of one run play on: cluster, queues, links, record."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from faults.core.kind import ArmedFault
from faults.core.model import Armed, Executor, Proof
from faults.core.places import host_of, process_of
from harness.cluster.port import Cluster, Link, Roles
from harness.plan.layouts.servers import Servers
from harness.plan.model import RunPlan
from harness.run.core.resolving import describe, roles_meant
from harness.run.interrupts import Interrupt
from harness.run.process_ends import NotingExecutor, ProcessEnds
from harness.run.record import RunRecorder
from harness.run.run_group import Look, Participant
from harness.run_folder.journal import JOURNAL, Journal

LOGS = "logs"
LOOK_LIMIT_S = 10.0  # how long the brokers may take to say who holds a queue


@dataclass(slots=True)
class Stage:
    """What windows play on: the cluster, the run's queues and links, and where to write."""

    plan: RunPlan
    cluster: Cluster
    journal: Journal
    record: RunRecorder
    origin_ns: int
    queues: Mapping[str, str]  # the scenario's name -> the broker's
    links: Mapping[str, Sequence[Link]]  # worker -> its links
    roles_of_worker: dict[str, str]  # of those that were not killed: publisher, consumer
    numbers: dict[str, int]  # worker -> its number in every record
    process_ends: ProcessEnds
    participant: Participant  # among the runs that are played together with it
    active: dict[int, ArmedFault] = field(default_factory=dict)  # by window; who has what, now
    hosts_of: dict[int, str] = field(default_factory=dict)  # by window; the host that it meant
    interrupt: Interrupt = field(default_factory=Interrupt)  # of this run alone

    @classmethod
    def opened(
        cls,
        plan: RunPlan,
        cluster: Cluster,
        folder: Path,
        origin_ns: int,
        queues: Mapping[str, str],
        links: Mapping[str, Sequence[Link]],
        participant: Participant,
    ) -> "Stage":
        """Return the stage of a run that has no workers yet, with a new journal and record. Raise
        OSError: then neither is open."""
        record = RunRecorder(folder / LOGS, origin_ns, plan.name)
        try:
            journal = Journal(folder / JOURNAL)
        except BaseException:
            record.close()
            raise
        ends = ProcessEnds(origin_ns)
        return cls(
            plan, cluster, journal, record, origin_ns, queues, links, {}, {}, ends, participant
        )

    def close(self) -> None:
        """Close its record and its journal."""
        self.record.close()
        self.journal.close()

    @property
    def executor(self) -> Executor:
        """The cluster's: whom it ends is noted."""
        return NotingExecutor(self.cluster.executor, self.process_ends)

    def executor_of(self, armed: Armed, undo: bool) -> Executor:
        """The same for one fault, or for its undo: what strikes all runs that are played together
        is done once. Links are each run's own."""
        if armed.proxies:
            return self.executor
        once = self.participant.executor(self.cluster.executor, armed.window, undo)
        return NotingExecutor(once, self.process_ends)

    async def looked(self, armed: Armed, event: str, look: Look) -> Proof:
        """What is seen of a fault, once for all runs whom it strikes. Links are each run's own.
        Raises FaultError."""
        if armed.proxies:
            return await look()
        return await self.participant.looked(f"{event} of window {armed.window}", look)

    def run_ns(self, monotonic_ns: int) -> int:
        """Return the run time of an instant of CLOCK_MONOTONIC."""
        return monotonic_ns - self.origin_ns

    async def roles(self) -> dict[str, Roles]:
        """Who holds each queue now, by the scenario's names."""
        async with asyncio.timeout(LOOK_LIMIT_S):
            found = await asyncio.gather(
                *(self.cluster.broker.roles(name) for name in self.queues.values())
            )
        return dict(zip(self.queues, found, strict=True))

    async def record_roles(self) -> dict[str, Roles]:
        """Record who holds each queue now, and return it."""
        started_ns = time.monotonic_ns()
        found = await self.roles()
        self.record.replicas(started_ns, time.monotonic_ns(), found)
        return found

    def describe(self, host: str, roles: Mapping[str, Roles]) -> str:
        """Return the host's role by these roles, in the system's words."""
        return describe(host, roles, self.plan.role_words)

    @property
    def servers(self) -> Servers:
        """What stands on the layout's hosts, as the system declares it."""
        return self.plan.system.servers(self.plan.layout)

    @property
    def hosts(self) -> tuple[str, ...]:
        return tuple(host.name for host in self.plan.layout.hosts)

    def proxies(self, clients: str, place: str) -> tuple[str, ...]:
        """The listeners of these clients (`all`, or of a role) that lead to `place`."""
        wanted, host, process = roles_meant(clients), host_of(place), process_of(place)
        return tuple(
            link.proxy
            for worker, links in self.links.items()
            for link in links
            if self.roles_of_worker.get(worker) in wanted
            and link.host == host
            and process in ("", link.process)
        )
