"""Messages between the cluster cores of two nodes."""

import msgspec

from reference_impl.metadata.messages import Message, Term

# Phases of a node.
BOOTING = "booting"  # looks for a group, or waits until it may found one
JOINING = "joining"  # has the tables; not every member knows it yet
RUNNING = "running"
PAUSED = "paused"  # in a minority: the node lives, the broker application does not
STOPPED = "stopped"  # it has told that it goes
LEFT = "left"  # it has told that it goes for good, and is to be forgotten


class Greeting(msgspec.Struct, frozen=True, array_like=True):
    """The first word on a link: the sender's cluster as it knows it, itself included."""

    nodes: tuple[str, ...]
    forgotten: tuple[str, ...] = ()
    blank: bool = False  # it has no tables: the nodes are those that it was configured with


class State(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The state of the sender; sent on a new link, and to every peer when it changes."""

    phase: str
    term: Term
    version: int  # of its tables; NOTHING for a blank node
    leader: str | None
    members: dict[str, int]  # its group, while it is running or joining
    waits: tuple[str, ...]  # booting: one of these must have run later than it did


class Join(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """To a leader, from a booting node that has links to these."""

    linked: tuple[str, ...]


class NotYet(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The answer to a Join that cannot be taken now."""


class Doubt(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The sender has lost that member. Has the receiver, too?"""

    node: str
    boot: int


class Probe(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """`doubter` has lost the receiver; the sender has not. Does the receiver live?"""

    doubter: str
    boot: int


class Alive(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The answer to a Probe, repeating it."""

    doubter: str
    boot: int


class StillSeen(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The answer to a Doubt under pause_minority: that member lives."""

    node: str


class Dismissed(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """The sender drops this link on purpose: the partition was partial."""


class Clients(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """autoheal: how many has the receiver?"""


class ClientCount(msgspec.Struct, frozen=True, array_like=True, tag="ClientsTold"):
    """The answer."""

    count: int


class GiveWay(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """autoheal: these nodes lose."""

    losers: tuple[str, ...]


Gossip = (
    State
    | Join
    | NotYet
    | Doubt
    | Probe
    | Alive
    | StillSeen
    | Dismissed
    | Clients
    | ClientCount
    | GiveWay
    | Message
)
