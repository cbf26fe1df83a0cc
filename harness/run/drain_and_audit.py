"""How a run ends: connections gone, queues drained, competing leaders read (docs/verdicts.md 3).

1. A drain begins only when every connection of the run is closed and gone from the broker.
2. Each queue is judged alone: one queue's time-out does not hide another's loss.
3. The audit asks every host whether it says that it is the queue's master; if several
   do, each is read through its own address. A host that cannot be queried may hold anything.
4. A master that was started for the audit is read, too. Where nothing is left in it, the queue
   that could not be drained while it was down is empty.
5. Where brokers keep logs, every broker's log is read, whatever it says that it is: what was never
   delivered is in some of them or lost.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed

from harness.cluster.port import Cluster, DeployError, ReportsConnections
from harness.plan.servers import Process
from harness.run.worker_handles import WorkerHandle, WorkerLost, start_worker
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema.facts import QueueEnd

GONE_BY_ITSELF_S = 5.0
CLOSE_LIMIT_S = 10.0
ASK_LIMIT_S = 60.0  # a node that rejoins after a partition restarts: 10 s and more


@dataclass(frozen=True, slots=True)
class _Read:
    """How a reader came to its end."""

    doubt: str = ""  # "" where it found the queue empty, or read all
    quiet_ns: int | None = None  # since when nothing had come any more, in run time, where empty
    doubts: tuple[str, ...] = ()  # of each of its ways, where it told

    def of_each(self, ways: int) -> Sequence[str]:
        """What stands against each; one of several that it did not speak of may hold anything."""
        if len(self.doubts) == ways:
            return self.doubts
        silent = "" if ways == 1 else "its auditor did not speak of it"
        return [self.doubt or silent] * ways


@dataclass(frozen=True, slots=True)
class RunEnding:
    """What the end of a run found: a QueueEnd a queue, competing leaders, and who read what."""

    queues: tuple[QueueEnd, ...]
    competing_leaders: dict[str, tuple[str, ...]]  # the masters of each queue that has several
    workers: tuple[WorkerHandle, ...]  # drainers and auditors, all ended


@dataclass(frozen=True, slots=True)
class ReaderStart:
    """How a reader is started: its settings, and the way in for a worker of this name."""

    new_config: Callable[[Role, str, str, tuple[Endpoint, ...]], WorkerConfig]
    endpoints_of: Callable[[str], Awaitable[tuple[Endpoint, ...]]]  # its own links, in order
    boot_id: str


@dataclass(frozen=True, slots=True)
class Logs:
    """The brokers that keep logs, none where queues are drained; and a worker's way to one."""

    brokers: tuple[Process, ...]
    way_to: Callable[[str, Process], Awaitable[Endpoint | None]]
    together: int  # how many an auditor reads: runs that are played together share the machine


async def connections_gone(broker: ReportsConnections, prefix: str, by_force_s: float) -> str:
    """Waits until no connection of the run is listed, closing them in the end; "" or the doubt."""
    left: tuple[str, ...] = ()
    for close, limit_s in ((False, GONE_BY_ITSELF_S), (True, by_force_s)):
        retrying = AsyncRetrying(
            retry=retry_if_result(bool), stop=stop_after_delay(limit_s), wait=wait_fixed(0.5)
        )
        try:
            left = await retrying(broker.connections, prefix, close)
            return ""
        except RetryError as tired:
            left = tired.last_attempt.result()
        except (DeployError, TimeoutError) as failure:
            return f"the broker did not say which connections it still has: {failure}"
    return f"the broker still lists {', '.join(left)}"


