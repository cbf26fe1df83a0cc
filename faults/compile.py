"""One fault on a resolved host becomes actions with their undo.

1. Pure: the same arguments give the same value; nothing is read or asked here.
2. Every action is compiled together with its undo. Undoing goes in its own order: a host gets its
   network back before its processes.
3. Names that the world sees (chain, toxic) are short, begin with MARK, and belong to one window
   of one run.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from faults import peers, places
from faults.actions import (
    Action,
    AddToxic,
    ClearAlarm,
    Cut,
    Disable,
    Enable,
    Freeze,
    FreezeClients,
    Isolate,
    Join,
    Kill,
    KillClients,
    RaiseAlarm,
    Rejoin,
    RemoveToxic,
    ReplaceClients,
    Start,
    Stop,
    Thaw,
    ThawClients,
)
from faults.kinds import CLIENT, CLIENT_LINK, COMPOSE, KINDS, TOXIPROXY
from faults.kinds import mechanism as mechanism_of
from faults.model import Armed, FaultError, Options
from faults.peers import Serving
from faults.shapes import SHAPES, ways

MARK = "MQPROOF_"  # heal finds by it what no journal tells of
NAME_MAX = 28  # longest chain name that iptables takes
ENDING_S = 30.0  # so long the undo of a stop waits for a broker that is still ending
STREAMS = ("upstream", "downstream")
_STREAMS_OF = {"both": STREAMS, "to_broker": STREAMS[:1], "to_client": STREAMS[1:]}


@dataclass(frozen=True, slots=True)
class Aim:
    """What a fault is compiled for."""

    places: tuple[str, ...]  # hosts, or processes of hosts (places.py)
    hosts: tuple[str, ...]  # of the layout, that one included
    proxies: tuple[str, ...]  # link faults: the meant clients' ways to the host
    clients: tuple[str, ...]  # faults of clients: their names
    mark: str
    options: Options
    mechanism: str
    serving: Serving

    @property
    def mesh(self) -> peers.Mesh:
        return peers.Mesh(self.mechanism, self.serving, self.places[0])

    @property
    def host(self) -> str:
        """Of a fault that means one host, or links to one."""
        (place,) = self.places
        return places.host_of(place)


Deeds = tuple[tuple[Action, ...], tuple[Action, ...]]  # what to do, and what undoes it


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
) -> Armed:
    """`resolved`: places as one text; several, and such as are one process of a host that has
    more, are for kill, stop and freeze, and one process for faults of clients' links, or of
    peers' links that pass a proxy.
    `proxies`: the meant clients' proxies to what was resolved; only link faults need them.
    `clients`: the meant clients themselves; only faults of clients need them.
    `serving`: where hosts listen to their peers, if not as RabbitMQ does.
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
    aim = Aim(
        *(meant_places, tuple(hosts), links, meant, named),
        options or Options(),
        how,
        serving or {},
    )
    actions, undo = DEEDS[kind](aim)
    return Armed(
        window=window,
        kind=kind,
        target=target,
        resolved=resolved,
        role=role,
        mechanism=aim.mechanism,
        actions=actions,
        undo=undo if returns else (),
        mark=aim.mark,
        hosts=aim.hosts,
        proxies=links,
        options=aim.options,
        clients=meant,
        serving=serving or {},
    )


