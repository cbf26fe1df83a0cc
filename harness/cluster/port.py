"""What a deployment offers to the run: the ports that compose, local and external implement.

1. Nothing here knows Docker; nothing behind here knows scenarios, windows or verdicts.
2. Every wait has a deadline and ends in DeployError, which names what was waited for.
3. Hosts are named by the layout ("rmq1"); queues by the broker's name (`mqproof.<run>.orders`).
"""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from faults.actions import Action
from faults.model import Executor
from faults.witness import Witness
from harness.cluster.log_tails import LeftOut
from harness.cluster.orders import Operator
from harness.cluster.roster import Roster
from harness.plan.model import Layout, RunPlan
from harness.workers.protocol import Endpoint


class DeployError(Exception):
    """The world did not let us: what was tried, what it said, what to do about it."""


@dataclass(frozen=True, slots=True)
class Roles:
    """Who holds a queue, by the cluster's own word. Hosts in age order, oldest mirror first."""

    master: str | None
    mirrors: tuple[str, ...]
    synchronised: tuple[str, ...] | None  # the mirrors that hold everything; None: no word of it
    synchronised_at_least: int = 0  # then: so many of them do, whichever they are

    @property
    def synchronised_known(self) -> int | None:
        """How many mirrors hold everything; None where there are only bounds."""
        if self.synchronised is not None:
            return len(self.synchronised)
        least = self.synchronised_at_least
        return least if least == len(self.mirrors) else None

    @property
    def synchronised_min(self) -> int:
        """How many mirrors hold everything, at least."""
        known = self.synchronised_known
        return self.synchronised_at_least if known is None else known


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a cluster may serve another run; `doubts` says what stands against it."""

    clean: bool
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lifeless:
    """A place where no broker lives any more: how that was seen, and what starts one there.

    `start`: empty where nobody may. `waits`: the process runs, and may be waiting for its peers.
    """

    why: str
    start: tuple[Action, ...]
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """One worker's way to one broker process, through a proxy listener of its own."""

    worker: str
    host: str
    proxy: str  # the proxy's name; a link fault names it
    endpoint: Endpoint
    process: str = ""  # the host's process that it leads to, where a host may have several
    votes: bool = False  # to where that takes part in elections: only a prober has such


@dataclass(frozen=True, slots=True)
class Ended:
    """A broker's process that has ended, as the deployment's own watch saw it."""

    place: str  # a host, or a process of one that carries several
    at_ns: int  # CLOCK_MONOTONIC of the harness's machine
    exit_code: int | None  # 128 and the signal's number where a signal ended it; None: not known
    ended_by: str = ""  # who the watch saw end it: the kernel, for memory; somebody, by the engine


@dataclass(frozen=True, slots=True)
class HostSample:
    """What a host had used by one instant (CLOCK_MONOTONIC ns of the harness's machine)."""

    host: str
    at_ns: int
    cpu_ns: int
    memory_bytes: int
    network_received_bytes: int
    network_sent_bytes: int
    disk_read_bytes: int
    disk_written_bytes: int


class Channel(Protocol):
    """A JSON-lines conversation with a process that the deployment started."""

    async def send(self, message: dict[str, Any]) -> None:
        """Raises DeployError when the process is gone."""

    async def receive(self) -> dict[str, Any] | None:
        """The next message; None when the process has ended its side."""

    async def exit_code(self) -> int | None:
        """How it ended; None while it runs, or where nobody can tell."""

    async def kill(self) -> None:
        """SIGKILL to the process; no error if it is gone."""

    async def close(self) -> None:
        """Ends our side: the process's input ends, so it stops by itself."""


class HasQueues(Protocol):
    """The queues of a run, made before it and gone after it."""

    async def declare(self, queue: str, durable: bool, host: str) -> None:
        """A queue whose master is on `host`; returns when its mirrors are there."""

    async def delete(self, prefix: str) -> None:
        """Deletes all queues whose names begin so, on every host that answers."""


class TellsHolders(Protocol):
    """Who holds a queue."""

    async def roles(self, queue: str) -> Roles: ...

    async def masters(self, queue: str) -> dict[str, bool | None]:
        """Host -> whether it says that it is the queue's master; None: it cannot be asked."""

    async def held(self, queue: str, host: str) -> int | None:
        """How many messages of a queue a host says that it holds itself; None: it does not."""