class DrainAndAudit:
    """Drains and audits one run."""

    def __init__(
        self,
        cluster: Cluster,
        prefix: str,
        queues: Mapping[str, str],
        ordered: Callable[[str], bool],
        reader_start: ReaderStart,
        logs: Logs,
        gone_by_force_s: float,
    ) -> None:
        self._cluster = cluster
        self._prefix = prefix
        self._queues = queues
        self._ordered = ordered
        self._reader_start = reader_start
        self._logs = logs
        self._by_force_s = gone_by_force_s
        self.workers: list[WorkerHandle] = []

    async def drain(self) -> tuple[QueueEnd, ...]:
        doubt = await self._connections_gone()
        return tuple(
            await asyncio.gather(*(self._drain_one(queue, doubt) for queue in self._queues))
        )

    async def audit(self, ends: Sequence[QueueEnd], started: Collection[str] = ()) -> RunEnding:
        """`started`: the hosts that were started for it."""
        if self._logs.brokers:
            return await self._audit_logs(ends, bool(started))
        audited, competing_leaders = [], {}
        for end in ends:
            masters = await self._masters(self._queues[end.queue])
            claimants = tuple(host for host, claims in masters.items() if claims)
            silent = [host for host, claims in masters.items() if claims is None]
            if not claimants:
                silent = silent or ["no host says that it is the master"]
            if len(claimants) > 1:
                competing_leaders[end.queue] = claimants
                silent += await self._read_all(end.queue, claimants)
            elif claimants and claimants[0] in started:
                end, unread = await self._read_started(end, claimants[0])
                silent += unread
            audited.append(replace(end, unreadable=tuple(silent)))
        return RunEnding(tuple(audited), competing_leaders, tuple(self.workers))

    async def _audit_logs(self, ends: Sequence[QueueEnd], started: bool) -> RunEnding:
        unread = await asyncio.gather(*(self._read_logs(end.queue) for end in ends))
        audited = []
        for end, found in zip(ends, unread, strict=True):
            # What a drain left behind where a broker was down is in a log, or nowhere.
            read = (
                replace(end, drained=True, undrained_reason="") if started and not found else end
            )
            audited.append(replace(read, unreadable=found))
        return RunEnding(tuple(audited), {}, tuple(self.workers))

    async def _read_started(self, end: QueueEnd, master: str) -> tuple[QueueEnd, list[str]]:
        """Return the queue's end as far as the audit knows it, and its master if it was not read.

        Messages that a connection still holds are in no queue: then it is unknown whether it is
        empty.
        """
        doubt = "" if end.drained else await self._connections_gone()
        unread = await self._read_all(end.queue, [master])
        if doubt or unread:
            return end, unread
        return replace(end, drained=True, undrained_reason=""), unread

    async def _connections_gone(self) -> str:
        return await connections_gone(self._cluster.broker, self._prefix, self._by_force_s)

    async def _drain_one(self, queue: str, doubt: str) -> QueueEnd:
        name = f"drain-{queue}"
        quiet_ns = None
        try:
            endpoints = await self._reader_start.endpoints_of(name)
            read = await self._read(Role.DRAINER, name, queue, endpoints)
            said, quiet_ns = read.doubt, read.quiet_ns
        except DeployError as failure:
            said = str(failure)
        doubt = doubt or said
        return QueueEnd(queue, self._ordered(queue), not doubt, doubt, (), quiet_ns)

    async def _read_logs(self, queue: str) -> tuple[str, ...]:
        """Reads each broker's log; the brokers whose could not be read to the end."""
        brokers, together = self._logs.brokers, self._logs.together
        shares = [brokers[first : first + together] for first in range(0, len(brokers), together)]
        doubts = await asyncio.gather(*(self._read_share(queue, share) for share in shares))
        return tuple(
            f"{broker.word} on {broker.host}: {doubt}"
            for broker, doubt in zip(brokers, chain(*doubts), strict=True)
            if doubt
        )

    async def _read_share(self, queue: str, brokers: Sequence[Process]) -> Sequence[str]:
        """By one auditor, who is named after the first; what stands against each log."""
        name = f"audit-{queue}-{brokers[0].host}-{brokers[0].word}"
        try:
            ways = [await self._logs.way_to(name, broker) for broker in brokers]
            led = tuple(way for way in ways if way is not None)
            read = await self._read(Role.AUDITOR, name, queue, led) if led else _Read()
        except DeployError as failure:
            return [str(failure)] * len(brokers)
        unread = iter(read.of_each(len(led)))
        return ["no link leads there" if way is None else next(unread) for way in ways]

    async def _read_all(self, queue: str, hosts: Sequence[str]) -> list[str]:
        """Read each master empty; return the hosts that could not be read to the end."""
        unread = []
        for host in hosts:
            try:
                endpoint = await self._cluster.direct(host)
                name = f"audit-{queue}-{host}"
                doubt = (await self._read(Role.AUDITOR, name, queue, (endpoint,))).doubt
            except DeployError as failure:
                doubt = str(failure)
            if doubt:
                unread.append(f"{host}: {doubt}")
        return unread

    async def _read(
        self, role: Role, name: str, queue: str, endpoints: tuple[Endpoint, ...]
    ) -> _Read:
        """One reader from start to end."""
        config = self._reader_start.new_config(role, name, queue, endpoints)
        try:
            worker = await start_worker(self._cluster, name, config, self._reader_start.boot_id)
        except WorkerLost as failure:
            return _Read(str(failure))
        self.workers.append(worker)
        await worker.wait_for_message("drained", "failed", limit_s=config.limit_s + CLOSE_LIMIT_S)
        # It says so after the quiet time and two looks, so word of it may have taken a second.
        quiet_ns = time.monotonic_ns() - config.origin_ns - round(config.quiet_s * 1e9)
        await worker.end(CLOSE_LIMIT_S)
        drained = worker.messages.get("drained")
        if drained is None:
            return _Read(worker.doubt or "it did not say that it was done")
        doubts = tuple(map(str, drained.get("doubts", ())))
        if drained["complete"]:
            return _Read("", quiet_ns, doubts)
        return _Read(str(drained["doubt"]), None, doubts)

    async def _masters(self, queue: str) -> dict[str, bool | None]:
        """Waits for hosts that are on their way back; one that stays silent is None."""
        retrying = AsyncRetrying(
            retry=retry_if_result(lambda masters: None in masters.values()),
            stop=stop_after_delay(ASK_LIMIT_S),
            wait=wait_fixed(1.0),
            retry_error_callback=lambda tired: tired.outcome and tired.outcome.result(),
        )
        try:
            masters: dict[str, bool | None] = await retrying(self._cluster.broker.masters, queue)
        except (DeployError, TimeoutError):
            return {host.name: None for host in self._cluster.layout.hosts}
        return masters
