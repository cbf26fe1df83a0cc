"""The parts of a system that deployments need: its files, its processes and its adapters.

1. A system stands in one declaration (registry.py), ours or that of a package beside mqproof, by
   the entry point group `mqproof.systems`.
2. Nothing has a default. A deployment that it does not support is None; a request for it is an
   error.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from faults.executors.service_ports import ServicePorts
from harness.cluster.agent import AgentClient
from harness.cluster.orders import Operator
from harness.plan.files.tables import Table
from harness.plan.files.toml_problems import TomlProblem
from harness.plan.layouts.guarantees import Guarantees
from harness.plan.layouts.servers import Servers
from harness.plan.model import Drain, Layout, LayoutFact
from harness.systems.containers import Containers, Ways
from harness.systems.foreign import Foreign
from harness.systems.running_broker import RunningBroker
from spark_analysis.schema.ways import DeliveryWay
from spark_analysis.schema.words import Level


class Adapters(NamedTuple):
    """The adapters of a local cluster: queries, orders, service ports, and links of workers."""

    broker: RunningBroker
    operator: Operator
    service_ports: ServicePorts
    ways: Ways


# --- as processes of this machine -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Unit:
    """One process of a host. `word`: the layout's for it. `command`: what starts it; the path of
    its configuration follows, and `--with-parent` where it is to end when its standard input does.
    Standard ports, at its host's own address: `speaks_at` is where clients and others ask it,
    `ports` is all that it listens at."""

    host: str
    word: str
    command: tuple[str, ...]
    speaks_at: int
    ports: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """One unit that is to be configured."""

    layout: Layout
    host: str
    word: str
    addresses: Mapping[str, str]  # by host
    port: Callable[[int], int]  # of a standard one: where something has that, all are shifted
    peers: Mapping[str, tuple[str, int]]  # where each other host's peer port is dialled
    data: str  # a folder of its own
    log: str  # a file
    misbehave: Mapping[str, Any] | None  # what it does wrong: kind, share, seed; truth: the file
    # in which it says to whom
    cookie: str = field(repr=False)  # drawn for this cluster: what only its nodes know

    @property
    def address(self) -> str:
        return self.addresses[self.host]


@dataclass(frozen=True, slots=True)
class Here:
    """Processes that have been started on this machine, as a system's parts find them.

    `addresses`: by host, of spare ones, too; `port`: as of Node; `configured`: the path of the
    configuration of a unit, by host and word, for programs that tell it something, be it up or
    down. `proxy`: where listeners are, if nothing else is said; `free`: other addresses of the
    proxy's, one for each worker, where clients know brokers by name.
    """

    layout: Layout
    agent: AgentClient
    addresses: Mapping[str, str]
    port: Callable[[int], int]
    configured: Callable[[str, str], str]
    proxy: str
    free: tuple[str, ...]


class Processes(Protocol):
    """A system that runs as subprocesses on this machine.

    Each ends on SIGTERM, and has its data again when it is started again.
    """

    @property
    def moves(self) -> bool:
        """Whether it can listen at other ports than the standard ones, all shifted alike."""

    @property
    def peers_at(self) -> int | None:
        """The standard port at which a host is dialled by its peers, and speaks first, at once:
        their ways pass the proxy. None: hosts dial each other past it."""

    def units(self, layout: Layout) -> tuple[Unit, ...]:
        """Host by host, spare ones, too."""

    def configuration(self, node: Node) -> str:
        """The text of its file."""

    def adapters(self, here: Here) -> Adapters: ...


# --- for somebody who is new here -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Foreground:
    """A cluster to play with: `mqproof reference WORD`, until it is interrupted.

    `command`: the program that it becomes; its parameters are the options, as typer reads them,
    and its docstring is the help.
    """

    word: str
    command: Callable[..., tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Demo:
    """Where `mqproof demo` shows the same deaths. Of several systems the first one's is shown."""

    deployment: str
    keeps: str  # the layout that keeps its promise
    breaks: str  # the one that does not
    real: str  # the system of the real brokers, to try next


# --- what it says of itself -------------------------------------------------------------------


class LayoutFile(Protocol):
    """The shape of a layout file, and the layout that it becomes."""

    @property
    def name(self) -> str: ...

    @property
    def profiles(self) -> Mapping[str, Any]: ...

    def layout(self, system: str, profile: str) -> Layout: ...

    def problems(self, processes: tuple[str, ...], /) -> Iterator[TomlProblem]:
        """Check several keys together, also of a file that is read in part; the shape reports
        missing and ill-typed keys. `processes`: what every host of the system carries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """One system. `folder`: of its system.toml and its layouts/*.toml."""

    name: str
    folder: Callable[[], Path]
    layout_file: type[Table]  # a LayoutFile
    guarantees: Callable[[Layout], Guarantees]
    facts: Mapping[str, LayoutFact]  # that only this system has, by name
    servers: Callable[[Layout], Servers]
    drain: Drain
    levels: tuple[Level, ...]  # of confirmations; words.LEVELS are mqproof's own
    ways: tuple[DeliveryWay, ...]  # of deliveries, beside ways.OWN_WAYS
    versioned_as: str | None  # its brokers' version, among those that a run records; None: none is
    processes: Processes | None  # None: it does not run as subprocesses
    misbehaves: tuple[str, ...]  # the kinds of --misbehave that these take, by Node.misbehave
    containers: Containers | None  # None: it does not run in containers
    foreground: Foreground | None  # None: it has none
    demo: Demo | None  # None: it shows nothing by itself
    foreign: Foreign | None  # None: it cannot be met as a cluster that somebody else runs
