"""Processes of a reference node: a core that takes one event and answers with effects.

1. A process has a Pid, as in Erlang: it is born on one boot of one node and never moves. Messages
   between two processes arrive in the order in which they were sent, or not at all.
2. `handle(event)` reads no socket or disk, and no clock but its world's. The caller (the
   node, a simulation) carries the effects out in their order, and brings their results back
   as later events.
3. A message is an event itself; the other events are the classes here.
4. A watched process that ends, or cannot be reached any more, causes one Down. Nothing that
   it had sent comes after its Down.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec

from reference_impl.metadata.tables import Tables
from reference_impl.pid import Pid
from reference_impl.protocol.connections import Described

SUPERVISOR, API, DEAD_LETTERS = 0, 1, 2  # numbers of the processes that every node has

# Reasons of Down. The benign ones shrink a set of pending confirms; a crash rejects (3.7).
NORMAL = "normal"  # a queue that was deleted; a mirror that refused to take over
SHUTDOWN = "shutdown"  # stopped on purpose: a dropped mirror, a node that stops gracefully
NO_PROCESS = "noproc"  # it was not there when it was watched
NO_CONNECTION = "noconnection"  # its node was lost
CRASH = "crash"
BENIGN = frozenset({NORMAL, SHUTDOWN, NO_PROCESS, NO_CONNECTION})


class Down(msgspec.Struct, frozen=True):
    """A watched process is gone."""

    pid: Pid
    reason: str


class Timeout(msgspec.Struct, frozen=True):
    """A timer that was armed under this name has run out."""

    name: str


class Committed(msgspec.Struct, frozen=True):
    """A command was carried out on the tables of every node that is connected; here its result."""

    request: int
    result: Any


class Flushed(msgspec.Struct, frozen=True):
    """Everything that this process wrote before `Flush(mark)` is on this node's disk."""

    mark: int


class Changed(msgspec.Struct, frozen=True):
    """A change of tables or of the view of running nodes; only the supervisor gets it, once a
    batch."""


class Stopping(msgspec.Struct, frozen=True):
    """To the supervisor: the node stops gracefully. When its effects have been carried out, and
    every queue process of the node has ended, the node goes."""


class Octets(msgspec.Struct, frozen=True):
    """From the client of this connection process."""

    octets: bytes


class Written(msgspec.Struct, frozen=True):
    """The output of this process before `WhenWritten` has gone to a socket that drains."""


class AlarmsChanged(msgspec.Struct, frozen=True):
    """To every connection process of the node (World.alarms)."""


class Pressed(msgspec.Struct, frozen=True):
    """To every queue process of the node: World.memory_lasts_s is what it says now."""


class HungUp(msgspec.Struct, frozen=True):
    """The client's side of the connection is closed, or was reset."""


class ApiRequest(msgspec.Struct, frozen=True):
    """One request to the management API. `path` is percent-encoded, without the query."""

    request: int
    method: str
    path: str
    query: str
    body: bytes


# --- effects ----------------------------------------------------------------------------------


class Send(msgspec.Struct, frozen=True):
    """A message. One to a process that is gone vanishes."""

    to: Pid
    body: Any


class Watch(msgspec.Struct, frozen=True):
    """Wants Down of that process; twice is once."""

    pid: Pid


class Unwatch(msgspec.Struct, frozen=True):
    pid: Pid


class Arm(msgspec.Struct, frozen=True):
    """Request Timeout(name) in so many milliseconds; a timer of that name is restarted."""

    name: str
    after_ms: int


class Disarm(msgspec.Struct, frozen=True):
    name: str


class Transact(msgspec.Struct, frozen=True):
    """Wants a command carried out on every node's tables, in one order for all: Committed."""

    request: int
    command: Any  # reference_impl.metadata.commands.Command


class Write(msgspec.Struct, frozen=True):
    """Appends entries to the process's queue store on this node's disk."""

    queue: str
    entries: tuple[Any, ...]  # reference_impl.mirrored.store.Entry


class Flush(msgspec.Struct, frozen=True):
    """Wants Flushed(mark) when everything written by this process so far is on disk."""

    queue: str
    mark: int


