"""A system whose hosts and processes are containers: its images, its processes, its parts.

1. The code that renders, builds and starts them (harness/deploy) knows no system by its name.
2. If a system does not need a part, the part is None or empty.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Protocol

from faults.core.alarms import AlarmCommands
from faults.executors.canaries import Alarms
from faults.executors.service_ports import ServicePorts
from harness.cluster.agent import AgentClient
from harness.cluster.orders import Operator
from harness.cluster.port import DeadBroker, Link
from harness.plan.layouts.jars import JarSet
from harness.plan.model import Layout
from harness.systems.core.services import Services
from harness.systems.files import copy_worker_sources, shipped
from harness.systems.running_broker import RunningBroker
from harness.workers.protocol import Endpoint

Arguments = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Image:
    """How an image is made: its folder, arguments, and the official one if any.

    `variable`: of the environment, by which people name another one. `sources`: copies files of
    this installation into the build context. `jars`: sets that lie in it; what they must be is in
    the tag. `base`: the image that it is built on, as the build argument BASE; None: the usual.
    `users`: a user's image that it is built on; which one that is now, is in the tag.
    """

    name: str
    version: str
    folder: Callable[[], Path]
    variable: str
    arguments: Arguments = ()
    official: str = ""
    sources: Callable[[Path], None] | None = None
    jars: tuple[JarSet, ...] = ()
    base: "Image | None" = None
    users: str = ""

    @property
    def alias(self) -> str:
        """The tag without the hash, which the committed compose files name."""
        return f"{self.name}:{self.version}"

    @property
    def by_hand(self) -> str:
        """As a compose file for people names it."""
        return f"${{{self.variable}:-{self.alias}}}"


def installed(*packages: str) -> Arguments:
    """Build arguments: `PIKA_VERSION`, and what is installed here."""
    return tuple((argument(package), metadata.version(package)) for package in packages)


def argument(package: str) -> str:
    return f"{package.upper().replace('-', '_')}_VERSION"


def worker_image() -> Image:
    """Its clients have the versions of the running installation."""
    return Image(
        "mqproof/worker",
        f"pika-{metadata.version('pika')}",
        shipped("worker"),
        "MQPROOF_WORKER_IMAGE",
        installed("pika", "tenacity", "toxiproxy-python"),
        sources=copy_worker_sources,
    )


class Ways(Protocol):
    """Clients' and auditors' ways to brokers: cluster/links.py, or what does the same."""

    async def make(self, run: str, worker: str) -> tuple[Link, ...]: ...

    async def remove(self, run: str) -> None: ...

    async def direct(self, host: str) -> Endpoint: ...

    def dial(self, name: str) -> tuple[str, int]: ...

    def names_mean(self, worker: str) -> str | None:
        """The address that every host's name is to mean to a worker; None: what it means."""


class PlaceCommands(Protocol):
    """Commands in containers that have been started. They block, and raise FaultError."""

    def run(self, place: str, command: Sequence[str]) -> tuple[int, str]:
        """Run a command beside the process of a place (faults/core/places.py). Return its status
        and output; any status is an answer."""

    def run_instead(self, place: str, script: str, limit_s: float) -> tuple[int, str]:
        """Run a shell script instead of that process. Raise FaultError if the process runs."""


@dataclass(frozen=True, slots=True)
class Stand:
    """Containers that have been started, as a system's parts find them.

    `addresses`: by host; of a spare that joins, its part adds it. `client_endpoint`: of the
    balancers; "" where there are none. `free`: the proxy's addresses, one for each worker, where
    clients know brokers by name.
    """

    commands: PlaceCommands
    layout: Layout
    agent: AgentClient
    addresses: dict[str, str]
    proxy: str
    client_endpoint: str
    free: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAdapters:
    """The adapters of a running cluster: queries, orders and links.

    `alarms`: how brokers report alarms (faults/core/witness.py); None: they raise none.
    `dead_broker`: whether a place's process runs without its broker in it, and what starts that;
    blocks. None: where the process runs, so does the broker.
    """

    broker: RunningBroker
    operator: Operator
    ways: Ways
    service_ports: ServicePorts
    alarms: Alarms | None
    dead_broker: Callable[[str], DeadBroker | None] | None


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe found in a user's image: the version, and what it lacks; "" if nothing."""

    version: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UsersImage:
    """The conventions that an image of the user's own must follow. `entry_point`: its file name.

    `probe`: a command, run in a container of the image; `read` reads its output.
    """

    conventions: str  # for people
    entry_point: str
    probe: tuple[str, ...]
    read: Callable[[str], Probed]


@dataclass(frozen=True, slots=True)
class Distribution:
    """A vendor's folder: the brokers' version, the parts that it lacks, and what belongs there."""

    version: str
    problems: tuple[str, ...]
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """A system in containers. Nothing has a default.

    `image`: of every host and process. `worker_image`: of the load's processes, with the clients
    that the system is driven by. `jars`: every set that one of its hosts' images may hold.
    `parts`: makes the adapters of a cluster whose containers have been started. `users_image`:
    None: the system runs no image of a user's.
    `distribution`: looks into the folder of a vendor's own build; None: the system runs none.
    """

    image: Callable[[Layout], Image]
    worker_image: Callable[[], Image]
    services: Services
    jars: tuple[JarSet, ...]
    parts: Callable[[Stand], ClusterAdapters]
    alarms: AlarmCommands | None  # None: its brokers raise none that other brokers report
    users_image: UsersImage | None
    distribution: Callable[[Path], Distribution] | None
