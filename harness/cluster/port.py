"""What a deployment offers to the run: the ports that compose, local and external implement.

1. Nothing here knows Docker; nothing behind here knows scenarios, windows or verdicts.
2. Every wait has a deadline and ends in DeployError, which names what was waited for.
3. Hosts are named by the layout ("rmq1"); queues by the broker's name (`mqproof.<run>.orders`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from faults.core.actions import Action
from faults.core.model import Executor
from faults.core.witness import Witness
from harness.cluster.log_tails import LeftOut
from harness.cluster.orders import Operator
from harness.cluster.started_clients import StartedClients
from harness.plan.model import Layout, RunPlan
from harness.plan.problems import Problem
from harness.workers.protocol import Endpoint


class DeployError(Exception):
    """A failure of the outside world: what was tried, the answer, and what to do about it."""

    def __init__(self, reason: str = "", remedy: str = "") -> None:
        super().__init__(f"{reason}; {remedy}" if remedy else reason)
        self.reason, self.remedy = reason, remedy


class WrongInput(DeployError):
    """A cluster that is not what the user's input says, or cannot start as it says: bad input.

    `problems`: the same, each with its place and what to do; (): the text is all.
    """

    def __init__(self, text: str, problems: Iterable[Problem] = (), remedy: str = "") -> None:
        super().__init__(text, remedy)
        self.problems = tuple(problems)


def wrong_input(problems: Iterable[Problem]) -> WrongInput:
    """Return the error that says all of these problems."""
    found = tuple(problems)
    return WrongInput("; ".join(map(str, found)), found)


@dataclass(frozen=True, slots=True)
class Roles:
    """The hosts that hold a queue, as the cluster reports it; the oldest mirror first."""

    master: str | None
    mirrors: tuple[str, ...]
    synchronised: tuple[str, ...] | None  # the mirrors that hold everything; None: no word of it
    synchronised_at_least: int = 0  # then: so many of them do, whichever they are

    @property
    def synchronised_known(self) -> int | None:
        """Return how many mirrors are synchronised; None if there are only bounds."""
        if self.synchronised is not None:
            return len(self.synchronised)
        least = self.synchronised_at_least
        return least if least == len(self.mirrors) else None

    @property
    def synchronised_min(self) -> int:
        """Return how many mirrors are synchronised, at least."""
        known = self.synchronised_known
        return self.synchronised_at_least if known is None else known


@dataclass(frozen=True, slots=True)
class Health:
    """Whether a cluster may serve another run; `doubts` are the reasons if not."""

    clean: bool
    doubts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeadBroker:
    """A place whose broker is dead: how that was verified, and the actions that start one.

    `start`: empty if it must not be started. `waits`: the process runs, and may wait for peers.
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
        """Send a message. Raise DeployError if the process is gone."""

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the process has ended its side."""

    async def exit_code(self) -> int | None:
        """Return how it ended; None while it runs, or if unknown."""

    async def kill(self) -> None:
        """Send SIGKILL to the process; it is no error if it is gone."""

    async def close(self) -> None:
        """End our side: the process's input ends, so it stops by itself."""


class HasQueues(Protocol):
    """The queues of a run, made before it and gone after it."""

    async def declare(self, queue: str, durable: bool, host: str, max_priority: int = 0) -> None:
        """Declare a queue with its master on `host`; return when its mirrors are there.

        `max_priority`: of its messages; 0: they have none. Given only if there is one.
        """

    async def delete(self, prefix: str) -> None:
        """Delete all queues whose names begin so, on every host that answers."""

    async def queues(self, prefix: str) -> tuple[str, ...]:
        """Return the names of queues that begin so. Raise DeployError if no host answers."""


@runtime_checkable
class FansOut(Protocol):
    """Queues of a run that several consumer groups read, each its own."""

    async def fan_out(
        self, exchange: str, queues: Sequence[str], durable: bool, host: str
    ) -> None:
        """Make what gives each message to all of these queues, through that host.

        `delete` removes it, too. Raise DeployError.
        """


class ReportsHolders(Protocol):
    """The port that reports which hosts hold a queue."""

    cannot_answer: frozenset[str]  # hosts that nothing can query: their own word is never known

    async def roles(self, queue: str) -> Roles: ...

    async def masters(self, queue: str) -> dict[str, bool | None]:
        """Return host -> whether it reports to be the queue's master; None: no answer."""

    async def held(self, queue: str, host: str) -> int | None:
        """Return how many messages of a queue a host reports to hold itself; None: unknown."""


