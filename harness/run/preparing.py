"""Before the first byte of load: queues, links, late-bound entries, workers that are connected.

1. Where a queue's master lies is drawn from the run's seed, so that a replay lies the same.
2. A client's entry is resolved once, here; where it went is recorded.
3. By a layout's entrance a client knows one host, or all, or a balancer; who drains knows all
   hosts, or the balancer; who audits goes past it.
4. Each worker has a listener of its own to every host; nobody shares one with the load.
5. A client that asks name servers enters nowhere; each of its queues gets a prober, who asks them
   what they show.
6. Nothing is sent before every worker is connected.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from faults.places import overlap, split
from harness.cluster.port import Cluster, Link, Roles
from harness.plan.clients.asked import asks_name_servers, drains_by, told
from harness.plan.clients.registry import named
from harness.plan.clients.told_otherwise import name_of
from harness.plan.declared import AT_LEAST, NO_ENTRANCE, NO_NAME_SERVERS, Declared
from harness.plan.model import BALANCER, ONE, Entry, RunPlan
from harness.plan.seeds import stream
from harness.plan.servers import Process, Servers
from harness.run.drain_and_audit import CLOSE_LIMIT_S, DrainAndAudit, Logs, ReaderStart
from harness.run.drivers import driver
from harness.run.process_ends import ProcessEnds
from harness.run.record import Record
from harness.run.resolving import NoSuchTarget, holders, order_of_entry, resolve
from harness.run.stage import Stage
from harness.run.together import Seat
from harness.run.windows import LiveWindow
from harness.run.worker_handles import WorkerHandle, all_ready, start_worker
from harness.run_folder.client_events import CONSUMING, STRUCK
from harness.run_folder.journal import Journal
from harness.workers.protocol import VOTERS, Endpoint, Role, WorkerConfig
from spark_analysis.schema.words import Strength

READY_LIMIT_S = 60.0
JOURNAL = "journal.jsonl"
LOGS = "logs"

NO_RESOURCE = {"moot": "the fault is no alarm"}
BY_NAME_SERVERS = "name-server"  # where clients entered, who entered nowhere
NAME_SERVER_FACTS = ("name_servers_at_target", "name_servers_left")


@dataclass(slots=True)
class Prepared:
    """A run that may begin."""

    stage: Stage
    workers: tuple[WorkerHandle, ...]
    drain_and_audit: DrainAndAudit
    prefix: str
    entries: dict[str, str]  # "publishers", "consumers" -> the host that they entered at
    boot_id: str
    succeed: Callable[
        [WorkerHandle], Awaitable[WorkerHandle]
    ]  # starts somebody in a dead one's place

    @property
    def versions(self) -> dict[str, str]:
        """What the workers said of themselves; all run from one image."""
        versions = {
            name: version for worker in self.workers for name, version in worker.versions.items()
        }
        scheduled = sorted({worker.scheduling for worker in self.workers} - {""})
        return versions | ({"scheduling of workers": "; ".join(scheduled)} if scheduled else {})

    def state_at_fault(self, window: LiveWindow) -> dict[str, Any]:
        """What claims ask of the moment of the first fault; None is unknown."""
        roles = window.target.roles
        return {
            "fault_kind": window.facts.kind,
            "fault_resource": window.resource or NO_RESOURCE,
            "fault_target_role": window.target.target_role if window.resolved else None,
            "mirrors_at_fault": min((len(r.mirrors) for r in roles.values()), default=None),
            "synchronised_mirrors_at_fault": synchronised_at_fault(roles.values()),
            "publishers_entered_at_target": self._entered("publishers", window),
            "consumers_entered_at_target": self._entered("consumers", window),
            CONSUMING: self._consuming_from(window),
            **self._name_servers(window.resolved),
        }

    def _consuming_from(self, window: LiveWindow) -> list[int]:
        """The consumers of the queues whose master is at the window's target."""
        held = {
            word for word, role in window.target.roles.items() if role.master == window.resolved
        }
        return [
            worker.config.number
            for worker in self.workers
            if worker.config.role is Role.CONSUMER and worker.config.queue_word in held
        ]

    def _entered(self, who: str, window: LiveWindow) -> Declared:
        """None, too, where a balancer decides to whom clients come."""
        if self.entries[who] == BY_NAME_SERVERS:  # who finds masters is at no slave's
            return (
                False if window.resolved and window.target.target_role == "mirror" else NO_ENTRANCE
            )
        known = window.resolved and self.entries[who] != BALANCER
        return self.entries[who] == window.resolved if known else None

    def _name_servers(self, resolved: str) -> dict[str, Any]:
        """Which of them a fault strikes, and which it leaves."""
        every, names = self.stage.servers.name_servers, (STRUCK, *NAME_SERVER_FACTS)
        if not every or not resolved:
            return dict.fromkeys(names, None if every else NO_NAME_SERVERS)
        struck = [
            each.host for each in every if any(overlap(each.place, one) for one in split(resolved))
        ]
        return dict(zip(names, (struck, len(struck), len(every) - len(struck)), strict=True))


