"""PURE: what a fault may be aimed at, and the words for it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from faults.places import host_of, process_of

HOST, CLIENT_LINK = "host", "client link"  # a client link: of the meant clients to that host
PEER_LINK = "peer link"  # of that host to its peers, and back
CLIENT = "client"  # the process of a publisher or consumer
_CLIENT = re.compile(r"(publisher|consumer)-[1-9]\d*")


@dataclass(frozen=True, slots=True)
class TargetWord:
    """A word that a fault may be aimed with; capitals stand for a name."""

    word: str
    meaning: str


TARGETS = (
    TargetWord("master of QUEUE", "the host that holds the queue's master when the window opens"),
    TargetWord("mirror of QUEUE", "the host of the queue's oldest mirror when the window opens"),
    TargetWord(
        "uninvolved",
        "a host that holds no copy of any queue; where clients enter: that no fault means",
    ),
    TargetWord("HOST", "the host of that name in the layout; a balancer, too"),
    TargetWord(
        "active balancer", "the balancer that has the address which clients dial when it opens"
    ),
    TargetWord("standby balancer", "the other one of a pair"),
    TargetWord("HOST/PROCESS", "that process of the host alone, where it carries several"),
    TargetWord(
        "name_server_of CLIENT", "the name server that the client is attached to when it opens"
    ),
    TargetWord("name servers", "all of them at once: for kill, stop and freeze"),
    TargetWord("clients", "the processes that `clients` names: for faults of clients only"),
    TargetWord("CLIENT", "the client of that name: publisher-1, consumer-2, ..."),
)


def parse_target(text: str, hosts: Sequence[str]) -> tuple[str, str]:
    """Return (word of TARGETS, what it names: a queue, a host, a client, or nothing).

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
