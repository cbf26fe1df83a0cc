"""PURE: what a layout of RocketMQ has that others have not: versions, groups, ports, timers.

1. A host's processes are words: `name-server`, `controller` (where a system has them), or
   `broker-a-0`: of the group `broker-a` the broker with the number 0. Where roles are laid down,
   that is its master, and others are slaves; where a leader is elected, a number says nothing.
2. Ports follow from the layout's order: no two servers share one, so that every server can be met
   at one address of a proxy by the name that it advertises.
3. A topic is on every group. `home` returns the group whose master a target means.
4. Servers of a cluster that somebody else runs are where its topology file says (ForeignHost).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from harness.plan.layouts.layout_values import Host
from harness.plan.layouts.versions import numbers
from harness.plan.model import Layout

NAME_SERVER, CONTROLLER = "name-server", "controller"
SYNC, ASYNC = "sync", "async"
MAJORITY, IN_SYNC = "majority", "in-sync replicas"  # replication where masters are elected
VERSIONS = ("4.9.7", "5.3.3")  # whose jars are held to the sums of a lock
REFERENCE = "reference"  # instead of a version of the real ones
MASTER_ID = 0
POLL_DEFAULT_S = 30  # the default of every client library
_BROKER = re.compile(r"(broker-[a-z])-(\d)")
_NAME_SERVER_PORT, _BROKER_PORT, _BROKER_STEP = 9876, 10911, 10  # a broker takes four of ten
_BROKER_VOTES_AFTER, _VOTES_AFTER = 5, 100  # the port for elections, so far above the own
_NOT_IN_TOPICS = re.compile(r"[^%a-zA-Z0-9_-]")


@dataclass(frozen=True, slots=True)
class Timers:
    """In seconds. `idle`: after so long a silence a name server gives a broker up; `register`:
    how often a broker tells of itself, 0 if that is unknown; `poll`: how often a client asks for
    routes."""

    idle_s: int
    register_s: int
    poll_s: int


@dataclass(frozen=True, slots=True)
class RocketMq:
    """`replication`: SYNC: a confirm waits for a slave, MAJORITY: for a majority of the group,
    IN_SYNC: as the system says; `flush`: SYNC: it waits for the disk.

    `client_jvm`: flags and properties of the clients' JVMs, where clients have one.
    """

    version: str  # of the servers
    replication: str
    flush: str
    timers: Timers
    client_jvm: tuple[str, ...] = ()
    compression: int = 1  # so many times shorter are all other timers than the real ones'

    @property
    def copied_every_s(self) -> int:
        """How often a slave copies its master's topics and offsets (measured with 4.9.7 and 5.3.3;
        the bytecode of 5.1.4 and 5.4.0 has the same constant as that of 5.3.3)."""
        is_5 = self.version != REFERENCE and numbers(self.version) >= (5,)
        return 60 if is_5 else 10

    def in_version(self, version: str) -> Self:
        """VersionedLayout."""
        return replace(self, version=version)

    def describe(self) -> tuple[tuple[str, str], ...]:
        """OwnLayout."""
        kept = f"replication {self.replication}, flush {self.flush}"
        idle = f"idle {self.timers.idle_s} s"
        idle += f", register {self.timers.register_s} s" if self.timers.register_s else ""
        idle += f", others a {self.compression}th" if self.compression > 1 else ""
        made = "reference" if self.version == REFERENCE else f"RocketMQ {self.version}"
        return (
            ("servers", f"{made}, {kept}"),
            ("timers", f"{idle}, poll {self.timers.poll_s} s"),
        )


def own(layout: Layout) -> RocketMq:
    """Return its own part. Raise TypeError for a layout of another family."""
    if not isinstance(layout.own, RocketMq):
        raise TypeError(f"{layout.label} of {layout.system} is no layout of RocketMQ")
    return layout.own


class HasProcesses(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def processes(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """One process. `group` is empty, and `id` of no meaning, where it is no broker. `address`: the
    part before the port of what name servers show; "": the host's name. `votes`: the port at which
    it takes part in elections, if a topology file says it."""

    host: str
    process: str
    port: int
    group: str = ""
    id: int = 0
    address: str = ""
    votes: int = 0

    @property
    def is_broker(self) -> bool:
        return bool(self.group)

    @property
    def is_name_server(self) -> bool:
        return self.process == NAME_SERVER

    @property
    def votes_at(self) -> int:
        """The port at which it takes part in elections, where it does; a controller's only one."""
        if self.votes or self.process == CONTROLLER:
            return self.votes or self.port
        return self.port + (_BROKER_VOTES_AFTER if self.is_broker else _VOTES_AFTER)

    @property
    def ports(self) -> tuple[int, ...]:
        """All that it listens at, elections left out. A broker's slaves ask for topics two below
        its own port, and copy its log from the one above."""
        return (self.port - 2, self.port, self.port + 1) if self.is_broker else (self.port,)

    @property
    def advertised(self) -> str:
        """What name servers show, and clients dial."""
        return f"{self.address or self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ForeignHost(Host):
    """A host of a cluster that somebody else runs: its servers listen where its owner says."""

    servers: tuple[ServerProcess, ...]


def parse_broker(process: str) -> tuple[str, int] | None:
    """(group, id), or None for what is no broker's word."""
    found = _BROKER.fullmatch(process)
    return (found[1], int(found[2])) if found else None


def servers(hosts: Sequence[HasProcesses]) -> tuple[ServerProcess, ...]:
    """Every process of the layout with its port, host by host."""
    found: list[ServerProcess] = []
    for host in hosts:
        if isinstance(host, ForeignHost):
            found += host.servers
            continue
        for process in host.processes:
            broker = parse_broker(process)
            before = sum(one.is_broker is (broker is not None) for one in found)
            if broker is None:
                port = _NAME_SERVER_PORT + before + (_VOTES_AFTER if process == CONTROLLER else 0)
                found.append(ServerProcess(host.name, process, port))
            else:
                port = _BROKER_PORT + _BROKER_STEP * before
                found.append(ServerProcess(host.name, process, port, *broker))
    return tuple(found)


def server_of(hosts: Sequence[HasProcesses], host: str, process: str) -> ServerProcess:
    (found,) = (one for one in servers(hosts) if (one.host, one.process) == (host, process))
    return found


def name_servers(hosts: Sequence[HasProcesses]) -> tuple[ServerProcess, ...]:
    return tuple(one for one in servers(hosts) if one.is_name_server)


def brokers(hosts: Sequence[HasProcesses]) -> tuple[ServerProcess, ...]:
    return tuple(one for one in servers(hosts) if one.is_broker)


def home(hosts: Sequence[HasProcesses], host: str) -> str:
    """The group that is meant by the master and the mirrors of a topic which was put on `host`:
    the first group of that host; of one that has none, the layout's first."""
    own = [one.group for one in brokers(hosts) if one.host == host]
    return (own or [one.group for one in brokers(hosts)])[0]


def topic_of(queue: str) -> str:
    """A queue's name as RocketMQ takes it, whose topics have no dots; twice is as good as once."""
    return _NOT_IN_TOPICS.sub("_", queue)
