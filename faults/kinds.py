"""Fault kinds and targets as data: what there is to choose from, and where each is offered.

1. Pure words: what a kind does to resolved hosts stands in compile.py, what proves it in
   verification/.
2. Where a deployment or a system cannot do a kind, it says why: never silently.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from faults.shapes import SHAPES

HOST, CLIENT_LINK = "host", "client link"  # a client link: of the meant clients to that host
PROCESS, PROXY = "process", "proxy"  # what subprocesses on this machine are broken by
CONTAINER, TOXIPROXY, PACKET_FILTER = "container", "toxiproxy", "packet_filter"
COMPOSE, LOCAL = "compose", "local"


@dataclass(frozen=True, slots=True)
class Target:
    """A word that a fault may be aimed with; capitals stand for a name."""

    word: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Option:
    """A key that a scenario may give a fault, and the field of model.Options that it sets."""

    key: str
    field: str
    meaning: str
    choices: tuple[str, ...] = ()  # empty: a length of time or a number


@dataclass(frozen=True, slots=True)
class Kind:
    """What a fault does, to what, and by which mechanism."""

    name: str
    title: str
    applies_to: str  # HOST or CLIENT_LINK
    offers: Mapping[str, str]  # deployment -> mechanism
    undone_by: str
    may_stay: bool = False  # whether a scenario may say that it never returns
    options: tuple[str, ...] = ()  # the keys of OPTIONS that it takes
    needs: tuple[str, ...] = ()  # of these at least one
    why_not: Mapping[str, str] = field(default_factory=dict)  # deployment without it -> why


TARGETS = (
    Target("master of QUEUE", "the host that holds the queue's master when the window opens"),
    Target("mirror of QUEUE", "the host of the queue's oldest mirror when the window opens"),
    Target(
        "uninvolved",
        "a host that holds no copy of any queue; where clients enter: that no fault means",
    ),
    Target("HOST", "the host of that name in the layout"),
)
OPTIONS = {
    option.key: option
    for option in (
        Option("clients", "clients", "whose links", ("all", "publishers", "consumers")),
        Option("direction", "direction", "what stands still", ("both", "to_broker", "to_client")),
        Option("shape", "shape", "who is cut from whom", tuple(SHAPES)),
        Option("resource", "resource", "what runs short", ("memory", "disk")),
        Option("latency", "latency_s", "how much later data comes"),
        Option("rate", "rate_kb", "KB (1,000 bytes) a second and connection"),
        Option("bytes", "bytes", "how much of a connection still passes"),
        Option("down", "down_s", "so long cut"),
        Option("up", "up_s", "so long joined, in turn"),
    )
}
_PROCESSES = {COMPOSE: CONTAINER, LOCAL: PROCESS}
_LINKS = {COMPOSE: TOXIPROXY, LOCAL: PROXY}
_NETWORK = {COMPOSE: PACKET_FILTER, LOCAL: PROXY}

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            name="kill",
            title="SIGKILL to every broker process of the host",
            applies_to=HOST,
            offers=_PROCESSES,
            undone_by="the processes are started again, on their own data",
            may_stay=True,
        ),
        Kind(
            name="stop",
            title="SIGTERM to every broker process of the host, which ends in its own time",
            applies_to=HOST,
            offers=_PROCESSES,
            undone_by="the processes are started again, on their own data",
            may_stay=True,
        ),
        Kind(
            name="freeze",
            title="every broker process of the host stands still; its kernel keeps TCP alive",
            applies_to=HOST,
            offers=_PROCESSES,
            undone_by="the processes run on, with all that they held",
        ),
        Kind(
            name="hang",
            title="the links of clients to the host stand still in both directions, and live",
            applies_to=CLIENT_LINK,
            offers=_LINKS,
            undone_by="the links go on; what was held is delivered",
            options=("clients",),
        ),
        Kind(
            name="partition",
            title="packets between the target and all other hosts are dropped, both ways",
            applies_to=HOST,
            offers=_NETWORK,
            undone_by="the filter is removed",
            options=("shape",),
        ),
    )
}


def parse_target(text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """(word of TARGETS, the queue or host that it names). Raises ValueError with the choices."""
    words = text.split()
    match words:
        case ["master" | "mirror" as role, "of", queue]:
            return f"{role} of QUEUE", queue
        case ["uninvolved"]:
            return "uninvolved", ""
        case [host] if host in hosts:
            return "HOST", host
    choices = [target.word for target in TARGETS if target.word != "HOST"]
    raise ValueError(f"no target {text!r}; there are: {', '.join([*choices, *hosts])}")
