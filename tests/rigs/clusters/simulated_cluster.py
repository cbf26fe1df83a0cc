"""A cluster that stands in memory: the ports of harness.cluster.port, with switches for trouble.

Workers here are scripts, not processes: they obey the control channel and write real logs.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.core.actions import Action, KillClients, ReplaceClients
from faults.core.model import FaultError, Receipt
from harness.cluster.log_tails import LeftOut
from harness.cluster.orders import (
    AddNode,
    DeletePolicy,
    ForgetNode,
    Order,
    Promote,
    ResetNode,
    SetPolicy,
    Synchronise,
)
from harness.cluster.port import DeadBroker, DeployError, Ended, Health, HostSample, Link, Roles
from harness.cluster.started_clients import StartedClients
from harness.deploy.dead_brokers import by_process
from harness.plan.model import Layout, RunPlan
from harness.systems.rocketmq.core.layout import RocketMq, servers
from harness.workers.protocol import EXIT_ORPHANED, Endpoint, Role, WorkerConfig
from spark_analysis.files.log import LogWriter
from spark_analysis.schema.tables import ATTEMPTS, DELIVERIES, SETTLEMENTS
from spark_analysis.schema.words import NO_OFFSET, Outcome, Strength, Via
from tests.rigs.clusters.fault_world import World

BOOT_ID = "the-boot"
NO_HOST = "no host holds it"
HERE = "127.0.0.1"


class ScriptedWorker:
    """A channel to a worker that sends, confirms and delivers `messages` messages at `start`."""

    def __init__(self, cluster: "SimulatedCluster", name: str) -> None:
        self._cluster = cluster
        self.name = name
        self.heard: list[str] = []
        self.closed = False
        self._said: asyncio.Queue[dict[str, Any] | DeployError | None] = asyncio.Queue()
        self._config: WorkerConfig | None = None
        self._log: LogWriter | None = None
        self._exit: int | None = None

    async def send(self, message: dict[str, Any]) -> None:
        do = message["do"]
        if do != "ping":
            self.heard.append(do)
        if self.name in self._cluster.deaf:
            return
        getattr(self, f"_{do}")(message)

    async def receive(self) -> dict[str, Any] | None:
        said = await self._said.get()
        if isinstance(said, DeployError):
            raise said
        return said

    async def exit_code(self) -> int | None:
        return self._exit

    async def kill(self) -> None:
        self.end(137)

    async def close(self) -> None:
        self.closed = True

    def say(self, kind: str, **fields: Any) -> None:
        self._said.put_nowait({"say": kind, **fields})

    def _hello(self, _: dict[str, Any]) -> None:
        self.say(
            "hello",
            boot_id=BOOT_ID,
            monotonic_ns=time.monotonic_ns(),
            suspended_ns=0,
            pid=1,
            versions={"pika": "0"},
        )

    def _ping(self, _: dict[str, Any]) -> None:
        skew = self._cluster.clock_skew_ns
        self.say("pong", monotonic_ns=time.monotonic_ns() + skew, suspended_ns=0)
        counts = {"sent": self._cluster.messages, "confirmed": self._cluster.messages}
        if self._config is not None and self._config.resume_at is not None:
            counts["next_offset"] = self._cluster.messages
        self.say("status", **counts)

    def _configure(self, message: dict[str, Any]) -> None:
        self._config = config = WorkerConfig.from_json(message["config"])
        self._cluster.configured[self.name] = config
        self._log = LogWriter(Path(config.log))
        self.say("ready")
        if config.role in (Role.DRAINER, Role.AUDITOR):
            drains = config.role is Role.DRAINER
            doubt = self._cluster.why_not_drained(config.queue) if drains else ""
            if drains and not self._cluster.consumed and doubt != NO_HOST:
                for sequence in range(1, self._cluster.messages + 1):
                    self._deliver(sequence, Via.DRAIN)
            for sequence in self._cluster.on_disk if config.role is Role.AUDITOR else ():
                self._deliver(sequence, Via.AUDIT)
            if drains and self._cluster.endless_drain:
                return
            for _, word in config.queues:
                own = doubt or self._cluster.undrained.get(word, "")
                end = {"complete": not own, "doubt": own, "subscribed": self._cluster.subscribes}
                self.say("drained", queue=word, **end, **self._places(config))

    def _places(self, config: WorkerConfig) -> dict[str, Any]:
        """Where a reader of a stream came to."""
        if config.resume_at is None:
            return {}
        cluster, host = self._cluster, config.endpoints[0].host
        if config.role is Role.DRAINER:
            return {"next_offset": cluster.messages}
        return {"next_offsets": [cluster.replica_ends.get(host, cluster.messages)]}

    def _start(self, _: dict[str, Any]) -> None:
        assert self._config is not None and self._log is not None
        config = self._config
        if self.name in self._cluster.failing:
            self.say("failed", doubt="No space left on device")
            self.end(70)
            return
        if self.name in self._cluster.garbled:
            self._said.put_nowait(DeployError(f"{self.name} wrote what is no message"))
        late = bool(self._cluster.world.dead_clients)  # in a dead one's place: nothing is left
        for sequence in range(1, 1 if late else self._cluster.messages + 1):
            at_ns = sequence * 1_000_000
            if config.role is Role.PUBLISHER:
                self._log.append(
                    ATTEMPTS, 1, sequence, 1, config.queue_word, 0, at_ns, at_ns, 1, sequence, 99
                )
                settled = (at_ns + 1000, Outcome.CONFIRMED, Strength.REPLICATED, "ack", 1)
                self._log.append(SETTLEMENTS, 1, sequence, 1, *settled)
            elif sequence not in self._cluster.swallowed:
                self._deliver(sequence, Via.LOAD)
        self._log.flush()
        if self.name in self._cluster.orphaned:
            self._log.close()
            self.say("closed")
            self.end(EXIT_ORPHANED)

    def _deliver(self, sequence: int, via: Via) -> None:
        assert self._config is not None and self._log is not None
        at_ns = sequence * 1_000_000
        self._log.append(
            DELIVERIES,
            self._config.number,
            *(1, sequence, 1, 0, at_ns + 2000, at_ns, self._config.queue_word, None, NO_OFFSET),
            *(0, 1, 1, 1, via, 1, sequence),
        )

    def _stop_load(self, _: dict[str, Any]) -> None:
        pass

    def _break_off(self, _: dict[str, Any]) -> None:
        pass

    def _close(self, _: dict[str, Any]) -> None:
        assert self._log is not None
        if self._exit is None:
            self._log.close()
            self.say("closed")
            self.end(0)

    def end(self, code: int) -> None:
        if self._exit is None:
            self._exit = code
            self._said.put_nowait(None)


class SimulatedExecutor:
    """Carries actions out on a World; `refuse` makes an action fail, `idle` makes it a lie."""

    def __init__(self, world: World, kill: Callable[[tuple[str, ...]], None]) -> None:
        self._world = world
        self._kill = kill
        self.performed: list[Action] = []
        self.refuse: tuple[type[Any], ...] = ()
        self.idle = False
        self.takes_s = 0.0

    async def perform(self, action: Action) -> Receipt:
        issued_ns = time.monotonic_ns()
        await asyncio.sleep(self.takes_s)
        self.performed.append(action)
        if isinstance(action, self.refuse):
            raise FaultError(f"{type(action).__name__}: the engine said no")
        if isinstance(action, ReplaceClients) or not self.idle:  # others start them: it need not
            self._world.change(action)
            if isinstance(action, KillClients):
                self._kill(action.clients)
        return Receipt(issued_ns, time.monotonic_ns())

    def mechanism(self, kind: str) -> str:
        return self._world.mechanism(kind)


class SimulatedOperator:
    """Carries orders out, and writes them down; `refuse` makes an order fail, `idle` a lie."""

    def __init__(self, cluster: "SimulatedCluster") -> None:
        self._cluster = cluster
        self.carried_out: list[Order] = []
        self.refuse: tuple[type[Any], ...] = ()
        self.idle = False

    async def carry_out(self, order: Order) -> str:
        self.carried_out.append(order)
        if isinstance(order, self.refuse):
            raise DeployError(f"{type(order).__name__}: the broker said no")
        if not self.idle:
            self._change(order)
        return "done"

    def _change(self, order: Order) -> None:
        cluster = self._cluster
        match order:
            case AddNode(host=host):
                cluster.members.append(host)
            case ForgetNode(host=host):
                cluster.members.remove(host)
            case ResetNode(host=host):
                others = [one for one in cluster.members if one != host]
                cluster.declared.update(
                    {queue: others[0] for queue, at in cluster.declared.items() if at == host}
                )
            case SetPolicy(name=name, definition=definition):
                cluster.policies[name] = dict(definition)
            case DeletePolicy(name=name):
                cluster.policies.pop(name, None)
            case Synchronise():
                cluster.synchronised = True
            case Promote(queue=queue, host=host):
                cluster.declared[queue] = host


class SimulatedBroker:
    cannot_answer: frozenset[str] = frozenset()

    def __init__(self, cluster: "SimulatedCluster") -> None:
        self._cluster = cluster
        self._first_listed_s: float | None = None  # when it was first asked for connections

    async def declare(self, queue: str, durable: bool, host: str, max_priority: int = 0) -> None:
        self._cluster.declared[queue] = host
        self._cluster.priorities[queue] = max_priority

    async def fan_out(
        self, exchange: str, queues: Sequence[str], durable: bool, host: str
    ) -> None:
        self._cluster.bound[exchange] = tuple(queues)

    async def roles(self, queue: str) -> Roles:
        master = self._cluster.declared[queue]
        dead = self._cluster.world.dead
        if master in dead:
            up = [h.name for h in self._cluster.layout.hosts if h.name not in dead]
            if not self._cluster.elects:
                return Roles(None, tuple(up), ())
            return Roles(up[0] if up else None, tuple(up[1:]), tuple(up[1:]))
        copies = self._cluster.layout.copies
        assert copies is not None
        mirrors = tuple(
            h.name for h in self._cluster.layout.hosts if h.name != master and h.name not in dead
        )[: copies - 1]
        return Roles(master, mirrors, mirrors if self._cluster.synchronised else ())

    async def members(self, host: str) -> tuple[str, ...]:
        assert host not in self._cluster.world.dead, "a stopped host reports nothing"
        return tuple(self._cluster.members)

    async def policy(self, name: str) -> dict[str, Any] | None:
        return self._cluster.policies.get(name)

    async def controller(self) -> str:
        return ""

    async def masters(self, queue: str) -> dict[str, bool | None]:
        world, master = self._cluster.world, (await self.roles(queue)).master
        own: dict[str, bool | None] = {
            h.name: h.name == master for h in self._cluster.layout.hosts
        }
        return own | self._cluster.claims | dict.fromkeys([*world.dead, *world.frozen])

    async def held(self, queue: str, host: str) -> int | None:
        assert host not in self._cluster.world.dead and queue in self._cluster.declared
        return self._cluster.held

    async def connections(self, prefix: str, close: bool) -> tuple[str, ...]:
        """Of who has left and is listed still, from the first question on."""
        self._cluster.when_drained()
        now_s = asyncio.get_running_loop().time()
        self._first_listed_s = now_s if self._first_listed_s is None else self._first_listed_s
        listed = now_s - self._first_listed_s < self._cluster.dead_listed_s
        return (f"{prefix}consumer-1",) if listed else ()

    async def delete(self, prefix: str) -> None:
        self._cluster.deleted.append(prefix)

    async def queues(self, prefix: str) -> tuple[str, ...]:
        return tuple(sorted(name for name in self._cluster.declared if name.startswith(prefix)))


@dataclass
class SimulatedCluster:
    """Implements harness.cluster.port.Cluster."""

    layout: Layout
    messages: int = 20
    swallowed: frozenset[int] = frozenset()  # sequences that consumers never get
    deaf: frozenset[str] = frozenset()  # workers that answer nothing
    dead_listed_s: float = 0.0  # so long it lists a consumer that has left
    failing: frozenset[str] = frozenset()  # workers whose disk is full
    garbled: frozenset[str] = frozenset()  # workers that write what is no message, under load
    orphaned: frozenset[str] = frozenset()  # workers that lose the harness in the middle of a run
    drain_doubt: str = ""
    subscribes: bool = True  # its drainers do, at some time
    undrained: dict[str, str] = field(default_factory=dict)  # why a queue of the scenario was not
    endless_drain: bool = False  # who drains never says that he is done
    on_disk: tuple[int, ...] = (1,)  # the sequences that an auditor finds wherever he reads
    replica_ends: dict[str, int] = field(default_factory=dict)  # others end where the drain does
    clock_skew_ns: int = 0
    health_doubts: tuple[str, ...] = ()
    left_out: LeftOut = field(default_factory=dict)  # of its brokers' logs
    entered_at: tuple[str, ...] | None = None  # the balancers that say they have the address
    downs: int = 0
    claims: dict[str, bool | None] = field(default_factory=dict)
    members: list[str] = field(default_factory=list)
    policies: dict[str, dict[str, Any]] = field(default_factory=dict)
    synchronised: bool = True  # whether mirrors hold all, without being told to
    held: int | None = None  # what a host says that it holds of a queue
    elects: bool = True  # whether a dead master has a successor without being told to
    declared: dict[str, str] = field(default_factory=dict)
    priorities: dict[str, int] = field(default_factory=dict)  # of each queue, the highest
    bound: dict[str, tuple[str, ...]] = field(default_factory=dict)  # by exchange, its queues
    deleted: list[str] = field(default_factory=list)
    configured: dict[str, WorkerConfig] = field(default_factory=dict)
    workers: dict[str, ScriptedWorker] = field(default_factory=dict)
    when_drained: Callable[[], None] = lambda: None  # called as the drain begins, and later
    world: World = field(default_factory=World)
    watch_fails: Exception | None = None  # by this the watch of processes breaks off
    accidents: tuple[tuple[float, str, int], ...] = ()  # after how long, whose process, its status

    def __post_init__(self) -> None:
        self.broker = SimulatedBroker(self)
        self.operator = SimulatedOperator(self)
        self.members = [host.name for host in self.layout.hosts]
        self.started_clients = StartedClients(self.broker.connections, ())
        self.executor = SimulatedExecutor(self.world, self.kill)
        self.witness = self.world

    @property
    def consumed(self) -> bool:
        """Whether a consumer of the load got what was sent: the drain finds nothing then."""
        return any(each.role is Role.CONSUMER for each in self.configured.values())

    def why_not_drained(self, queue: str) -> str:
        """Return `drain_doubt`, or why no host holds the queue: no successor."""
        gone = self.declared.get(queue) in self.world.dead and not self.elects
        return self.drain_doubt or (NO_HOST if gone else "")

    def kill(self, clients: tuple[str, ...]) -> None:
        for client in clients:
            self.workers[client].end(137)

    async def spawn(self, worker: str) -> ScriptedWorker:
        self.workers[worker] = ScriptedWorker(self, worker)
        return self.workers[worker]

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        proxy = f"mqproof.{run.name}.{worker}"
        if not isinstance(self.layout.own, RocketMq):
            return tuple(
                Link(worker, host.name, f"{proxy}.{host.name}", Endpoint(host.name, HERE, 1))
                for host in self.layout.hosts
            )
        return tuple(
            Link(
                worker,
                one.host,
                f"{proxy}.{one.host}.{one.process}",
                Endpoint(one.host, HERE, one.port),
                one.process,
            )
            for one in servers(self.layout.hosts)
        )

    async def unlink(self, run: RunPlan) -> None:
        pass

    async def direct(self, host: str) -> Endpoint:
        return Endpoint(host, "127.0.0.1", 2)

    async def entered(self) -> tuple[str, ...]:
        return self.layout.balancers[:1] if self.entered_at is None else self.entered_at

    async def dead_broker(self, place: str) -> DeadBroker | None:
        return await by_process(self.world, place)

    async def health(self, limit_s: float) -> Health:
        return Health(not self.health_doubts, self.health_doubts)

    def log_folder(self, run_folder: Path, worker: str) -> str:
        return str(run_folder / "logs" / worker)

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        return self.left_out

    async def resources(self) -> AsyncIterator[HostSample]:
        while True:
            for host in self.layout.hosts:
                yield HostSample(host.name, time.monotonic_ns(), 1, 2, 3, 4, 5, 6)
            await asyncio.Event().wait()

    async def process_ends(self) -> AsyncIterator[Ended]:
        """What its executor ends; and `accidents`, so many seconds after the first look."""
        dead, began_s = self.world.dead, time.monotonic()
        seen, to_come = set(dead), sorted(self.accidents)
        while True:
            while to_come and time.monotonic() - began_s >= to_come[0][0]:
                _, host, code = to_come.pop(0)
                dead[host] = code
            for host in sorted(set(dead) - seen):
                yield Ended(host, time.monotonic_ns(), dead[host])
            seen = set(dead)
            if self.watch_fails is not None:
                raise self.watch_fails
            await asyncio.sleep(0.05)

    def versions(self) -> dict[str, str]:
        return {"broker": "simulated"}

    async def down(self) -> None:
        self.downs += 1