def _touched(
    kind: str, resolved: str, proxies: Sequence[str], clients: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the meant clients' proxies, and of themselves, those that this kind touches."""
    applies_to = KINDS[kind].applies_to
    if applies_to == CLIENT_LINK and not proxies:
        raise FaultError(f"{kind}: none of the meant clients has a link to {resolved}")
    if applies_to == CLIENT and not clients:
        raise FaultError(f"{kind}: none of the meant clients was hired")
    links = tuple(proxies) if applies_to == CLIENT_LINK else ()
    return links, tuple(clients) if applies_to == CLIENT else ()


def mark(run: str, window: int) -> str:
    """The name that chains and toxics of one window of one run have in the world."""
    digest = hashlib.sha256(f"{run}\n{window}".encode()).hexdigest()[:12]
    name = f"{MARK}{digest}_{window}"
    assert len(name) <= NAME_MAX, name
    return name


def _kill(aim: Aim) -> Deeds:
    return tuple(map(Kill, aim.places)), tuple(map(Start, aim.places))


def _stop(aim: Aim) -> Deeds:
    starts = (Start(place, ending_s=ENDING_S, after="stop") for place in aim.places)
    return tuple(map(Stop, aim.places)), tuple(starts)


def _freeze(aim: Aim) -> Deeds:
    return tuple(map(Freeze, aim.places)), tuple(map(Thaw, aim.places))


def _hang(aim: Aim) -> Deeds:
    """A bandwidth of 0: the only toxic that holds bytes and gives them back."""
    streams = _STREAMS_OF[aim.options.direction]
    stall = AddToxic(aim.proxies, aim.mark, "bandwidth", streams, (("rate", 0),))
    return (stall,), (RemoveToxic(aim.proxies, aim.mark),)


def _close(aim: Aim) -> Deeds:
    return (Disable(aim.proxies), Enable(aim.proxies)), (Enable(aim.proxies),)


def _refuse(aim: Aim) -> Deeds:
    return (Disable(aim.proxies),), (Enable(aim.proxies),)


def _reset(aim: Aim) -> Deeds:
    """Toxiproxy resets only links that were made after it was told to: the others are closed."""
    reset = AddToxic(aim.proxies, aim.mark, "reset_peer", STREAMS, (("timeout", 0),))
    arm = (Disable(aim.proxies), reset, Enable(aim.proxies))
    return arm, (RemoveToxic(aim.proxies, aim.mark), Enable(aim.proxies))


def _slow(aim: Aim) -> Deeds:
    """Each direction has the latency and the rate for itself."""
    found = {
        aim.mark: ("latency", "latency", aim.options.latency_ms),
        f"{aim.mark}_rate": ("bandwidth", "rate", aim.options.rate_kb),
    }
    slowing = {name: toxic for name, toxic in found.items() if toxic[2]}
    if not slowing:
        raise FaultError("slow: neither a latency nor a rate was given")
    arm = (
        AddToxic(aim.proxies, name, type, STREAMS, ((attribute, value),))
        for name, (type, attribute, value) in slowing.items()
    )
    return tuple(arm), tuple(RemoveToxic(aim.proxies, name) for name in slowing)


def _cut_after(aim: Aim) -> Deeds:
    if not aim.options.bytes:
        raise FaultError("cut_after: no number of bytes was given")
    limit = (("bytes", aim.options.bytes),)
    cut = AddToxic(aim.proxies, aim.mark, "limit_data", STREAMS, limit)
    return (cut,), (RemoveToxic(aim.proxies, aim.mark),)


def _partition(aim: Aim) -> Deeds:
    shape, count = aim.options.shape, len(aim.hosts)
    if count == 1:
        raise FaultError(f"{aim.host} is alone; there is nothing to cut it from")
    if count < SHAPES[shape].hosts_min:
        raise FaultError(f"{count} hosts are too few for the shape {shape}")
    cut = ways(shape, aim.host, aim.hosts)
    if aim.mechanism != TOXIPROXY:
        return (Cut(cut, aim.mark),), (Join(cut, aim.mark),)
    stalls = peers.stall(cut, aim.mark, aim.mesh)
    # What a short cut of a flap held comes late, as what the kernel sends again.
    if aim.serving and not aim.options.down_s:
        return stalls, peers.renew(cut, aim.mark, aim.mesh)
    return stalls, (peers.release(cut, aim.mark, aim.mesh),)


def _slow_peers(aim: Aim) -> Deeds:
    if len(aim.hosts) == 1:
        raise FaultError(f"{aim.host} is alone; it has no peers")
    if not aim.options.latency_ms:
        raise FaultError("slow_peers: no latency was given")
    slowed = ways("one", aim.host, aim.hosts)
    toxics = peers.delay(slowed, aim.mark, aim.mesh, aim.options.latency_ms)
    return toxics, (peers.release(slowed, aim.mark, aim.mesh),)


def _black_hole(aim: Aim) -> Deeds:
    return (Isolate(aim.host, aim.mark),), (Rejoin(aim.host, aim.mark),)


def _reboot(aim: Aim) -> Deeds:
    """Cut off first: no FIN or RST of what the kernel closes leaves the host."""
    deeds = _black_hole(aim), _kill(aim)
    arm, undo = (tuple(one for deed in deeds for one in deed[side]) for side in (0, 1))
    return arm, undo


def _flap(aim: Aim) -> Deeds:
    """The first cut and the last join; who performs them plays the rhythm in between."""
    if not aim.options.down_s or not aim.options.up_s:
        raise FaultError("flap: how long it is cut, or joined, was not given")
    return _partition(aim)


def _alarm(aim: Aim) -> Deeds:
    resource = aim.options.resource
    return (RaiseAlarm(aim.host, resource),), (ClearAlarm(aim.host, resource),)


def _client_crash(aim: Aim) -> Deeds:
    return (KillClients(aim.clients),), (ReplaceClients(aim.clients),)


def _client_freeze(aim: Aim) -> Deeds:
    return (FreezeClients(aim.clients),), (ThawClients(aim.clients),)


DEEDS = {
    "kill": _kill,
    "stop": _stop,
    "freeze": _freeze,
    "hang": _hang,
    "close": _close,
    "refuse": _refuse,
    "reset": _reset,
    "slow": _slow,
    "cut_after": _cut_after,
    "partition": _partition,
    "black_hole": _black_hole,
    "reboot": _reboot,
    "flap": _flap,
    "slow_peers": _slow_peers,
    "alarm": _alarm,
    "client_crash": _client_crash,
    "client_freeze": _client_freeze,
}
