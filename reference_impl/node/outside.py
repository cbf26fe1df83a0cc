"""The ports of a node to the world around it; the shell provides them, and tests do."""

from dataclasses import dataclass
from typing import Protocol

from reference_impl.mirrored.store import Entry, Segment
from reference_impl.node.happenings import Saved
from reference_impl.node.wire import Packet
from reference_impl.pid import Pid


class Links(Protocol):
    """The links to peers."""

    def send(self, node: str, packet: Packet) -> None:
        """In order; to a peer without a link it vanishes."""

    def dial(self, node: str) -> None:
        """Tries to make a link; ends in `Node.linked` or `Node.unlinked`."""

    def drop(self, node: str) -> None: ...

    def ping(self, node: str) -> None:
        """One connection that waits for a greeting; ends in `Node.pinged`."""


class ClientConnections(Protocol):
    """The connections of clients, each known by its process."""

    def open(self) -> None:
        """Listens for clients and for the management API's, from now on."""

    def transmit(self, client: Pid, octets: bytes) -> None: ...

    def when_written(self, client: Pid, pid: Pid) -> None:
        """Ends in `Node.written(pid)` when what was transmitted has gone to a socket that drains;
        to a client that is gone it vanishes."""

    def stop_reading(self, client: Pid) -> None: ...

    def read_on(self, client: Pid) -> None: ...

    def hang_up(self, client: Pid) -> None:
        """Closes it when what was transmitted has gone out."""

    def close(self) -> None:
        """No listener, no connection any more."""

    def answer(self, request: int, status: int, body: bytes) -> None:
        """To a request to the management API."""


class Disk(Protocol):
    """The data that outlives the node's process."""

    def stored(self, queue: str) -> tuple[int, ...]:
        """As mirrored.store.Shelf says."""

    def segment(self, queue: str, number: int) -> Segment:
        """As mirrored.store.Shelf says."""

    def write(self, queue: str, entries: tuple[Entry, ...]) -> None: ...

    def flush(self, pid: Pid, queue: str, mark: int) -> None:
        """Ends in `Node.flushed` when all that was written to the queue so far is on disk."""

    def wipe(self, queue: str) -> None: ...

    def admit(self, lines: bytes) -> None:
        """To the truth log; returns when they would survive kill -9."""

    def save(self, saved: Saved) -> None:
        """Tables and membership; returns when they would survive kill -9."""


class Timers(Protocol):
    """Timers of processes, and of the node itself (None)."""

    def arm(self, pid: Pid | None, name: str, after_ms: int) -> None: ...

    def disarm(self, pid: Pid | None, name: str) -> None: ...

    def now_ms(self) -> int:
        """By the clock of these timers."""

    def forget(self, pid: Pid) -> None: ...


class Life(Protocol):
    """The node's own coming and going."""

    def ready(self) -> None:
        """Note that it serves clients from now on."""

    def restart(self) -> None:
        """Begins a new boot in the same operating system process."""

    def reset(self, through: str | None) -> None:
        """Stops the node gracefully, has it leave for good, empties its disk and restarts it, so
        that it joins that one's cluster."""

    def fail(self, text: str) -> None:
        """Note that it cannot boot: the operating system process is to end."""

    def log(self, text: str) -> None: ...


@dataclass(frozen=True, slots=True)
class Outside:
    links: Links
    clients: ClientConnections
    disk: Disk
    timers: Timers
    life: Life
