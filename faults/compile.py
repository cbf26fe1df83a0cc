"""One fault on a resolved host becomes actions with their undo.

1. Pure: the same arguments give the same value; nothing is read or asked here.
2. Every action is compiled together with its undo. Undoing goes in its own order: a host gets its
   network back before its processes.
3. Names that the world sees (chain, toxic) are short, begin with MARK, and belong to one window
   of one run.
"""

import hashlib
from collections.abc import Sequence

from faults import places
from faults.alarms import AlarmCommands
from faults.kind import Scope
from faults.kinds import KINDS
from faults.kinds import mechanism as mechanism_of
from faults.mechanisms import COMPOSE, TOXIPROXY
from faults.model import Armed, FaultError, Options
from faults.peers import Serving
from faults.targets import CLIENT, CLIENT_LINK

MARK = "MQPROOF_"  # heal finds by it what no journal tells of
NAME_MAX = 28  # longest chain name that iptables takes


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
    options: Options | None = None,
    clients: Sequence[str] = (),
    serving: Serving | None = None,
    alarms: AlarmCommands | None = None,
) -> Armed:
    """`resolved`: places as one text; several, and such as are one process of a host that has
    more, are for kill, stop and freeze, and one process for faults of clients' links, or of
    peers' links that pass a proxy.
    `proxies`: the meant clients' proxies to what was resolved; only link faults need them.
    `clients`: the meant clients themselves; only faults of clients need them.
    `serving`: where hosts listen to their peers; only faults of links that pass a proxy between
    them need it.
    `alarms`: how the system's brokers are brought into alarm; only faults of that need it.
    `mechanism`: by what the deployment does it; without, as it is done in containers, by a proxy
    of peer links only where nothing else does it.

    Raises FaultError where the fault would touch nothing.
    """
    meant_places = places.split(resolved)
    known = {places.host_of(place) for place in meant_places} <= set(hosts)
    assert known or KINDS[kind].applies_to == CLIENT, (resolved, hosts)
    assert returns or KINDS[kind].may_stay, f"{kind} always ends with its window"
    links, meant = _touched(kind, resolved, proxies, clients)
    how = mechanism or mechanism_of(kind, COMPOSE) or mechanism_of(kind, COMPOSE, TOXIPROXY)
    named = mark(run, window)
    scope = Scope(
        *(meant_places, tuple(hosts), links, meant, named),
        options or Options(),
        how,
        serving,
        alarms,
    )
    actions, undo = KINDS[kind].compile(scope)
    return Armed(
        window=window,
        kind=kind,
        target=target,
        resolved=resolved,
        role=role,
        mechanism=scope.mechanism,
        actions=actions,
        undo=undo if returns else (),
        mark=scope.mark,
        hosts=scope.hosts,
        proxies=links,
        options=scope.options,
        clients=meant,
        serving=serving,
    )


def _touched(
    kind: str, resolved: str, proxies: Sequence[str], clients: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the meant clients' proxies, and of themselves, those that this kind touches."""
    applies_to = KINDS[kind].applies_to
    if applies_to == CLIENT_LINK and not proxies:
        raise FaultError(f"{kind}: none of the meant clients has a link to {resolved}")
    if applies_to == CLIENT and not clients:
        raise FaultError(f"{kind}: none of the meant clients was started")
    links = tuple(proxies) if applies_to == CLIENT_LINK else ()
    return links, tuple(clients) if applies_to == CLIENT else ()


def mark(run: str, window: int) -> str:
    """The name that chains and toxics of one window of one run have in the world."""
    digest = hashlib.sha256(f"{run}\n{window}".encode()).hexdigest()[:12]
    name = f"{MARK}{digest}_{window}"
    assert len(name) <= NAME_MAX, name
    return name