def synchronised_at_fault(roles: Iterable[Roles]) -> Declared:
    """The least of all queues; {"at_least": n} where brokers do not tell which mirrors are."""
    found = [(one.synchronised_min, one.synchronised_known is not None) for one in roles]
    if not found:
        return None
    least = min(count for count, _ in found)
    return least if all(known for _, known in found) else {AT_LEAST: least}


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
    copied = "" if every_s is None else f", which slaves copy every {every_s} s"
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
        seat: Seat,
    ) -> None:
        self._plan = plan
        self._seat = seat
        self._cluster = cluster
        self._folder = folder
        self._boot_id = boot_id
        self._step = step
        self._origin_ns = time.monotonic_ns()
        self._prefix = f"mqproof.{plan.name}."
        self._queues = {word: f"{self._prefix}{word}" for word in plan.scenario.workload.queues}
        self._hosts = tuple(host.name for host in plan.layout.hosts)
        self._servers = plan.system.servers(plan.layout)
        self._links: dict[str, tuple[Link, ...]] = {}
        self._numbers = 0
        self._places: dict[str, int] = {}  # publishers and consumers -> the place among their role

    async def begin(self) -> Prepared:
        """Raises DeployError, WorkerLost, NoSuchTarget."""
        self._step(_declaring(self._servers))
        roles = await self._declare()
        involved = self._involved(roles)
        workload = self._plan.scenario.workload
        entries = {
            "publishers": self._order(workload.publishers_enter, roles, involved),
            "consumers": self._order(workload.consumers_enter, roles, involved),
        }
        self._step("connect the workers")
        workers = await self._start_all(entries)
        stage = Stage(
            plan=self._plan,
            cluster=self._cluster,
            journal=Journal(self._folder / JOURNAL),
            record=Record(self._folder / LOGS, self._origin_ns, self._plan.name),
            origin_ns=self._origin_ns,
            queues=self._queues,
            links=self._links,
            roles_of_worker={worker.name: worker.config.role.value for worker in workers},
            numbers={worker.name: worker.config.number for worker in workers},
            process_ends=ProcessEnds(self._origin_ns),
            seat=self._seat,
        )
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
        endpoints = await self._entrance(name, hosts)
        config = self._config(role, name, dead.config.queue_word, endpoints, index)
        worker = await start_worker(self._cluster, name, config, self._boot_id)
        try:
            await all_ready([worker], READY_LIMIT_S)
        except BaseException:
            await worker.end(CLOSE_LIMIT_S)
            raise
        return worker

    def _order(
        self, entry: Entry, roles: Mapping[str, Roles], involved: tuple[str, ...]
    ) -> tuple[str, ...]:
        if asks_name_servers(self._plan.client):
            return (BY_NAME_SERVERS,)
        if self._plan.layout.balancers:
            return (BALANCER,)
        return order_of_entry(entry, roles, self._hosts, involved)

    async def _declare(self) -> dict[str, Roles]:
        chance = stream(self._plan.seed, "placement")
        roles = {}
        for word, name in self._queues.items():
            host = self._plan.scenario.workload.declared_at or chance.choice(self._hosts)
            await self._cluster.broker.declare(name, self._plan.scenario.workload.durable, host)
            roles[word] = await self._cluster.broker.roles(name)
        return roles

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
        self, targets: Sequence[str], roles: Mapping[str, Roles], involved: Sequence[str] = ()
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
            workers.append(await start_worker(self._cluster, name, config, self._boot_id))

        wanted = [one async for one in self._wanted(entries)]
        try:
            work = (start(*one) for one in wanted)
            for failed in filter(None, await asyncio.gather(*work, return_exceptions=True)):
                raise failed
            await all_ready(workers, READY_LIMIT_S)
        except BaseException:
            await asyncio.gather(*(worker.end(CLOSE_LIMIT_S) for worker in workers))
            raise
        return tuple(sorted(workers, key=lambda worker: worker.config.number))

    async def _wanted(
        self, entries: Mapping[str, tuple[str, ...]]
    ) -> AsyncIterator[tuple[str, WorkerConfig]]:
        """Every worker of the load, by name, with links of its own."""
        workload = self._plan.scenario.workload
        for role, who, count in (
            (Role.PUBLISHER, "publishers", workload.publishers),
            (Role.CONSUMER, "consumers", workload.consumers),
        ):
            known = entries[who][:1] if self._plan.layout.entrance == ONE else entries[who]
            for index in range(count):
                name = f"{role.value}-{index + 1}"
                queue = workload.queues[index % len(workload.queues)]
                endpoints = await self._entrance(name, known)
                self._places[name] = index
                yield name, self._config(role, name, queue, endpoints, index)
        for queue in workload.queues if asks_name_servers(self._plan.client) else ():
            name = f"{Role.PROBER.value}-{queue}"
            endpoints = await self._entrance(name, ())
            config = self._config(Role.PROBER, name, queue, endpoints)
            voters = _voters(self._links[name], self._servers)
            yield name, replace(config, own={**config.own, VOTERS: voters})

    async def _entrance(self, worker: str, hosts: tuple[str, ...]) -> tuple[Endpoint, ...]:
        """By name servers, or by these hosts in their order."""
        links = self._links[worker] = await self._cluster.link(self._plan, worker)
        if asks_name_servers(self._plan.client):
            found = (_end(links, one) for one in self._servers.name_servers)
            return tuple(way for way in found if way is not None)
        by_host = {link.host: link.endpoint for link in links}
        return tuple(by_host[host] for host in hosts)

    def _config(
        self, role: Role, name: str, queue: str, endpoints: tuple[Endpoint, ...], index: int = 0
    ) -> WorkerConfig:
        workload, drain = self._plan.scenario.workload, self._plan.system.drain
        self._numbers += 1
        publishers, client = workload.publishers, self._plan.client
        reader = drains_by(client) if role is Role.DRAINER else name_of(client)
        return WorkerConfig(
            role=role,
            number=self._numbers,
            run=self._plan.name,
            run_number=self._plan.number,
            origin_ns=self._origin_ns,
            log=self._cluster.log_folder(self._folder, name),
            client=reader,
            driver=driver(reader),
            queue=drain.queue_name(self._queues[queue]),
            queue_word=queue,
            endpoints=endpoints,
            connection_name=f"{self._prefix}{name}",
            index=index,
            rate=None if workload.rate is None else workload.rate / publishers,
            phase=index / publishers,
            keys=workload.keys,
            body_bytes=workload.body_bytes,
            persistent=workload.persistent,
            confirms=workload.confirms,
            strength=self._strength(),
            retry=workload.retry.value,
            deadline_s=workload.deadline_s,
            acknowledge=workload.acknowledge,
            quiet_s=drain.quiet_s(workload),
            limit_s=self._plan.schedule.drain_limit_s + drain.more_s(workload),
            confirm_window=named(client).family.unconfirmed_max(workload),
            own=told(client, workload, self._servers),
        )

    def _strength(self) -> int:
        """What a confirm promises by the system's own declaration; without one, the least."""
        guarantees = self._plan.system.guarantees(self._plan.layout)
        workload = self._plan.scenario.workload
        if not named(self._plan.client).family.confirms_routed(workload):
            return Strength.UNROUTED_POSSIBLE
        lasting = workload.durable and workload.persistent
        found = guarantees.strength if lasting else guarantees.strength_of_transient
        return Strength.BUFFERED if found is None else found

    def _drain_and_audit(self, entry: tuple[str, ...]) -> DrainAndAudit:
        workload, drain = self._plan.scenario.workload, self._plan.system.drain

        def ordered(queue: str) -> bool:
            index = workload.queues.index(queue)
            serving = len(range(index, workload.consumers, len(workload.queues)))
            return drain.in_order(workload, serving)

        async def entrance(worker: str) -> tuple[Endpoint, ...]:
            return await self._entrance(worker, entry)

        async def way_to(worker: str, broker: Process) -> Endpoint | None:
            if worker not in self._links:
                await self._entrance(worker, ())
            return _end(self._links[worker], broker)

        return DrainAndAudit(
            self._cluster,
            self._prefix,
            self._queues,
            ordered,
            ReaderStart(self._config, entrance, self._boot_id),
            Logs(self._servers.logs, way_to, self._seat.runs),
            drain.gone_by_force_s,
        )
