"""Faults as data: actions paired with their undo, evidence, and the ports that carry them out.

1. A fault is compiled into actions, each with what undoes it, before any of them is issued.
2. Verification says whether a fault held, never when it began. It asks from outside, through a
   Witness, and never through the connections that carry the load.
3. Times are CLOCK_MONOTONIC ns of the harness's machine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from faults.core.actions import Action
from faults.core.options import FaultOptions
from faults.core.peers import Serving
from faults.core.places import host_of, joined


class FaultError(Exception):
    """An action or a look that the world refused: what was tried, and what it said."""


FIN, RST, REFUSED = "fin", "rst", "refused"  # how a connection ended, or never began
UP, DOWN, ROUND = "up", "down", "round"  # words of canaries: to the broker, from it, and back


@dataclass(frozen=True, slots=True)
class Receipt:
    """The instants around an action: before it was issued, and when it had returned."""

    issued_ns: int
    returned_ns: int
    dropped: tuple[tuple[str, int], ...] = ()  # of the end of a packet filter: host -> packets
    # that our chain dropped there since it was made


@dataclass(frozen=True, slots=True)
class Interference:
    """The effects by which other active faults hide one (faults/core/interference.py)."""

    mute: frozenset[str] = frozenset()  # hosts whose brokers another fault stops or ends
    closed: frozenset[tuple[str, str]] = frozenset()  # ways (from, to) that another fault closes
    slowed: frozenset[tuple[str, str]] = frozenset()  # ways that another fault makes late
    links: frozenset[str] = frozenset()  # of clients, by proxy, that another fault closes or holds
    alarms: frozenset[tuple[str, str]] = frozenset()  # (host, resource) that another fault raises
    round_trip_s: float = 0.0  # that other faults add to one on the links of this one
    narrow_s: float = 0.0  # that they add to a handshake by their rate
    agreeing_s: float = 0.0  # that a queue's declaration may wait for a host that is silent


@dataclass(frozen=True, slots=True)
class Armed:
    """A fault that was compiled for resolved targets: what to do, how to undo it, what to ask."""

    window: int
    kind: str  # its name; where an operation stopped the host: the operation's
    target: str  # the scenario's word
    places: tuple[str, ...]  # the hosts, or processes of hosts, that it meant (places.py); of
    # clients: their names
    role: str  # what that host was then: "master of orders, 2 synchronised mirrors"
    mechanism: str  # container, toxiproxy, packet_filter, netem; process, proxy; command
    actions: tuple[Action, ...]  # in order
    undo: tuple[Action, ...]  # in order; empty: the scenario says that it never returns
    mark: str  # the name that chains and toxics of this window have in the world
    hosts: tuple[str, ...]  # of the layout
    proxies: tuple[str, ...] = ()  # link faults: the meant clients' ways to the host
    options: FaultOptions = field(default_factory=FaultOptions)  # of the type that its kind takes
    clients: tuple[str, ...] = ()  # faults of clients: their names
    serving: Serving | None = field(default=None, hash=False)  # where hosts listen to peers; not
    # in the journal: the undo names what it undoes
    meanwhile: Callable[[], Interference] = field(default=Interference, compare=False)  # what
    # other active faults hide now; the journal does not keep it

    @property
    def returns(self) -> bool:
        return bool(self.undo)

    @property
    def resolved(self) -> str:
        """The places as one text, as people read it and records have it."""
        return joined(self.places)

    @property
    def host(self) -> str:
        """The host that it meant, or whose process: of faults that mean one."""
        return host_of(self.places[0])

    @property
    def rhythm(self) -> tuple[float, float] | None:
        """(down_s, up_s) of a fault that comes and goes while its window is open."""
        return self.options.rhythm


@dataclass(frozen=True, slots=True)
class ProcessState:
    """The processes of a place as one: it runs if any does, it is frozen if all are."""

    running: bool
    exit_code: int | None  # None, too, where several ended differently
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class Successor:
    """The client that took a dead one's place; "" if the load is over, and none is needed."""

    name: str
    connected: bool  # by the broker's word
    at_work: bool  # by its own: it sends, or is subscribed


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """The result of a user's own verify command: whether a fault is in force."""

    in_force: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to one request of a verifier: an answer, or why there was none."""

    answered: bool
    seconds: float
    detail: str
    end: str = ""  # FIN, RST or REFUSED, where the other side ended the connection
    octets: int = 0  # of words: what the hearer was sent since it was opened


@dataclass(frozen=True, slots=True)
class Words:
    """The words of canaries: to the broker and from there to the direct one (UP), back (DOWN), or
    to the broker and back (ROUND)."""

    way: str
    octets: int = 0  # at least
    rounds: int = 1  # one after another
    wait_s: float = 0.0  # so long they may take for their size, and for the link's slowness


@dataclass(frozen=True, slots=True)
class PacketSamples:
    """Echo requests from one host to another: how many were sent, and the round trips of those
    that were answered, in seconds."""

    sent: int
    seconds: tuple[float, ...]

    @property
    def lost(self) -> int:
        return self.sent - len(self.seconds)


@dataclass(frozen=True, slots=True)
class Impairment:
    """Our queueing discipline on one interface of a host, as its kernel reports it."""

    loss: float  # share
    delay_s: float
    jitter_s: float
    correlation: float  # share
    dropped: int  # packets, since it was made


Replies = dict[str, Reply]  # proxy name, or "direct" -> what was met on that way


Drops = Mapping[tuple[str, str], int]  # (from, to) of each rule -> packets that it dropped
ANYBODY = "*"  # as an end of such a way: any host


class Executor(Protocol):
    """Carries actions out. The one that does nothing must make every run unknown (a test)."""

    async def perform(self, action: Action) -> Receipt:
        """Raises FaultError; the action may have taken effect all the same."""

    def mechanism(self, kind: str) -> str:
        """Return the mechanism that carries out faults of a kind of kinds.KINDS."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdict of a verification; `doubt` says why not, `detail` what was seen."""

    ok: bool
    detail: str
    doubt: str = ""
    too_short: bool = False  # the fault ended before a check could end
