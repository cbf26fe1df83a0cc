"""Fault kinds and targets as data: what there is to choose from, and where each is offered.

1. Pure words: what a kind does to resolved hosts stands in compile.py, what proves it in
   verification/.
2. Where a deployment or a system cannot do a kind, it says why: never silently.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from faults.places import host_of, process_of
from faults.shapes import SHAPES

HOST, CLIENT_LINK = "host", "client link"  # a client link: of the meant clients to that host
PEER_LINK = "peer link"  # of that host to its peers, and back
CLIENT = "client"  # the process of a publisher or consumer
PROCESS, PROXY = "process", "proxy"  # what subprocesses on this machine are broken by
CONTAINER, TOXIPROXY, PACKET_FILTER = "container", "toxiproxy", "packet_filter"
COMMAND = "command"  # a user's own, for hosts that are not ours
COMPOSE, LOCAL, EXTERNAL = "compose", "local", "external"
DIRECT = "direct"  # how a layout's peer links are made: so, or by TOXIPROXY
_CLIENT = re.compile(r"(publisher|consumer)-[1-9]\d*")
OF_PROCESSES = ("kill", "stop", "freeze")  # of host faults: those that ask for no broker
LATENCY_S = (0.05, 5.0)  # a busy machine stalls for less; a proof of more outlasts windows
RATE_KB_MAX = 5_000  # a broker may not be faster than that by itself
PHASE_S_MIN = 0.2  # of a flap; a change takes 0.03 s by proxy, 0.1 to 0.2 s in containers
BYTES_MAX = 10_000_000  # a canary has to send more through the broker


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
    choices: tuple[str, ...] = ()  # empty: a length of time (in seconds) or a number
    least: float = 0.0  # less, or more than `most`, could not be told from nothing
    most: float = inf


@dataclass(frozen=True, slots=True)
class Kind:
    """What a fault does, to what, and by which mechanism."""

    name: str
    title: str
    applies_to: str  # HOST, CLIENT_LINK, PEER_LINK or CLIENT
    offers: Mapping[str, str]  # deployment -> mechanism
    undone_by: str
    ends_broker: bool  # what its processes held in memory is gone
    takes_page_cache: (
        bool  # what they wrote and did not sync is gone, too: the host lost its power
    )
    may_stay: bool = False  # whether a scenario may say that it never returns
    options: tuple[str, ...] = ()  # the keys of OPTIONS that it takes
    needs: tuple[str, ...] = ()  # of these at least one
    needs_all: tuple[str, ...] = ()
    by_peer_links: Mapping[str, str] = field(default_factory=dict)  # deployment -> mechanism, on
    # layouts whose peer links pass a proxy there
    why_not: Mapping[str, str] = field(default_factory=dict)  # deployment without it -> why


TARGETS = (
    Target("master of QUEUE", "the host that holds the queue's master when the window opens"),
    Target("mirror of QUEUE", "the host of the queue's oldest mirror when the window opens"),
    Target(
        "uninvolved",
        "a host that holds no copy of any queue; where clients enter: that no fault means",
    ),
    Target("HOST", "the host of that name in the layout; a balancer, too"),
    Target(
        "active balancer", "the balancer that has the address which clients dial when it opens"
    ),
    Target("standby balancer", "the other one of a pair"),
    Target("HOST/PROCESS", "that process of the host alone, where it carries several"),
    Target(
        "name_server_of CLIENT", "the name server that the client is attached to when it opens"
    ),
    Target("name servers", "all of them at once: for kill, stop and freeze"),
    Target("clients", "the processes that `clients` names: for faults of clients only"),
    Target("CLIENT", "the client of that name: publisher-1, consumer-2, ..."),
)
OPTIONS = {
    option.key: option
    for option in (
        Option("clients", "clients", "who is meant", ("all", "publishers", "consumers")),
        Option("direction", "direction", "what stands still", ("both", "to_broker", "to_client")),
        Option("shape", "shape", "who is cut from whom", tuple(SHAPES)),
        Option("resource", "resource", "what runs short", ("memory", "disk")),
        Option(
            "latency",
            "latency_s",
            "later in each direction",
            least=LATENCY_S[0],
            most=LATENCY_S[1],
        ),
        Option(
            "rate", "rate_kb", "KB (1,000 bytes) a second and direction", least=1, most=RATE_KB_MAX
        ),
        Option("bytes", "bytes", "how much of a connection still passes", least=1, most=BYTES_MAX),
        Option("down", "down_s", "so long cut", least=PHASE_S_MIN),
        Option("up", "up_s", "so long joined, in turn", least=PHASE_S_MIN),
    )
}
_PROCESSES = {COMPOSE: CONTAINER, LOCAL: PROCESS, EXTERNAL: COMMAND}
_CLIENTS = {COMPOSE: CONTAINER, LOCAL: PROCESS, EXTERNAL: PROCESS}
_LINKS = {COMPOSE: TOXIPROXY, LOCAL: PROXY, EXTERNAL: PROXY}
_NETWORK = {COMPOSE: PACKET_FILTER, LOCAL: PROXY}
_PEER_LINKS = {COMPOSE: TOXIPROXY}
_NO_NETWORK = {
    EXTERNAL: "packets between hosts that mqproof did not make are not its to drop, and the "
    "brokers' ways to each other pass no proxy of its"
}

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            name="kill",
            title="SIGKILL to every broker process of the host",
            applies_to=HOST,
            offers=_PROCESSES,
            undone_by="the processes are started again, on their own data",
            ends_broker=True,
            takes_page_cache=False,
            may_stay=True,
        ),
        Kind(
            name="stop",
            title="SIGTERM to every broker process of the host, which ends in its own time",
            applies_to=HOST,
            offers=_PROCESSES,
            undone_by="the processes are started again, on their own data",
            ends_broker=True,
            takes_page_cache=False,
            may_stay=True,
        ),
        Kind(
            name="freeze",
            title="every broker process of the host stands still; its kernel keeps TCP alive",
            applies_to=HOST,
            offers=_PROCESSES,
            undone_by="the processes run on, with all that they held",
            ends_broker=False,
            takes_page_cache=False,
        ),
        Kind(
            name="hang",
            title="the links of clients to the host stand still, in both directions or in one, "
            "and live",
            applies_to=CLIENT_LINK,
            offers=_LINKS,
            undone_by="the links go on; what was held is delivered",
            ends_broker=False,
            takes_page_cache=False,
            options=("clients", "direction"),
        ),
        Kind(
            name="close",
            title="the links of clients to the host are closed at once (FIN; RST where bytes were "
            "on their way); new ones are taken",
            applies_to=CLIENT_LINK,
            offers=_LINKS,
            undone_by="nothing is left to be undone",
            ends_broker=False,
            takes_page_cache=False,
            options=("clients",),
        ),
        Kind(
            name="refuse",
            title="the links of clients to the host are closed, and new ones are refused",
            applies_to=CLIENT_LINK,
            offers=_LINKS,
            undone_by="new links are taken again",
            ends_broker=False,
            takes_page_cache=False,
            options=("clients",),
        ),
        Kind(
            name="reset",
            title="the links of clients to the host are closed (FIN), and those made from now on "
            "are taken and reset (RST) with the first byte on them",
            applies_to=CLIENT_LINK,
            offers=_LINKS,
            undone_by="new links are left alone",
            ends_broker=False,
            takes_page_cache=False,
            options=("clients",),
        ),
        Kind(
            name="slow",
            title="what passes the links of clients to the host comes later, in each direction "
            "by the latency (a round trip by twice that), and at most at the rate",
            applies_to=CLIENT_LINK,
            offers=_LINKS,
            undone_by="what was held is delivered at once, and nothing is held any more",
            ends_broker=False,
            takes_page_cache=False,
            options=("clients", "latency", "rate"),
            needs=("latency", "rate"),
        ),
        Kind(
            name="cut_after",
            title="each link of clients to the host, those that stand and new ones, is closed "
            "(FIN) when so many bytes have passed it in one of its directions",
            applies_to=CLIENT_LINK,
            offers=_LINKS,
            undone_by="links pass as much as they like; those that were closed stay closed",
            ends_broker=False,
            takes_page_cache=False,
            options=("clients", "bytes"),
            needs=("bytes",),
        ),
        Kind(
            name="partition",
            title="packets between the target and all other hosts are dropped, both ways",
            applies_to=HOST,
            offers=_NETWORK,
            undone_by="the filter is removed",
            ends_broker=False,
            takes_page_cache=False,
            options=("shape",),
            by_peer_links=_PEER_LINKS,
            why_not=_NO_NETWORK,
        ),
        Kind(
            name="black_hole",
            title="every packet of the host is dropped, clients' too; its processes run",
            applies_to=HOST,
            offers=_NETWORK,
            undone_by="the filter is removed",
            ends_broker=False,
            takes_page_cache=False,
            why_not=_NO_NETWORK,
        ),
        Kind(
            name="reboot",
            title="the host drops every packet, then SIGKILL to its processes: nobody is told",
            applies_to=HOST,
            offers={COMPOSE: f"{PACKET_FILTER}, {CONTAINER}"},
            undone_by="the filter is removed, then the processes are started again",
            ends_broker=True,
            takes_page_cache=False,
            why_not={
                LOCAL: "a new connection to a dead node is closed at once here, where one to a "
                "host without power is silent; nothing holds that back but a network of its own",
                **_NO_NETWORK,
            },
        ),
        Kind(
            name="flap",
            title="a partition that comes and goes, cut for `down` and joined for `up` in turn",
            applies_to=HOST,
            offers=_NETWORK,
            undone_by="the filter is removed",
            ends_broker=False,
            takes_page_cache=False,
            options=("shape", "down", "up"),
            needs_all=("down", "up"),
            by_peer_links=_PEER_LINKS,
            why_not=_NO_NETWORK,
        ),
        Kind(
            name="slow_peers",
            title="what passes between the host and its peers comes later, in each direction by "
            "the latency",
            applies_to=PEER_LINK,
            offers={LOCAL: PROXY},
            undone_by="what was held is delivered at once, and nothing is held any more",
            ends_broker=False,
            takes_page_cache=False,
            options=("latency",),
            needs_all=("latency",),
            by_peer_links=_PEER_LINKS,
            why_not={
                COMPOSE: "nothing stands between peers where their links are direct",
                EXTERNAL: "the brokers' ways to each other pass no proxy of mqproof's",
            },
        ),
        Kind(
            name="alarm",
            title="the broker of the host runs short of memory or disk, by a limit that it cannot "
            "keep: publishers are blocked",
            applies_to=HOST,
            offers={COMPOSE: CONTAINER},
            undone_by="the limits of its configuration are in force again",
            ends_broker=False,
            takes_page_cache=False,
            options=("resource",),
            why_not={
                LOCAL: "no system that has alarms runs as subprocesses",
                EXTERNAL: "limits of brokers that mqproof did not start are not its to change",
            },
        ),
        Kind(
            name="client_crash",
            title="SIGKILL to the processes of the meant clients; their connections are closed",
            applies_to=CLIENT,
            offers=_CLIENTS,
            undone_by="new clients take their places: the same queues and entries, new numbers",
            ends_broker=False,
            takes_page_cache=False,
            may_stay=True,
            options=("clients",),
        ),
        Kind(
            name="client_freeze",
            title="the processes of the meant clients stand still; the kernel keeps TCP alive",
            applies_to=CLIENT,
            offers=_CLIENTS,
            undone_by="the processes run on, with all that they held",
            ends_broker=False,
            takes_page_cache=False,
            options=("clients",),
        ),
    )
}


def mechanism(kind: str, deployment: str, peer_links: str = DIRECT) -> str:
    """By what it is done; "" where nothing does it."""
    offered = KINDS[kind]
    by_proxy = offered.by_peer_links if peer_links == TOXIPROXY else {}
    return by_proxy.get(deployment) or offered.offers.get(deployment, "")


def offered(kind: Kind, deployment: str) -> str:
    """Every mechanism of a kind, and what it hangs on; "-": none."""
    words = [kind.offers[deployment]] if deployment in kind.offers else []
    if deployment in kind.by_peer_links:
        words.append(f"{kind.by_peer_links[deployment]} if peer_links = {TOXIPROXY}")
    return "; ".join(words) or "-"


def parse_target(text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """(word of TARGETS, whom it names: a queue, a host, a client, or nobody).

    Raises ValueError with the choices.
    """
    words = text.split()
    match words:
        case ["master" | "mirror" as role, "of", queue]:
            return f"{role} of QUEUE", queue
        case ["uninvolved"]:
            return "uninvolved", ""
        case ["active" | "standby" as which, "balancer"]:
            return f"{which} balancer", ""
        case ["clients"]:
            return "clients", ""
        case ["name", "servers"]:
            return "name servers", ""
        case ["name_server_of", client] if _CLIENT.fullmatch(client):
            return "name_server_of CLIENT", client
        case [host] if host in hosts:
            return "HOST", host
        case [place] if host_of(place) in hosts and process_of(place):
            return "HOST/PROCESS", place
        case [client] if _CLIENT.fullmatch(client):
            return "CLIENT", client
    choices = [target.word for target in TARGETS if target.word not in ("HOST", "CLIENT")]
    raise ValueError(f"no target {text!r}; there are: {', '.join([*choices, *hosts])}")