class TellsCluster(Protocol):
    """Who is of the cluster, and what holds for all of it."""

    async def members(self, asked: str) -> tuple[str, ...]:
        """The hosts of the cluster, up or down, by one host's own word. Raises DeployError."""

    async def policy(self, name: str) -> dict[str, Any] | None:
        """Its definition, None where there is none, by the first that answers; or DeployError."""

    async def controller(self) -> str:
        """The place of the controller that leads the others; "" where nobody tells, or none is."""


class TellsConnections(Protocol):
    async def connections(self, prefix: str, close: bool) -> tuple[str, ...]:
        """Names of connections still listed that begin so; asks the broker to close them."""


class Broker(HasQueues, TellsHolders, TellsCluster, TellsConnections, Protocol):
    """What a run must ask of the brokers themselves."""


class HasBrokers(Protocol):
    """Brokers that stand: asked, told, and looked after."""

    @property
    def layout(self) -> Layout: ...

    @property
    def broker(self) -> Broker: ...

    @property
    def operator(self) -> Operator:
        """What people do to the brokers; processes are the executor's."""

    async def health(self, limit_s: float) -> Health:
        """Waits until clean, at most so long: all nodes answer and are listed, no partition, no
        alarm, every mirror that the layout promises there and, where automatic, synchronised."""

    async def lifeless(self, place: str) -> Lifeless | None:
        """Of a place that does not answer: how it was seen that no broker lives there, so that a
        start destroys nothing; None where one may live. Raises FaultError, DeployError."""

    def versions(self) -> dict[str, str]:
        """Everything that was started, by name: brokers, proxy, images, engine."""


class CanBeBroken(Protocol):
    """Who carries faults out, and who sees them."""

    @property
    def executor(self) -> Executor: ...

    @property
    def witness(self) -> Witness: ...


class HasWays(Protocol):
    """How workers come to brokers."""

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        """A proxy listener for this worker to each host, in the layout's order of hosts; to each
        process of it that clients dial, where it may have several."""

    async def unlink(self, run: RunPlan) -> None:
        """Removes every listener of the run."""

    async def direct(self, host: str) -> Endpoint:
        """The way to one host without a proxy, for auditors (they never carry load)."""

    async def entered(self) -> tuple[str, ...]:
        """The balancers that have the address which clients dial; empty where clients dial the
        brokers, or where nobody has it."""


class RunsWorkers(Protocol):
    """The processes of the load, beside the brokers."""

    @property
    def roster(self) -> Roster:
        """Who was started on it: entered by whoever starts it, asked by the witness."""

    async def spawn(self, worker: str) -> Channel:
        """Starts a worker process beside the brokers, waiting for `hello`."""

    def log_folder(self, run_folder: Path, worker: str) -> str:
        """Where a worker of that name writes its log, as the worker sees it."""

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        """Brings workers' logs and the brokers' own logs into the run folder (`broker_logs/`); of
        a broker's the end, and how much of which is left out."""


class IsWatched(Protocol):
    """What happens to hosts and processes while a run goes on."""

    def resources(self) -> AsyncIterator[HostSample]:
        """One sample a host and second until closed."""

    def process_ends(self) -> AsyncIterator[Ended]:
        """Every process of a broker that ends from now on, whoever ended it, until closed. Of
        processes that nobody can watch: nothing. Raises DeployError where the watch was lost."""


class Cluster(HasBrokers, CanBeBroken, HasWays, RunsWorkers, IsWatched, Protocol):
    """A system that stands, ready for runs one after another."""

    async def down(self) -> None:
        """Removes everything that this deployment made, volumes too."""


Progress = Callable[[str], None]


class Deployment(Protocol):
    """A way to make systems stand."""

    async def up(self, layout: Layout, experiment_folder: Path, progress: Progress) -> Cluster:
        """Builds what is missing, starts it from empty volumes, waits until it is clean.

        `progress` is called with the name of each step as it begins. Raises DeployError; what was
        started by then is removed (or kept, with --keep).
        """
