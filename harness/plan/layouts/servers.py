"""PURE: what a system's servers are on a layout's hosts, in one declared value.

1. Nothing has a default: a system says all of it, or there is no such system.
2. Whom a fault strikes, what is audited and how many addresses workers take is planned by these
   alone, never by a system's or layout's name.
"""

from dataclasses import dataclass
from enum import StrEnum

from faults.core.peers import Serving
from faults.core.places import place


class ServerRole(StrEnum):
    BROKER = "broker"
    NAME_SERVER = "name server"  # it tells clients where brokers are, and holds no queue
    CONTROLLER = "controller"  # it says which broker leads, is asked by no client, holds no queue


class QueueRole(StrEnum):
    MASTER = "master"
    MIRROR = "mirror"


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    host: str
    word: str  # one of its host's processes
    role: ServerRole
    fixed_role: (
        QueueRole | None
    )  # in every queue that it holds; None: roles move, or it holds none
    client_port: int | None  # where clients dial it; None: no client does

    @property
    def place(self) -> str:
        """Of one that is met apart from its host (faults/core/places.py)."""
        return place(self.host, self.word)


@dataclass(frozen=True, slots=True, kw_only=True)
class Voter:
    """A process that is asked who leads, while a run lasts. `query`: how, in a word of its family;
    `groups`: of brokers, whose leader it knows; `id`: its own among those who vote together, and
    `peer`: that of another one of them."""

    host: str
    word: str
    query: str
    groups: tuple[str, ...]
    id: str
    peer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Servers:
    """`apart`: a host's processes are each met by themselves; else a host is met as one."""

    processes: tuple[Process, ...]  # host by host
    apart: bool
    by_names: bool  # clients dial brokers by their names: each worker takes an address of its own
    keep_logs: bool  # an audit reads each log; else competing leaders
    speaks_first: bool  # a client's link carries something that its client did not ask for
    client_settings: tuple[tuple[str, str], ...]  # by name, for what the layout's timers ask
    client_flags: tuple[str, ...]  # of the processes that clients run in
    copied_every_s: int | None  # so often the others copy what was declared; None: at once
    voters: tuple[Voter, ...]
    # Places of those that say which broker leads, and of whom one leads; empty: none.
    controllers: tuple[str, ...]
    serving: Serving
    management_port: (
        int | None
    )  # of every host, for browsers and HTTP clients; None: there is none

    @property
    def brokers(self) -> tuple[Process, ...]:
        return tuple(one for one in self.processes if one.role is ServerRole.BROKER)

    @property
    def name_servers(self) -> tuple[Process, ...]:
        return tuple(one for one in self.processes if one.role is ServerRole.NAME_SERVER)

    @property
    def logs(self) -> tuple[Process, ...]:
        """The brokers that each keep a log; empty where queues are drained, and not read."""
        return self.brokers if self.keep_logs else ()

    @property
    def places(self) -> tuple[str, ...]:
        """Where something should answer, each once, host by host."""
        places = (one.place if self.apart else one.host for one in self.processes)
        return tuple(dict.fromkeys(places))
