"""Faults as data: actions paired with their undo, evidence, and the ports that carry them out.

1. A fault is compiled into actions, each with what undoes it, before any of them is issued.
2. Verification says whether a fault held, never when it began. It asks from outside, through a
   Witness, and never through the connections that carry the load.
3. Times are CLOCK_MONOTONIC ns of the harness's machine.
"""

from dataclasses import dataclass, field
from typing import Protocol

from faults.actions import Action


class FaultError(Exception):
    """An action or a look that the world refused: what was tried, and what it said."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The instants around an action: before it was issued, and when it had returned."""

    issued_ns: int
    returned_ns: int


@dataclass(frozen=True, slots=True)
class Options:
    """What a scenario may say of a fault besides kind, target and window.

    kinds.KINDS tells which of them a kind takes; the others keep their defaults.
    """

    clients: str = "all"  # link and client faults: "all", "publishers", "consumers"
    direction: str = "both"  # hang: "both", "to_broker", "to_client"
    shape: str = "one"  # partition, flap: a word of shapes.SHAPES
    resource: str = "memory"  # alarm: "memory", "disk"
    latency_s: float = 0.0  # slow: how much later each piece of data comes
    rate_kb: int = 0  # slow: KB (1,000 bytes) a second and connection; 0: as fast as it goes
    bytes: int = 0  # cut_after: so many bytes of a connection still pass
    down_s: float = 0.0  # flap: so long cut
    up_s: float = 0.0  # flap: so long joined, in turn


@dataclass(frozen=True, slots=True)
class Armed:
    """A fault that was compiled for resolved targets: what to do, how to undo it, what to ask."""

    window: int
    kind: str  # a name of kinds.KINDS
    target: str  # the scenario's word
    resolved: str  # the host that it meant
    role: str  # what that host was then: "master of orders, 2 synchronised mirrors"
    mechanism: str  # container, toxiproxy, packet_filter; process, proxy
    actions: tuple[Action, ...]  # in order
    undo: tuple[Action, ...]  # in order; empty: the scenario says that it never returns
    mark: str  # the name that chains and toxics of this window have in the world
    hosts: tuple[str, ...]  # of the layout
    proxies: tuple[str, ...] = ()  # link faults: the meant clients' ways to the host
    options: Options = field(default_factory=Options)

    @property
    def returns(self) -> bool:
        return bool(self.undo)


@dataclass(frozen=True, slots=True)
class ProcessState:
    """The broker processes of a host as one: it runs if any does, it is frozen if all are."""

    running: bool
    exit_code: int | None  # None, too, where several ended differently
    frozen: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What one request of a verifier met: an answer, or why there was none."""

    answered: bool
    seconds: float
    detail: str


class Executor(Protocol):
    """Carries actions out. The one that does nothing must make every run unknown (a test)."""

    async def perform(self, action: Action) -> Receipt:
        """Raises FaultError; the action may have taken effect all the same."""

    def mechanism(self, kind: str) -> str:
        """By what it carries out faults of a kind of kinds.KINDS."""


class Witness(Protocol):
    """Looks from outside, without disturbing."""

    async def prepare(self, armed: Armed) -> None:
        """Before the actions: opens canaries through each proxy that gets a toxic, and a direct
        one; asks links that a cut will stall. Raises FaultError where a way does not work now."""

    async def process(self, host: str) -> ProcessState: ...

    async def packets(self, host: str, chain: str) -> int | None:
        """How many packets our chain dropped; None where there is no such chain: a cut by proxy
        has none."""

    async def reach(self, host: str, peer: str) -> Reply:
        """One connection attempt by the way that a host's own processes take to a peer's broker;
        from a host to itself: past every proxy."""

    async def canaries(self, armed: Armed) -> dict[str, Reply]:
        """One request on every canary at once: proxy name, or "direct", -> its reply."""

    async def greets(self, host: str) -> Reply:
        """Whether the host's broker answers the first bytes of its protocol on a new connection,
        past every proxy."""

    async def serves(self, host: str) -> Reply:
        """Whether the host's broker answers its protocol and the cluster lists it as running."""

    async def dismiss(self, armed: Armed) -> None:
        """Closes what `prepare` opened."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The verdict of a verification; `doubt` says why not, `detail` what was seen."""

    ok: bool
    detail: str
    doubt: str = ""
