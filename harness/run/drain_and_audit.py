"""How a run ends: connections gone, queues drained, competing leaders read (docs/verdicts.md 3).

1. A drain begins only when every connection of the run is closed and gone from the broker.
2. Each queue is judged alone: one queue's time-out does not hide another's loss.
3. The audit asks every host whether it says that it is the queue's master; if several
   do, each is read through its own address. A host that cannot be queried may hold anything.
4. A master that was started for the audit is read, too. Where nothing is left in it, the queue
   that could not be drained while it was down is empty.
5. Where brokers keep logs, every broker's log is read, whatever it says that it is: what was never
   delivered is in some of them or lost. If a broker had to be started for that, a queue whose
   drainer was never subscribed is drained. A slow drainer leaves messages that any client could
   get. Where clients keep their own place, nothing else completes a drain; and if a replica ends
   after the place that its drainer came to, it was not complete.
6. If the client can do `several queues`, READERS_MAX processes share the queues of a drain, and
   those of one host in an audit. Each queue still has a reader and an end of its own. If it can
   not, each queue has a process of its own, and READERS_MAX of them run at once.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from tenacity import (
    AsyncRetrying,
    RetryError,
    retry_if_exception_type,
    retry_if_not_exception_type,
    retry_if_result,
    stop_after_delay,
    wait_fixed,
)

from harness.cluster.agent import AgentLost
from harness.cluster.port import Cluster, DeployError, ReportsConnections
from harness.plan.layouts.servers import Process
from harness.run.worker_handles import WorkerHandle, WorkerLost, start_worker
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema.facts import QueueEnd

GONE_BY_ITSELF_S = 5.0
CLOSE_LIMIT_S = 10.0
ASK_LIMIT_S = 60.0  # a node that rejoins after a partition restarts: 10 s and more
READERS_MAX = 8  # processes at once: the machine has to carry the brokers, too
QUERIES_AT_ONCE = 8  # queues whose masters are asked for at the same time

# Not without an agent: no broker is asked then.
_MAY_ANSWER = retry_if_exception_type(DeployError) & retry_if_not_exception_type(AgentLost)


@dataclass(frozen=True, slots=True)
class _Read:
    """How a reader came to its end."""

    doubt: str = ""  # "" where it found the queue empty, or read all
    quiet_ns: int | None = None  # since when nothing had come any more, in run time, where empty
    doubts: tuple[str, ...] = ()  # of each of its ways, where it told
    subscribed: bool = True  # at some time; False: it reported that it never was
    next_offsets: tuple[int, ...] = ()  # of each of its ways, where it keeps its own place

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

    new_config: Callable[[Role, str, Sequence[str], tuple[Endpoint, ...]], WorkerConfig]
    endpoints_of: Callable[[str], Awaitable[tuple[Endpoint, ...]]]  # its own links, in order
    boot_id: str
    shares: bool  # one process can read several queues


@dataclass(frozen=True, slots=True)
class Logs:
    """The brokers that keep logs, none where queues are drained; and a worker's way to one."""

    brokers: tuple[Process, ...]
    way_to: Callable[[str, Process], Awaitable[Endpoint | None]]
    together: int  # how many an auditor reads: runs that are played together share the machine
    know_progress: bool  # brokers are known to keep how far consumers have come


async def connections_gone(broker: ReportsConnections, prefix: str, by_force_s: float) -> str:
    """Wait until no connection of the run is listed, closing them in the end; return "" or the
    doubt. A broker that does not answer is asked again."""
    doubt = ""
    for close, limit_s in ((False, GONE_BY_ITSELF_S), (True, by_force_s)):
        retrying = AsyncRetrying(
            retry=retry_if_result(bool) | _MAY_ANSWER,
            stop=stop_after_delay(limit_s),
            wait=wait_fixed(0.5),
        )
        try:
            await retrying(broker.connections, prefix, close)
            return ""
        except RetryError as tired:
            raised = tired.last_attempt.exception()
            doubt = _silent(raised) if raised else _listed(tired.last_attempt.result())
        except (AgentLost, TimeoutError) as failure:
            return _silent(failure)
    return doubt


def _silent(failure: BaseException) -> str:
    return f"the broker did not say which connections it still has: {failure}"


