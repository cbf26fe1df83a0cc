"""Faults as data: actions paired with their undo, evidence, and the ports that carry them out.

1. An action is a value that survives as JSON in the journal, so that another process can undo it.
2. An undo may be repeated: undoing what is not there (any more) is no error.
3. Verification says whether a fault held, never when it began. It asks from outside, through a
   Witness, and never through the connections that carry the load.
4. Times are CLOCK_MONOTONIC ns of the harness's machine.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, Protocol

PROCESS, PROXY = "process", "proxy"  # what subprocesses on this machine are broken by


class FaultError(Exception):
    """An action or a look that the world refused: what was tried, and what it said."""


@dataclass(frozen=True, slots=True)
class Kill:
    """SIGKILL to every process of a host that is a broker's."""

    host: str


@dataclass(frozen=True, slots=True)
class Stop:
    """SIGTERM to every process of a host that is a broker's.

    Performed when all have been sent the signal: the window's origin is the instant before it.
    They end in their own time, which is verification's to wait for (RabbitMQ: within 6 s, and it
    serves nobody after the first tenth of a second).
    """

    host: str


@dataclass(frozen=True, slots=True)
class Start:
    """Starts the broker processes of a host again; one that runs is left alone.

    The undo of a stop waits at most `ending_s` for a process that may still be ending: one that
    ended later would stay down.
    """

    host: str
    ending_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Freeze:
    """Every process of a host that is a broker's stops running; the kernel keeps its TCP alive."""

    host: str


@dataclass(frozen=True, slots=True)
class Thaw:
    """The frozen processes of a host run on."""

    host: str


@dataclass(frozen=True, slots=True)
class Stall:
    """Both directions of these proxies stand still; held bytes flow when it is resumed."""

    proxies: tuple[str, ...]
    toxic: str  # the name by which `Resume` finds it


@dataclass(frozen=True, slots=True)
class Resume:
    proxies: tuple[str, ...]
    toxic: str


@dataclass(frozen=True, slots=True)
class Cut:
    """Drops every packet between a host and its peers, both ways, by a chain of our own."""

    host: str
    peers: tuple[str, ...]  # host names
    chain: str


@dataclass(frozen=True, slots=True)
class Join:
    """Removes the chain and every rule that leads to it."""

    host: str
    peers: tuple[str, ...]
    chain: str


Action = Kill | Stop | Start | Freeze | Thaw | Stall | Resume | Cut | Join
_ACTIONS: dict[str, Callable[..., Action]] = {
    kind.__name__: kind for kind in (Kill, Stop, Start, Freeze, Thaw, Stall, Resume, Cut, Join)
}


def action_to_json(action: Action) -> dict[str, Any]:
    return {"action": type(action).__name__, **asdict(action)}


def action_from_json(document: dict[str, Any]) -> Action:
    """Raises KeyError or TypeError on what is not an action of ours."""
    parts = {
        key: tuple(value) if isinstance(value, list) else value
        for key, value in document.items()
        if key != "action"
    }
    return _ACTIONS[document["action"]](**parts)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The instants around an action: before it was issued, and when it had returned."""

    issued_ns: int
    returned_ns: int


@dataclass(frozen=True, slots=True)
class Armed:
    """A fault that was compiled for resolved targets: what to do, how to undo it, what to ask."""

    window: int
    kind: str  # a name of compile.KINDS
    target: str  # the scenario's word
    resolved: str  # the host that it meant
    role: str  # what that host was then: "master of orders, 2 synchronised mirrors"
    mechanism: str  # container, toxiproxy, packet_filter; process, proxy
    action: Action
    undo: Action | None  # None: the scenario says that it never returns
    peers: tuple[str, ...] = ()  # partition: the hosts on the other side


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
        """By what it carries out faults of a kind of compile.KINDS."""


class Witness(Protocol):
    """Looks from outside, without disturbing."""

    async def prepare(self, armed: Armed) -> None:
        """Before the action: opens canaries through each proxy of a Stall, and a direct one; asks
        links that a Cut will stall. Raises FaultError where a way does not work now."""

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
