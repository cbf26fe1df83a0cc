"""Events and effects of the cluster core (cluster.py), which re-exports those others need."""

from dataclasses import dataclass
from typing import Any

import msgspec

from reference_impl.metadata.messages import Term
from reference_impl.metadata.requests import Settle
from reference_impl.metadata.tables import Tables
from reference_impl.node.gossip import Gossip, Greeting
from reference_impl.pid import Pid
from reference_impl.process import Arm, Disarm, Timeout


class Saved(msgspec.Struct, frozen=True, array_like=True):
    """The content of a node's disk at its next boot."""

    tables: Tables
    term: Term
    running: tuple[str, ...]  # other members, when this was written


# --- events -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Linked:
    """A link to a peer stands in both directions, and the peer's greeting came."""

    node: str
    boot: int
    greeting: Greeting


@dataclass(frozen=True, slots=True)
class Unlinked:
    """A link was lost, or a Dial has failed."""

    node: str


@dataclass(frozen=True, slots=True)
class Heard:
    node: str
    gossip: Gossip


@dataclass(frozen=True, slots=True)
class Ticked:
    """A quarter of the net tick time is over. From these peers any octet came in it."""

    heard: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pinged:
    node: str
    answered: bool


@dataclass(frozen=True, slots=True)
class Submitted:
    """A local process wants this command carried out on every node's tables."""

    pid: Pid
    request: int
    command: Any


Event = Linked | Unlinked | Heard | Ticked | Pinged | Timeout | Submitted


# --- effects ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SendGossip:
    """Over the link to that peer, in order."""

    node: str
    gossip: Gossip


@dataclass(frozen=True, slots=True)
class Dial:
    """Try to make a link: Linked or Unlinked is to follow, unless one stands already."""

    node: str


@dataclass(frozen=True, slots=True)
class Drop:
    """Close the link, if it stands, when what was sent has gone out; no Unlinked follows."""

    node: str


@dataclass(frozen=True, slots=True)
class Ping:
    """One connection attempt that waits for a greeting, seconds at most: Pinged is to follow. Only
    a peer whose link was closed is worth it."""

    node: str


@dataclass(frozen=True, slots=True)
class Save:
    """To disk, before what follows. It holds the tables themselves: encode them at once."""

    saved: Saved


@dataclass(frozen=True, slots=True)
class Up:
    """A node that runs, on this boot: its processes can be reached."""

    node: str
    boot: int


@dataclass(frozen=True, slots=True)
class Gone:
    """A node that was Up is lost: who watches its processes gets Down, noconnection."""

    node: str


@dataclass(frozen=True, slots=True)
class TablesChanged:
    """Tables, or which nodes run."""


@dataclass(frozen=True, slots=True)
class Ready:
    """This node is a member: processes may start, listeners open. What peers' processes have sent
    since their node was Linked is to be handed over when the processes are there."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Every process ends, listeners close, clients get 320; links and this core stay."""


@dataclass(frozen=True, slots=True)
class Restart:
    """A new boot is to begin in this operating system process; links are closed."""


@dataclass(frozen=True, slots=True)
class Fail:
    """This boot is given up."""

    text: str


@dataclass(frozen=True, slots=True)
class Log:
    text: str


Effect = (
    SendGossip
    | Dial
    | Drop
    | Ping
    | Save
    | Arm
    | Disarm
    | Settle
    | Up
    | Gone
    | TablesChanged
    | Ready
    | Pause
    | Restart
    | Fail
    | Log
)