def _listed(connections: Sequence[str]) -> str:
    return f"the broker still lists {', '.join(connections)}"


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
        self._some = asyncio.Semaphore(READERS_MAX)
        self._drained_to: dict[str, int] = {}  # by queue: the next offset of its drainer
        # By queue: the next offset of each replica that was audited, and its host.
        self._replicas: dict[str, list[tuple[int, str]]] = {}
        self._never_subscribed: set[str] = set()  # queues whose drainers never were
        self.workers: list[WorkerHandle] = []

    async def drain(self) -> tuple[QueueEnd, ...]:
        doubt = await self._connections_gone()
        shares = self._shares(tuple(self._queues))
        drained = await asyncio.gather(*(self._drain_share(share, doubt) for share in shares))
        ends = {end.queue: end for end in chain(*drained)}
        return tuple(ends[queue] for queue in self._queues)

    async def audit(self, ends: Sequence[QueueEnd], started: Collection[str] = ()) -> RunEnding:
        """`started`: the hosts that were started for it."""
        if self._logs.brokers:
            return await self._audit_logs(ends, bool(started))
        masters = await self._masters_of_all([end.queue for end in ends])
        claimants = {
            queue: tuple(host for host, claims in found.items() if claims)
            for queue, found in masters.items()
        }
        competing_leaders = {queue: each for queue, each in claimants.items() if len(each) > 1}
        alone = {  # a master that was started for the audit, where it is the only one
            end.queue: end
            for end in ends
            if len(claimants[end.queue]) == 1 and claimants[end.queue][0] in started
        }
        # Messages that a connection still holds are in no queue: then it is unknown whether it
        # is empty.
        connected = (
            not all(end.drained for end in alone.values()) and await self._connections_gone()
        )
        unread = await self._read_everywhere(
            {queue: claimants[queue] for queue in (*competing_leaders, *alone)}
        )
        audited = []
        for end in ends:
            silent = [host for host, claims in masters[end.queue].items() if claims is None]
            if not claimants[end.queue]:
                silent = silent or ["no host says that it is the master"]
            doubts = unread.get(end.queue, [])
            if end.queue in alone and not doubts and (end.drained or not connected):
                end = replace(end, drained=True, undrained_reason="")
            audited.append(replace(end, unreadable=(*silent, *doubts)))
        return RunEnding(tuple(audited), competing_leaders, tuple(self.workers))

    async def _audit_logs(self, ends: Sequence[QueueEnd], started: bool) -> RunEnding:
        unread = await asyncio.gather(*(self._read_logs(end.queue) for end in ends))
        audited = []
        for end, found in zip(ends, unread, strict=True):
            # What could not be drained while a broker was down is in a log, or nowhere.
            completes = self._logs.know_progress and end.queue in self._never_subscribed
            if started and not found and completes:
                end = replace(end, drained=True, undrained_reason="")
            audited.append(replace(self._compared(end), unreadable=found))
        return RunEnding(tuple(audited), {}, tuple(self.workers))

    def _compared(self, end: QueueEnd) -> QueueEnd:
        """Return the end of a queue, which is not drained if a replica ends after its drain."""
        drained_to = self._drained_to.get(end.queue)
        furthest, host = max(self._replicas.get(end.queue, ()), default=(0, ""))
        if not end.drained or drained_to is None or furthest <= drained_to:
            return end
        reason = (
            f"the drain ended before offset {drained_to}, "
            f"and the replica on {host} ends before offset {furthest}"
        )
        return replace(end, drained=False, undrained_reason=reason)

    async def _connections_gone(self) -> str:
        return await connections_gone(self._cluster.broker, self._prefix, self._by_force_s)

    def _shares(self, queues: Sequence[str]) -> list[Sequence[str]]:
        """Return the queues of each reader."""
        readers = min(len(queues), READERS_MAX) if self._reader_start.shares else len(queues)
        return [queues[reader::readers] for reader in range(readers)]

    async def _drain_share(self, queues: Sequence[str], doubt: str) -> list[QueueEnd]:
        """By one drainer, who is named after the first."""
        name = f"drain-{queues[0]}"
        try:
            endpoints = await self._reader_start.endpoints_of(name)
            read = await self._read(Role.DRAINER, name, queues, endpoints)
        except DeployError as failure:
            read = [_Read(str(failure))] * len(queues)
        for queue, one in zip(queues, read, strict=True):
            self._drained_to.update((queue, offset) for offset in one.next_offsets)
        if not doubt:
            pairs = zip(queues, read, strict=True)
            self._never_subscribed.update(queue for queue, one in pairs if not one.subscribed)
        return [
            self._end_of(queue, doubt or one.doubt, one.quiet_ns)
            for queue, one in zip(queues, read, strict=True)
        ]

    def _end_of(self, queue: str, doubt: str, quiet_ns: int | None) -> QueueEnd:
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
            (read,) = await self._read(Role.AUDITOR, name, [queue], led) if led else [_Read()]
        except DeployError as failure:
            return [str(failure)] * len(brokers)
        ends = zip(read.next_offsets, (way.host for way in led), strict=False)
        self._replicas.setdefault(queue, []).extend(ends)
        unread = iter(read.of_each(len(led)))
        return ["no link leads there" if way is None else next(unread) for way in ways]

    async def _read_everywhere(self, hosts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """Read each queue empty on each of its hosts; return by queue the hosts that could not be
        read to the end."""
        unread: dict[str, list[str]] = {}
        for host in dict.fromkeys(chain(*hosts.values())):
            queues = [queue for queue, of_queue in hosts.items() if host in of_queue]
            shares = self._shares(queues)
            found = await asyncio.gather(*(self._read_on(host, share) for share in shares))
            for queue, doubt in zip(chain(*shares), chain(*found), strict=True):
                if doubt:
                    unread.setdefault(queue, []).append(f"{host}: {doubt}")
        return unread

    async def _read_on(self, host: str, queues: Sequence[str]) -> list[str]:
        """Read queues of one host by one auditor; return what stands against each."""
        try:
            endpoint = await self._cluster.direct(host)
            name = f"audit-{queues[0]}-{host}"
            read = await self._read(Role.AUDITOR, name, queues, (endpoint,))
        except DeployError as failure:
            return [str(failure)] * len(queues)
        return [one.doubt for one in read]

    async def _read(
        self, role: Role, name: str, queues: Sequence[str], endpoints: tuple[Endpoint, ...]
    ) -> list[_Read]:
        """Run one reader from start to end; return how it came to the end of each queue."""
        async with self._some:
            return await self._read_alone(role, name, queues, endpoints)

    async def _read_alone(
        self, role: Role, name: str, queues: Sequence[str], endpoints: tuple[Endpoint, ...]
    ) -> list[_Read]:
        config = self._reader_start.new_config(role, name, queues, endpoints)
        try:
            worker = await start_worker(self._cluster, name, config, self._reader_start.boot_id)
        except WorkerLost as failure:
            return [_Read(str(failure))] * len(queues)
        self.workers.append(worker)
        await worker.wait_until_drained(config.limit_s + CLOSE_LIMIT_S)
        await worker.end(CLOSE_LIMIT_S)
        return [_read_of(worker, config, queue) for queue in queues]

    async def _masters_of_all(self, queues: Sequence[str]) -> dict[str, dict[str, bool | None]]:
        """Ask for the masters of some queues at a time, and wait ASK_LIMIT_S for all together."""
        until_s, some = time.monotonic() + ASK_LIMIT_S, asyncio.Semaphore(QUERIES_AT_ONCE)

        async def of(queue: str) -> dict[str, bool | None]:
            async with some:
                left_s = max(0.0, until_s - time.monotonic())
                return await self._masters(self._queues[queue], left_s)

        return dict(zip(queues, await asyncio.gather(*map(of, queues)), strict=True))

    async def _masters(self, queue: str, limit_s: float) -> dict[str, bool | None]:
        """Waits for hosts that are on their way back; one that stays silent is None."""
        broker = self._cluster.broker

        def is_incomplete(masters: Mapping[str, bool | None]) -> bool:
            silent = {host for host, claims in masters.items() if claims is None}
            return bool(silent - broker.cannot_answer)

        retrying = AsyncRetrying(
            retry=retry_if_result(is_incomplete),
            stop=stop_after_delay(limit_s),
            wait=wait_fixed(1.0),
            retry_error_callback=lambda tired: tired.outcome and tired.outcome.result(),
        )
        try:
            masters: dict[str, bool | None] = await retrying(broker.masters, queue)
        except (DeployError, TimeoutError):
            return {host.name: None for host in self._cluster.layout.hosts}
        return masters


def _read_of(worker: WorkerHandle, config: WorkerConfig, queue: str) -> _Read:
    """How a reader that has ended came to the end of one queue."""
    if queue not in worker.drained:
        return _Read(worker.doubt or "it did not say that it was done")
    drained, at_ns = worker.drained[queue]
    doubts = tuple(map(str, drained.get("doubts", ())))
    alone = [drained["next_offset"]] if "next_offset" in drained else []
    places = tuple(map(int, drained.get("next_offsets", alone)))
    if not drained["complete"]:
        subscribed = drained.get("subscribed") is not False
        return _Read(str(drained["doubt"]), None, doubts, subscribed, places)
    # It says so after the quiet time and two looks, so word of it may have taken a second.
    quiet_ns = at_ns - config.origin_ns - round(config.quiet_s * 1e9)
    return _Read("", quiet_ns, doubts, next_offsets=places)