class ReportsCluster(Protocol):
    """The port that reports members and settings of the whole cluster."""

    async def members(self, host: str) -> tuple[str, ...]:
        """Return the cluster's hosts, up or down, as one host reports. Raise DeployError."""

    async def policy(self, name: str) -> dict[str, Any] | None:
        """Return its definition by the first answer, None if it is not set. Raise DeployError."""

    async def controller(self) -> str:
        """Return the place of the leading controller; "" if unknown, or if there is none."""


class ReportsConnections(Protocol):
    async def connections(self, prefix: str, close: bool) -> tuple[str, ...]:
        """Return names of listed connections that begin so; `close`: ask to close them."""


class Broker(HasQueues, ReportsHolders, ReportsCluster, ReportsConnections, Protocol):
    """What a run must ask of the brokers themselves."""


class HasBrokers(Protocol):
    """Running brokers: queries, orders and health."""

    @property
    def layout(self) -> Layout: ...

    @property
    def broker(self) -> Broker: ...

    @property
    def operator(self) -> Operator:
        """Return the port for operators' orders; processes are the executor's."""

    async def health(self, limit_s: float) -> Health:
        """Waits until clean, at most so long: all nodes answer and are listed, no partition, no
        alarm, every mirror that the layout promises there and, where automatic, synchronised."""

    async def dead_broker(self, place: str) -> DeadBroker | None:
        """Of a place that does not answer: how it was seen that no broker lives there, so that a
        start destroys nothing; None where one may live. Raises FaultError, DeployError."""

    def versions(self) -> dict[str, str]:
        """Return versions of everything that was started: brokers, proxy, images, engine."""


class CanBeBroken(Protocol):
    """The ports that inject faults, and verify them."""

    @property
    def executor(self) -> Executor: ...

    @property
    def witness(self) -> Witness: ...


class HasWays(Protocol):
    """The links from workers to brokers."""

    async def link(self, run: RunPlan, worker: str) -> tuple[Link, ...]:
        """A proxy listener for this worker to each host, in the layout's order of hosts; to each
        process of it that clients dial, where it may have several."""

    async def unlink(self, run: RunPlan) -> None:
        """Remove every listener of the run."""

    async def direct(self, host: str) -> Endpoint:
        """Return a direct endpoint of a host, for auditors (they never carry load)."""

    async def entered(self) -> tuple[str, ...]:
        """Return the balancers that have the address which clients dial.

        Empty if clients dial the brokers, or if no balancer has it.
        """


class RunsWorkers(Protocol):
    """The processes of the load, beside the brokers."""

    @property
    def started_clients(self) -> StartedClients:
        """Return the clients started on it: the run adds them, the witness looks them up."""

    async def spawn(self, worker: str) -> Channel:
        """Start a worker process beside the brokers, which waits for `hello`."""

    def log_folder(self, run_folder: Path, worker: str) -> str:
        """Return the path of a worker's log, as the worker sees it."""

    async def fetch_logs(self, run_folder: Path) -> LeftOut:
        """Copy the logs of workers and brokers into the run folder (`broker_logs/`).

        Of a broker's log only the end; return how much of each log is omitted.
        """


class IsWatched(Protocol):
    """What happens to hosts and processes while a run goes on."""

    def resources(self) -> AsyncIterator[HostSample]:
        """Yield one sample a host and second until closed."""

    def process_ends(self) -> AsyncIterator[Ended]:
        """Yield every broker process that ends from now on, whatever ended it, until closed.

        Nothing if the processes cannot be watched. Raise DeployError if the watch was lost.
        """


class Cluster(HasBrokers, CanBeBroken, HasWays, RunsWorkers, IsWatched, Protocol):
    """A running system, ready for runs one after another."""

    async def down(self) -> None:
        """Remove everything that this deployment made, volumes too."""


Progress = Callable[[str], None]
Release = Callable[[], Awaitable[None]]  # gives a cluster back to the process that keeps it


class Deployment(Protocol):
    """A way to start systems."""

    async def up(self, layout: Layout, experiment_folder: Path, progress: Progress) -> Cluster:
        """Build missing images, start the system from empty volumes, wait until it is clean.

        `progress` is called with the name of each step as it begins. Raises DeployError; what was
        started by then is removed (or kept, with --keep).
        """