class Wipe(msgspec.Struct, frozen=True):
    """Forgets everything that this node's disk holds of a queue."""

    queue: str


class AppendTruth(msgspec.Struct, frozen=True):
    """Appends lines to the node's truth log (misbehave.truth), before any effect that follows."""

    lines: bytes


class Spawn(msgspec.Struct, frozen=True):
    """A new process on this node, under a Pid that was taken from `World.new_pid`.

    `client`: the connection process whose client its Transmits go to (a channel's).
    """

    pid: Pid
    process: "Process"
    client: Pid | None = None


class As(msgspec.Struct, frozen=True):
    """Effects of another process of this node, which this one has called directly: a connection
    hands a client's frames to its channels so. They are carried out as if that one had returned
    them."""

    pid: Pid
    effects: "tuple[Effect, ...]"


class Become(msgspec.Struct, frozen=True):
    """Another core goes on under this process's Pid, with its watches and timers."""

    process: "Process"


class Exit(msgspec.Struct, frozen=True):
    """End the process; its watchers get the reason. No effect may follow it."""

    reason: str


class Transmit(msgspec.Struct, frozen=True):
    """Bytes to the client of this process's connection."""

    octets: bytes


class StopReading(msgspec.Struct, frozen=True):
    """No octet of the client's is read until ReadOn; what was read already comes still."""


class ReadOn(msgspec.Struct, frozen=True):
    pass


class Limit(msgspec.Struct, frozen=True):
    """Sets the limit of a resource for a while; None: as configured (node.alarms)."""

    resource: str
    octets: int | None


class Reset(msgspec.Struct, frozen=True):
    """The node stops, leaves its cluster for good, loses its disk, and boots again; it joins that
    one's cluster where one is named."""

    through: str | None


class WhenWritten(msgspec.Struct, frozen=True):
    """Wants Written; twice is once."""


class Hangup(msgspec.Struct, frozen=True):
    """Closes the client's connection when what was transmitted has gone out."""


class Answer(msgspec.Struct, frozen=True):
    """To an Asked: HTTP status and JSON text (empty: no body)."""

    request: int
    status: int
    body: bytes


Effect = (
    Send
    | Watch
    | Unwatch
    | Arm
    | Disarm
    | Transact
    | Write
    | Flush
    | Wipe
    | AppendTruth
    | Spawn
    | As
    | Become
    | Exit
    | Transmit
    | WhenWritten
    | StopReading
    | ReadOn
    | Limit
    | Reset
    | Hangup
    | Answer
)


class Process(Protocol):
    """The core of a process."""

    def handle(self, event: Any) -> list[Effect]: ...


class World(Protocol):
    """The world as every core of a node may read it. It changes between events, never during
    one."""

    @property
    def node(self) -> str: ...

    @property
    def tables(self) -> Tables: ...

    def running(self) -> tuple[str, ...]:
        """Nodes of the cluster that are up in this one's eyes, itself included, by name."""

    def well_known(self, node: str, number: int) -> Pid | None:
        """SUPERVISOR, API or DEAD_LETTERS of a running node."""

    def alive(self, pid: Pid) -> bool:
        """Return whether the process's node is running on the same boot (and, here, the process
        too)."""

    def now_ms(self) -> int:
        """Of this boot: a time that only grows, and is no time of day."""

    def guarded(self) -> bool:
        """Return whether confirms are withheld: under pause_minority the node may be in a
        minority."""

    def alarms(self) -> Mapping[str, frozenset[str]]:
        """By node, of those that run short of something: memory, disk."""

    def new_pid(self) -> Pid: ...

    def connections(self) -> tuple[Described, ...]:
        """The client connections of this node that are open."""

    def partitions(self) -> tuple[str, ...]:
        """Nodes that this one is partitioned from: each went on without the other."""

    def memory_lasts_s(self) -> float | None:
        """For how many seconds of its work a queue may keep messages in memory; None: it keeps
        all."""

    def stored(self, queue: str) -> tuple[int, ...]:
        """As mirrored.store.Shelf says."""

    def segment(self, queue: str, number: int) -> Mapping[int, Any]:
        """As mirrored.store.Shelf says."""
