"""Before the first byte of load: queues, links, late-bound entries, workers that are connected.

1. The run's seed decides which host is a queue's master, so a replay has the same one.
2. A client's bootstrap address is resolved once, here, and recorded.
3. A layout's `client_endpoint` decides whether a client knows one host, all hosts, or a balancer.
   Drains know all hosts, or the balancer; auditors bypass it.
4. Each worker has its own listener to every host; none is shared with the load.
5. A client that uses name servers has no bootstrap host. Each of its queues gets a prober that
   asks the name servers for routes.
6. Nothing is sent before every worker is connected.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from harness.cluster.port import Cluster, DeployError, FansOut, Link, Roles
from harness.plan.checks.demands import priorities
from harness.plan.distribution import (
    consumers_in_all,
    consumers_of,
    group_reading,
    read_by,
    sent_by,
)
from harness.plan.files.targets import Target
from harness.plan.layouts.guarantees import BROKERS, CLIENTS
from harness.plan.layouts.layout_values import BALANCER, BY_NAME_SERVERS, ONE
from harness.plan.layouts.servers import Process, Servers
from harness.plan.model import RunPlan
from harness.plan.seeds import stream
from harness.plan.workload import BootstrapAddress
from harness.run.core.resolving import NoSuchTarget, holders, order_of_entry, resolve
from harness.run.core.run_queues import RunQueues
from harness.run.drain_and_audit import CLOSE_LIMIT_S, DrainAndAudit, Logs, ReaderStart
from harness.run.drivers import driver
from harness.run.prepared import Prepared
from harness.run.run_group import Participant
from harness.run.stage import Stage
from harness.run.worker_handles import WorkerHandle, all_ready, start_worker
from harness.workers.protocol import VOTERS, Endpoint, Role, WorkerConfig
from spark_analysis.schema.words import Level, Strength, least_promised

# A group of consumers may need 40 s until each queue is read (clients/rocketmq).
READY_LIMIT_S = 100.0
DECLARED_AT_ONCE = 8  # queues: each waits for its mirrors


def _end(links: Sequence[Link], process: Process) -> Endpoint | None:
    """Where a worker meets it; None: no link of his leads there."""
    its = (process.host, process.word, False)
    found = (one.endpoint for one in links if (one.host, one.process, one.votes) == its)
    return next(found, None)


def _voters(links: Sequence[Link], servers: Servers) -> list[dict[str, Any]]:
    """Who is asked who leads, and where as a prober takes them: those that links lead to."""
    ways = {(one.host, one.process): one.endpoint for one in links if one.votes}
    return [
        {**asdict(one), "address": way.address, "port": way.port}
        for one in servers.voters
        if (way := ways.get((one.host, one.word))) is not None
    ]


def _declaring(servers: Servers) -> str:
    every_s = servers.copied_every_s
    copied = "" if every_s is None else f" (slaves copy their configuration every {every_s} s)"
    return f"declare the queues{copied}"


class Preparing:
    """Prepares one run on a cluster that stands; `begin` once."""

    def __init__(
        self,
        plan: RunPlan,
        cluster: Cluster,
        folder: Path,
        boot_id: str,
        step: Callable[[str], None],
        participant: Participant,
    ) -> None:
        self._plan = plan
        self._client = plan.client
        self._participant = participant
        self._cluster = cluster
        self._folder = folder
        self._boot_id = boot_id
        self._step = step
        self._origin_ns = time.monotonic_ns()
        self._prefix = f"mqproof.{plan.name}."
        self._hosts = tuple(host.name for host in plan.layout.hosts)
        self._servers = plan.system.servers(plan.layout)
        workload, in_logs = plan.scenario.workload, bool(self._servers.logs)
        self._queues = RunQueues.of(workload, self._prefix, in_logs=in_logs)
        self._links: dict[str, tuple[Link, ...]] = {}
        self._numbers = 0
        self._places: dict[str, int] = {}  # publishers and consumers -> the place among their role
        self._workers: list[WorkerHandle] = []  # of the load, also those that have ended

    async def begin(self) -> Prepared:
        """Raises DeployError, WorkerLost, NoSuchTarget, and OSError if the disk refuses it."""
        self._step(_declaring(self._servers))
        roles = await self._declare()
        involved = self._involved(roles)
        workload = self._plan.scenario.workload
        entries = {
            "publishers": self._order(workload.publisher_endpoint, roles, involved),
            "consumers": self._order(workload.consumer_endpoint, roles, involved),
        }
        self._step("connect the workers")
        # Its files are opened first: if the disk refuses one, there is no worker to end.
        stage = Stage.opened(
            *(self._plan, self._cluster, self._folder, self._origin_ns),
            *(self._queues.read, self._links, self._participant),
        )
        try:
            workers = await self._start_all(entries)
        except BaseException:
            stage.close()
            raise
        stage.roles_of_worker |= {worker.name: worker.config.role.value for worker in workers}
        stage.numbers |= {worker.name: worker.config.number for worker in workers}
        return Prepared(
            stage,
            workers,
            self._drain_and_audit(entries["consumers"]),
            self._prefix,
            {who: hosts[0] for who, hosts in entries.items()},
            self._boot_id,
            self._succeed,
        )

    async def _succeed(self, dead: WorkerHandle) -> WorkerHandle:
        """A new worker with the queue, the entry and the share of the load that a dead one had.

        Raises DeployError, WorkerLost.
        """
        role = dead.config.role
        index = self._places[dead.name]
        name = f"{role.value}-{1 + sum(one.startswith(role.value) for one in self._places)}"
        self._places[name] = index
        hosts = tuple(endpoint.host for endpoint in dead.config.endpoints)
        endpoints = await self._endpoints_of(name, hosts)
        queues = [word for _, word in dead.config.queues]
        config = self._config(role, name, queues, endpoints, index)
        # The group may still count the dead one, whose part the others have not taken.
        config = replace(config, members=0)
        worker = await start_worker(self._cluster, name, config, self._boot_id)
        self._workers.append(worker)
        try:
            await all_ready([worker], READY_LIMIT_S)
        except BaseException:
            await worker.end(CLOSE_LIMIT_S)
            raise
        return worker

    def _order(
        self, entry: BootstrapAddress, roles: Mapping[str, Roles], involved: tuple[str, ...]
    ) -> tuple[str, ...]:
        if self._client.uses_name_servers:
            return (BY_NAME_SERVERS,)
        if self._plan.layout.is_balanced:
            return (BALANCER,)
        return order_of_entry(entry, roles, self._hosts, involved)

    async def _declare(self) -> dict[str, Roles]:
        chance = stream(self._plan.seed, "placement")
        workload, broker = self._plan.scenario.workload, self._cluster.broker
        levels = priorities(self._client, workload)
        wish = {"max_priority": levels - 1} if levels else {}
        some = asyncio.Semaphore(DECLARED_AT_ONCE)

        async def declare(name: str, host: str) -> Roles:
            async with some:
                await broker.declare(name, workload.durable, host, **wish)
                return await broker.roles(name)

        words = self._queues.sent_to
        drawn = {word: workload.declared_at or chance.choice(self._hosts) for word in words}
        hosts = self._queues.declared_on(drawn)
        work = map(declare, hosts, hosts.values())
        roles: dict[str, Roles] = {}
        for name, found in zip(
            hosts, await asyncio.gather(*work, return_exceptions=True), strict=True
        ):
            if isinstance(found, BaseException):
                raise found
            roles[name] = found
        await self._bind(drawn)
        return {word: roles[name] for word, name in self._queues.read.items()}

    async def _bind(self, hosts: Mapping[str, str]) -> None:
        """Make the exchanges by which each message comes to every group. Raise DeployError."""
        broker, durable = self._cluster.broker, self._plan.scenario.workload.durable
        for word, queues in self._queues.exchanges().items():
            if not isinstance(broker, FansOut):
                raise DeployError(f"{self._plan.system.name} gives no message to several groups")
            await broker.fan_out(self._queues.sent_to[word], queues, durable, hosts[word])

    def _involved(self, roles: Mapping[str, Roles]) -> tuple[str, ...]:
        """The hosts that the schedule means as things stand now: those of faults, and those of
        operations as long as another one is left."""
        scenario = self._plan.scenario
        involved = self._meant([fault.target for fault in scenario.faults], roles)
        operated = [operation.target for operation in scenario.operations]
        for host in self._meant(operated, roles, holders(roles)):
            if host not in involved and len(set(involved)) + 1 < len(self._hosts):
                involved.append(host)
        return tuple(involved)

    def _meant(
        self, targets: Sequence[Target], roles: Mapping[str, Roles], involved: Sequence[str] = ()
    ) -> list[str]:
        """As far as it is known: of the others it will be told when they are due."""
        found = []
        for target in targets:
            with suppress(NoSuchTarget):
                found.append(resolve(target, roles, self._hosts, involved))
        return found

    async def _start_all(self, entries: Mapping[str, tuple[str, ...]]) -> tuple[WorkerHandle, ...]:
        """Side by side: each start is that of a Python, and waits for its first word."""
        workers: list[WorkerHandle] = []

        async def start(name: str, config: WorkerConfig) -> None:
            worker = await start_worker(self._cluster, name, config, self._boot_id)
            workers.append(worker)
            self._workers.append(worker)

        wanted = [one async for one in self._wanted(entries)]
        try:
            work = (start(*one) for one in wanted)
            for failed in filter(None, await asyncio.gather(*work, return_exceptions=True)):
                raise failed
            await all_ready(workers, READY_LIMIT_S)
        except BaseException:
            ends = (worker.end(CLOSE_LIMIT_S) for worker in workers)
            await asyncio.gather(*ends, return_exceptions=True)
            raise
        return tuple(sorted(workers, key=lambda worker: worker.config.number))

    async def _wanted(
        self, entries: Mapping[str, tuple[str, ...]]
    ) -> AsyncIterator[tuple[str, WorkerConfig]]:
        """Every worker of the load, by name, with links of its own."""
        workload = self._plan.scenario.workload
        for role, who, count, queues_of in (
            (Role.PUBLISHER, "publishers", workload.publishers, sent_by),
            (Role.CONSUMER, "consumers", consumers_in_all(workload), read_by),
        ):
            known = entries[who][:1] if self._plan.layout.client_endpoint == ONE else entries[who]
            for index in range(count):
                name = f"{role.value}-{index + 1}"
                queues = queues_of(workload, index)
                endpoints = await self._endpoints_of(name, known)
                self._places[name] = index
                yield name, self._config(role, name, queues, endpoints, index)
        for queue in workload.queues if self._client.uses_name_servers else ():
            name = f"{Role.PROBER.value}-{queue}"
            endpoints = await self._endpoints_of(name, ())
            config = self._config(Role.PROBER, name, (queue,), endpoints)
            voters = _voters(self._links[name], self._servers)
            yield name, replace(config, own={**config.own, VOTERS: voters})

    async def _endpoints_of(self, worker: str, hosts: tuple[str, ...]) -> tuple[Endpoint, ...]:
        """By name servers, or by these hosts in their order."""
        links = self._links[worker] = await self._cluster.link(self._plan, worker)
        if self._client.uses_name_servers:
            found = (_end(links, one) for one in self._servers.name_servers)
            return tuple(way for way in found if way is not None)
        by_host = {link.host: link.endpoint for link in links}
        return tuple(by_host[host] for host in hosts)

    def _config(
        self,
        role: Role,
        name: str,
        queues: Sequence[str],
        endpoints: tuple[Endpoint, ...],
        index: int = 0,
    ) -> WorkerConfig:
        workload, drain = self._plan.scenario.workload, self._plan.system.drain
        self._numbers += 1
        publishers, client = workload.publishers, self._client
        reader = client.drainer if role is Role.DRAINER else client.declared
        assert reader is not None, "such a client is not applicable"
        named_queues = [(drain.queue_name(self._queues.name(word)), word) for word in queues]
        return WorkerConfig(
            role=role,
            number=self._numbers,
            run=self._plan.name,
            run_number=self._plan.number,
            origin_ns=self._origin_ns,
            log=self._cluster.log_folder(self._folder, name),
            client=reader.name,
            driver=driver(reader),
            queue=named_queues[0][0],
            queue_word=named_queues[0][1],
            more_queues=tuple(named_queues[1:]),
            endpoints=endpoints,
            connection_name=f"{self._prefix}{name}",
            index=index,
            group=group_reading(workload, queues[0]),
            fans_out=role is Role.PUBLISHER and self._queues.fans_out,
            rate=None if workload.rate is None else workload.rate / publishers,
            phase=index / publishers,
            keys=workload.keys,
            body_bytes=workload.body_bytes,
            persistent=workload.persistent,
            confirms=workload.confirms,
            strength=self._strength(),
            levels=tuple(level.rank for level in self._plan.system.levels),
            ways=tuple(way.number for way in self._plan.system.ways),
            retry=workload.retry.value,
            deadline_s=workload.deadline_s,
            acknowledge=workload.acknowledge,
            processing_s=workload.processing_s if role is Role.CONSUMER else 0.0,
            resume_at=self._resume_at(role, queues[0]),
            members=consumers_of(workload, queues[0]) if role is Role.CONSUMER else 0,
            quiet_s=drain.quiet_s(workload),
            limit_s=self._plan.schedule.drain_limit_s + drain.more_s(workload),
            confirm_window=client.declared.family.unconfirmed_max(workload),
            own=client.worker_options(workload, self._servers),
        )

    @property
    def _progress_kept_by(self) -> str | None:
        return self._plan.system.guarantees(self._plan.layout).progress_kept_by

    def _resume_at(self, role: Role, queue: str) -> int | None:
        """Return the offset after the last one that a consumer of the queue has recorded.

        None: brokers know how far consumers have come, or it consumes nothing.
        """
        if self._progress_kept_by != CLIENTS or role is Role.PUBLISHER:
            return None
        known = (
            one.status.get("next_offset", 0)
            for one in self._workers
            if one.config.role is Role.CONSUMER and one.config.queue_word == queue
        )
        return 0 if role is Role.AUDITOR else max(known, default=0)

    def _strength(self) -> int:
        """Return the rank of a confirm's level. Raise DeployError if its system has no such level.

        It is what the system declares; without a declaration, the least.
        """
        system, workload = self._plan.system, self._plan.scenario.workload
        guarantees = system.guarantees(self._plan.layout)
        lasting = workload.durable and workload.persistent
        found = guarantees.strength if lasting else guarantees.strength_of_transient
        if not self._client.declared.family.confirms_routed(workload):
            found = Strength.UNROUTED_POSSIBLE
        if found is None:
            return least_promised(system.levels).rank
        if Level(found.rank, found.label) not in system.levels:
            raise DeployError(f"{system.name} declares no confirm level {found.label!r}")
        return found.rank

    def _drain_and_audit(self, entry: tuple[str, ...]) -> DrainAndAudit:
        workload, drain = self._plan.scenario.workload, self._plan.system.drain

        def ordered(queue: str) -> bool:
            return drain.in_order(workload, consumers_of(workload, queue))

        async def endpoints_of(worker: str) -> tuple[Endpoint, ...]:
            return await self._endpoints_of(worker, entry)

        async def way_to(worker: str, broker: Process) -> Endpoint | None:
            if not self._servers.by_names:
                return await self._cluster.direct(broker.host)
            if worker not in self._links:
                await self._endpoints_of(worker, ())
            return _end(self._links[worker], broker)

        by_brokers = self._progress_kept_by == BROKERS
        return DrainAndAudit(
            self._cluster,
            self._prefix,
            self._queues.read,
            ordered,
            ReaderStart(self._config, endpoints_of, self._boot_id, self._client.drains_several),
            Logs(self._servers.logs, way_to, self._participant.runs, by_brokers),
            drain.gone_by_force_s,
        )
