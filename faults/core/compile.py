"""One fault on a resolved host becomes actions with their undo.

1. Pure: the same arguments give the same value; nothing is read or asked here.
2. Every action is compiled together with its undo. Undoing goes in its own order: a host gets its
   network back before its processes.
3. Names that the world sees (chain, toxic) are short, begin with MARK, and belong to one window
   of one run.
"""

import hashlib
from dataclasses import replace

from faults.core.kind import ArmedFault, Kind, ResolvedFault
from faults.core.mechanisms import COMPOSE, TOXIPROXY
from faults.core.model import FaultError
from faults.core.places import host_of, joined
from faults.core.targets import CLIENT, CLIENT_LINK

MARK = "MQPROOF_"  # heal finds by it what no journal tells of
NAME_MAX = 28  # longest chain name that iptables takes


def compile(fault: ResolvedFault) -> ArmedFault:
    """Return the fault with its actions and their undo. Raise FaultError where it would touch
    nothing."""
    kind = fault.kind
    known = set(map(host_of, fault.places)) <= set(fault.hosts)
    assert known or kind.applies_to == CLIENT, (fault.places, fault.hosts)
    assert isinstance(fault.options, kind.options), (kind.name, fault.options)
    assert fault.returns or kind.may_stay, f"{kind.name} always ends with its window"
    fault = replace(
        fault,
        mechanism=fault.mechanism or _in_containers(kind),
        proxies=_links(fault, kind),
        clients=_clients(fault, kind),
    )
    actions, undo = kind.compile(fault)
    return ArmedFault(
        window=fault.window,
        kind=kind.name,
        target=fault.target,
        places=fault.places,
        role=fault.role,
        mechanism=fault.mechanism,
        actions=actions,
        undo=undo if fault.returns else (),
        mark=fault.mark,
        hosts=fault.hosts,
        proxies=fault.proxies,
        options=fault.options,
        clients=fault.clients,
        serving=fault.serving,
        declared=kind,
    )


def _in_containers(kind: Kind) -> str:
    return kind.mechanism(COMPOSE) or kind.mechanism(COMPOSE, TOXIPROXY)


def _links(fault: ResolvedFault, kind: Kind) -> tuple[str, ...]:
    if kind.applies_to != CLIENT_LINK:
        return ()
    if not fault.proxies:
        to = joined(fault.places)
        raise FaultError(f"{kind.name}: none of the meant clients has a link to {to}")
    return fault.proxies


def _clients(fault: ResolvedFault, kind: Kind) -> tuple[str, ...]:
    if kind.applies_to != CLIENT:
        return ()
    if not fault.clients:
        raise FaultError(f"{kind.name}: none of the meant clients was started")
    return fault.clients


def mark(run: str, window: int) -> str:
    """The name that chains and toxics of one window of one run have in the world."""
    digest = hashlib.sha256(f"{run}\n{window}".encode()).hexdigest()[:12]
    name = f"{MARK}{digest}_{window}"
    assert len(name) <= NAME_MAX, name
    return name
