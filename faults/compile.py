"""Fault kinds as data, and how one fault on a resolved host becomes an action with its undo.

1. Pure: the same arguments give the same value; nothing is read or asked here.
2. Every action is compiled together with its undo.
3. Names that the world sees (chain, toxic) are short, begin with MARK, and belong to one window
   of one run.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from faults.model import (
    PROCESS,
    PROXY,
    Action,
    Armed,
    Cut,
    FaultError,
    Freeze,
    Join,
    Kill,
    Resume,
    Stall,
    Start,
    Stop,
    Thaw,
)

MARK = "MQPROOF_"  # heal finds by it what no journal tells of
NAME_MAX = 28  # longest chain name that iptables takes
ENDING_S = 30.0  # so long the undo of a stop waits for a broker that is still ending


@dataclass(frozen=True, slots=True)
class Target:
    """A word that a fault may be aimed with; capitals stand for a name."""

    word: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Kind:
    """What a fault does, to what, and by which mechanism."""

    name: str
    title: str
    applies_to: str  # "host", or "client link": the links of the meant clients to that host
    mechanism: str  # in containers
    local: str  # for subprocesses on this machine
    undone_by: str
    may_stay: bool  # whether a scenario may say that it never returns


TARGETS = (
    Target("master of QUEUE", "the host that holds the queue's master when the window opens"),
    Target("mirror of QUEUE", "the host of the queue's oldest mirror when the window opens"),
    Target(
        "uninvolved",
        "a host that holds no copy of any queue; where clients enter: that no fault means",
    ),
    Target("HOST", "the host of that name in the layout"),
)

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            name="kill",
            title="SIGKILL to every broker process of the host",
            applies_to="host",
            mechanism="container",
            local=PROCESS,
            undone_by="the processes are started again, on their own data",
            may_stay=True,
        ),
        Kind(
            name="stop",
            title="SIGTERM to every broker process of the host, which ends in its own time",
            applies_to="host",
            mechanism="container",
            local=PROCESS,
            undone_by="the processes are started again, on their own data",
            may_stay=True,
        ),
        Kind(
            name="freeze",
            title="every broker process of the host stands still; its kernel keeps TCP alive",
            applies_to="host",
            mechanism="container",
            local=PROCESS,
            undone_by="the processes run on, with all that they held",
            may_stay=False,
        ),
        Kind(
            name="hang",
            title="the links of clients to the host stand still in both directions, and live",
            applies_to="client link",
            mechanism="toxiproxy",
            local=PROXY,
            undone_by="the links go on; what was held is delivered",
            may_stay=False,
        ),
        Kind(
            name="partition",
            title="every packet between the host and all other hosts is dropped, both ways",
            applies_to="host",
            mechanism="packet_filter",
            local=PROXY,
            undone_by="the filter is removed",
            may_stay=False,
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


def compile(
    kind: str,
    target: str,
    resolved: str,
    role: str,
    hosts: Sequence[str],
    proxies: Sequence[str],
    window: int,
    run: str,
    returns: bool = True,
    mechanism: str = "",
) -> Armed:
    """`proxies`: the meant clients' proxies to the resolved host; only a hang needs them.
    `mechanism`: by what the deployment does it; without, as it is done in containers.

    Raises FaultError where the fault would touch nothing.
    """
    assert resolved in hosts, (resolved, hosts)
    assert returns or KINDS[kind].may_stay, f"{kind} always ends with its window"
    peers = tuple(host for host in hosts if host != resolved)
    action, undo = _actions(kind, resolved, peers, tuple(proxies), mark(run, window))
    return Armed(
        window=window,
        kind=kind,
        target=target,
        resolved=resolved,
        role=role,
        mechanism=mechanism or KINDS[kind].mechanism,
        action=action,
        undo=undo if returns else None,
        peers=peers if kind == "partition" else (),
    )


def mark(run: str, window: int) -> str:
    """The name that chains and toxics of one window of one run have in the world."""
    digest = hashlib.sha256(f"{run}\n{window}".encode()).hexdigest()[:12]
    name = f"{MARK}{digest}_{window}"
    assert len(name) <= NAME_MAX, name
    return name


def _actions(
    kind: str, host: str, peers: tuple[str, ...], proxies: tuple[str, ...], name: str
) -> tuple[Action, Action]:
    match kind:
        case "kill":
            return Kill(host), Start(host)
        case "stop":
            return Stop(host), Start(host, ending_s=ENDING_S)
        case "freeze":
            return Freeze(host), Thaw(host)
        case "hang":
            if not proxies:
                raise FaultError(f"hang: none of the meant clients has a link to {host}")
            return Stall(proxies, name), Resume(proxies, name)
        case "partition":
            if not peers:
                raise FaultError(f"partition: {host} is alone; there is nothing to cut it from")
            return Cut(host, peers, name), Join(host, peers, name)
    raise AssertionError(f"no fault kind {kind!r}")
