"""The traits that each kind of fault declares, so that no other code decides by its name.

1. A kind stands in one module below `faults/kinds/`, or in a package of its own that names it by
   the entry point group `mqproof.faults` (docs/extending.md): what it is, how it becomes actions,
   how it is verified.
2. No trait has a default: a kind that leaves one out is an error where it is declared. What the
   kinds of a family have in common is fixed by its constructor (kinds/families.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from faults.core import peers, places
from faults.core.actions import Action
from faults.core.alarms import AlarmCommands
from faults.core.mechanisms import DIRECT, TOXIPROXY
from faults.core.model import Armed, Proof
from faults.core.options import FaultOptions
from faults.core.peers import Serving
from faults.core.witness import Witness

HELD_LIMIT_S = 12.0  # of most kinds


class Excludes(Enum):
    """The thing that a fault has for itself while it is active: the end of one fault would undo
    another one there."""

    PLACE = "place"  # the host or process: its undo starts or thaws it in any case
    LISTENERS = "listeners"  # of the meant links: its undo opens them in any case
    CLIENTS = "clients"  # the meant ones
    RESOURCE = "resource"  # of the host: a limit is one
    QUEUES = "queues"  # of the host's interfaces: each has one queueing discipline
    NOTHING = "nothing"  # what it does carries a name of its own window, and stands beside others


class Sight(Enum):
    """The observations by which a fault of a host is verified."""

    PEER_LINKS = "the ways between its host and the others"
    CLIENT_LINKS = "the links of clients to its host"
    BROKER = "the answers of its broker"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedFault:
    """A fault whose target is resolved: what its actions are compiled from.

    Several places, and one process of a host that has more, are for kill, stop and freeze. One
    process is also for faults of clients' links, and of peers' links that pass a proxy.
    """

    kind: "Kind"
    target: str  # the scenario's word
    places: tuple[str, ...]  # hosts, or processes of hosts (places.py); of clients: their names
    hosts: tuple[str, ...]  # of the layout, those included
    window: int
    mark: str  # the name that chains and toxics of this window have in the world
    role: str = ""  # what the target was then: "master of orders, 2 synchronised mirrors"
    returns: bool = True
    mechanism: str = ""  # by which the deployment does it; "": as it is done in containers, by a
    # proxy of peer links only where nothing else does it
    options: FaultOptions = field(default_factory=FaultOptions)  # of the type that the kind takes
    proxies: tuple[str, ...] = ()  # link faults: the meant clients' ways to the place
    clients: tuple[str, ...] = ()  # faults of clients: the meant ones
    serving: Serving | None = None  # where hosts listen to peers: if peers' links pass a proxy
    alarms: AlarmCommands | None = None  # how the system's brokers are brought into alarm

    @property
    def mesh(self) -> peers.Mesh:
        return peers.Mesh(self.mechanism, self.serving, self.places[0])

    @property
    def host(self) -> str:
        """Of a fault that means one host, or links to one."""
        (place,) = self.places
        return places.host_of(place)


class Compiled(NamedTuple):
    """The actions of a fault, and those that undo it; each in order."""

    actions: tuple[Action, ...]
    undo: tuple[Action, ...]


class Verifier(Protocol):
    """The checks of one armed fault, from outside."""

    async def ready(self) -> None:
        """Before the actions. Raises FaultError where what would prove the fault is seen already,
        or where a way that it is to be seen by does not work."""

    async def held(self) -> Proof:
        """One look whether it takes effect."""

    async def gone(self) -> Proof:
        """One look whether it has ended."""


Verify = Callable[[Armed, Witness], Verifier]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of fault: what it does, to what, by which mechanism, and how it is verified."""

    name: str
    title: str
    applies_to: str  # a word of targets.py: HOST, CLIENT_LINK, PEER_LINK or CLIENT
    only_on: tuple[str, ...]  # systems: no other's brokers can suffer it; (): any system's
    offers: Mapping[str, str]  # deployment -> mechanism
    by_peer_links: Mapping[str, str]  # the same on layouts whose peer links pass a proxy there
    why_not: Mapping[str, str]  # deployment without it -> why
    undone_by: str
    options: type[FaultOptions]  # the type of its faults' options
    needs: tuple[str, ...]  # of their keys at least one
    needs_all: tuple[str, ...]

    # --- what it is to the run ------------------------------------------------------------------
    may_stay: bool  # whether a scenario may say that it never returns
    strikes_processes: bool  # by signals: one process of a host alone, or several places at once
    excludes: Excludes
    seen_by: tuple[Sight, ...]  # (): by processes
    hides: tuple[Sight, ...]  # while it is active, nothing else on its host is seen by these
    repeats: bool  # it comes and goes while its window is open
    canaries_speak: bool  # its proof needs words, with their direction, size or time
    counts_bytes: bool  # its proof needs words of an exact size: TLS adds bytes of its own
    held_limit_s: float  # so long it may take until it is seen to hold
    waits_for_silence: bool  # its proof takes as long as silence that proves, or slowness
    ends_client: bool  # the client's process is gone, and somebody takes its place at the end
    silences_peers: bool  # peers of the host meet silence, and have to find out by a timer

    # --- what it is to the analysis: recorded in the run ----------------------------------------
    ends_broker: bool  # what its processes held in memory is gone
    takes_page_cache: bool  # what they wrote and did not sync is gone, too: the host lost power
    silences_clients: bool  # requests to the host meet silence, and no end of a connection
    spares_disk: bool | None  # the host is back with what it had on disk; None: it took none

    # --- how it is done and seen ----------------------------------------------------------------
    actions: tuple[type[Action], ...]  # all that `compile` may give: the journal reads them again
    compile: Callable[[ResolvedFault], Compiled]  # pure; raises FaultError if it touches nothing
    verify: Verify
    verify_commanded: Verify | None  # where a user's own commands do it; None: they cannot

    @property
    def option_keys(self) -> tuple[str, ...]:
        """Return the keys of a scenario that set its faults' options."""
        return tuple(option.key for option in self.options.by_field().values())

    def mechanism(self, deployment: str, peer_links: str = DIRECT) -> str:
        """Return the mechanism that does it; "" if there is none."""
        by_proxy = self.by_peer_links if peer_links == TOXIPROXY else {}
        return by_proxy.get(deployment) or self.offers.get(deployment, "")

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        """As that of its name: what is made of it is the same in every process."""
        return repr(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmedFault(Armed):
    """An armed fault as its run has it: with its kind. The journal keeps the kind's name."""

    declared: Kind = field(compare=False)
