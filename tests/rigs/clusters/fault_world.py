"""A world of hosts and links that faults can be done to; its own executor and witness.

Both look at the same state, so that what is not undone stays seen.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from faults.core.actions import (
    Action,
    AddToxic,
    ClearAlarm,
    ClearImpairment,
    Cut,
    Disable,
    Enable,
    Freeze,
    FreezeClients,
    Impair,
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
from faults.core.alarms import AlarmCommands
from faults.core.compile import compile, mark
from faults.core.kind import ArmedFault, ResolvedFault
from faults.core.mechanisms import COMPOSE, TOXIPROXY
from faults.core.model import (
    ANYBODY,
    UP,
    Armed,
    Drops,
    FaultError,
    Impairment,
    PacketSamples,
    ProcessState,
    Receipt,
    Replies,
    Reply,
    Successor,
    VerifyResult,
    Words,
)
from faults.core.options import FaultOptions
from faults.core.peers import Served, Serving, peer_link
from faults.core.places import split
from faults.core.replies import DIRECT
from faults.core.shapes import Way, droppers
from faults.core.targets import CLIENT
from faults.kinds import KINDS, mechanism
from faults.kinds.client_links.cut_after import CutAfterOptions
from faults.kinds.client_links.slow import SlowOptions
from faults.kinds.network.flap import FlapOptions
from faults.kinds.packets.packet_delay import PacketDelayOptions
from faults.kinds.packets.packet_loss import PacketLossOptions
from faults.kinds.peer_links.slow_peers import SlowPeersOptions
from tests.rigs.clusters.link_world import ANSWERED, SILENT, Links

HOSTS = ("rmq1", "rmq2", "rmq3")
OPTIONS_OF: dict[str, FaultOptions] = {  # what each kind needs
    **{name: kind.options() for name, kind in KINDS.items()},
    "flap": FlapOptions(down_s=0.3, up_s=0.3),
    "slow": SlowOptions(latency_s=0.2, rate_kb=1000),
    "cut_after": CutAfterOptions(bytes=100),
    "slow_peers": SlowPeersOptions(latency_s=0.2),
    "packet_loss": PacketLossOptions(loss=20),
    "packet_delay": PacketDelayOptions(delay_s=0.2, jitter_s=0.05, correlation=25),
}
REAL_OPTIONS_OF = {**OPTIONS_OF, "flap": FlapOptions(down_s=1.0, up_s=1.0)}  # of real clusters


def compiled_fault(
    kind: str,
    place: str,
    hosts: Iterable[str],
    proxies: Iterable[str] = (),
    *,
    window: int = 1,
    run: str = "run",
    options: FaultOptions | None = None,
    **more: Any,
) -> ArmedFault:
    """A fault at a place, or at several as one text. `more`: of ResolvedFault."""
    resolved = ResolvedFault(
        kind=KINDS[kind],
        places=split(place),
        hosts=tuple(hosts),
        proxies=tuple(proxies),
        window=window,
        mark=mark(run, window),
        options=options or KINDS[kind].options(),
        **{"target": place, **more},
    )
    return compile(resolved)


EPMD_PORT, DISTRIBUTION_PORT = 4369, 25672


def like_erlang(hosts: Iterable[str]) -> Serving:
    """Hosts of one broker each that all listen alike: at epmd's port, and at the one it names."""
    served = (Served((EPMD_PORT, DISTRIBUTION_PORT), DISTRIBUTION_PORT),)
    return Serving(by_host=dict.fromkeys(hosts, served), renewed=False)


ALARMS = AlarmCommands(
    raised={"memory": ("starve", "memory"), "disk": ("starve", "disk")},
    cleared={"memory": ("feed", "memory"), "disk": ("feed", "disk")},
    all_cleared=("feed", "all"),
)
CLIENTS = ("publisher-1", "consumer-1")  # whom faults of clients mean
ON_HOSTS = tuple(name for name, kind in KINDS.items() if kind.applies_to != CLIENT)
REFUSED = Reply(False, 0.001, "refused", "refused")


@dataclass
class World:
    dead: dict[str, int] = field(default_factory=dict)  # host -> how its process ended
    frozen: set[str] = field(default_factory=set)
    frozen_clients: set[str] = field(default_factory=set)
    dead_clients: set[str] = field(default_factory=set)
    replaced_clients: set[str] = field(default_factory=set)
    links: Links = field(default_factory=Links)
    cuts: dict[str, tuple[Way, ...]] = field(default_factory=dict)  # by chain
    short_of: set[tuple[str, str]] = field(default_factory=set)  # host and resource
    isolated: dict[str, str] = field(default_factory=dict)  # host, by chain
    impaired: dict[str, Impair] = field(default_factory=dict)  # by host
    packets_lost: Counter[str] = field(default_factory=Counter)  # by host that sent them
    dropped: Counter[tuple[str, Way]] = field(default_factory=Counter)  # by chain and way
    open: list[int] = field(default_factory=list)  # windows whose canaries are open
    canary_sets: int = 0
    ending: str = ""  # the host whose process ends after the next look
    unending: set[str] = field(default_factory=set)  # hosts whose process does not end when told
    slow_start: int = 0  # so many looks until a started host answers
    starting: set[str] = field(default_factory=set)  # hosts that were started again
    closed: set[str] = field(default_factory=set)  # hosts whose broker takes no clients
    supervised: bool = False  # dead processes start again once a look has seen them
    slow_prepare_s: float = 0.0

    # --- what is done to it ---------------------------------------------------------------------

    async def perform(self, action: Action) -> Receipt:
        issued_ns = time.monotonic_ns()
        self.change(action)
        return Receipt(issued_ns, time.monotonic_ns())

    def mechanism(self, kind: str) -> str:
        return mechanism(kind, COMPOSE) or mechanism(kind, COMPOSE, TOXIPROXY)

    def change(self, action: Action) -> None:
        match action:
            case Kill(host=host):
                self.dead[host] = 137
            case Stop(host=host):
                self.ending = host
            case Start(host=host):
                self.dead.pop(host, None)
                self.starting.add(host)
            case Freeze(host=host):
                self.frozen.add(host)
            case Thaw(host=host):
                self.frozen.discard(host)
            case RaiseAlarm(host=host, resource=resource):
                self.short_of.add((host, resource))
            case ClearAlarm(host=host, resource=resource):
                self.short_of.discard((host, resource))
            case KillClients(clients=clients):
                self.dead_clients.update(clients)
            case ReplaceClients(clients=clients):
                self.replaced_clients.update(clients)
            case FreezeClients(clients=clients):
                self.frozen_clients.update(clients)
            case ThawClients(clients=clients):
                self.frozen_clients.difference_update(clients)
            case AddToxic() | RemoveToxic() | Disable() | Enable():
                self.links.change(action)
            case Cut(ways=ways, chain=chain):
                self.cuts[chain] = ways
                self.dropped.update({(chain, way): -self.dropped[chain, way] for way in ways})
            case Join(chain=chain):
                self.cuts.pop(chain, None)
            case Isolate(host=host, chain=chain):
                self.isolated[chain] = host
            case Rejoin(chain=chain):
                self.isolated.pop(chain, None)
            case Impair(host=host):
                self.impaired[host] = action
            case ClearImpairment(host=host):
                self.impaired.pop(host, None)
                self.packets_lost.pop(host, None)

    # --- what is seen of it ---------------------------------------------------------------------

    async def prepare(self, armed: Armed) -> None:
        await asyncio.sleep(self.slow_prepare_s)
        self.links.reopen(armed.proxies)
        self.canary_sets += 1
        self.open.append(armed.window)

    async def process(self, host: str) -> ProcessState:
        if host == self.ending and host not in self.unending:
            self.ending = ""
            self.dead[host] = 0
            return ProcessState(True, None)  # it takes a moment to end
        if host in self.dead:
            ended = ProcessState(False, self.dead[host])
            if self.supervised:
                del self.dead[host]
            return ended
        return ProcessState(True, None, host in self.frozen)

    async def drops(self, host: str, chain: str) -> Drops | None:
        own = droppers(self.cuts.get(chain, ())).get(host, ())
        if self.isolated.get(chain) == host:
            own = ((host, ANYBODY), (ANYBODY, host))
        return {way: self.dropped[chain, way] for way in own} or None

    async def reach(self, host: str, peer: str, wait_s: float | None = None) -> Reply:
        """A handshake needs both directions: what is asked, or what is answered, is dropped. A
        word on a link that passes a proxy needs the way there alone."""
        peer, _, port = peer.partition(":")
        if host == peer:
            return ANSWERED
        exchange = [(host, peer), (peer, host)]
        dropped = [
            (chain, way)
            for chain, rules in self._rules().items()
            for way in _first(rules, exchange)
        ]
        self.dropped.update(dropped)
        if dropped:
            return Reply(False, wait_s or SILENT.seconds, "silent")
        return self.links.say(peer_link(host, peer, int(port or DISTRIBUTION_PORT)), Words(UP))

    def _rules(self) -> dict[str, list[Way]]:
        alone = {c: [(h, ANYBODY), (ANYBODY, h)] for c, h in self.isolated.items()}
        return {**{chain: list(ways) for chain, ways in self.cuts.items()}, **alone}

    async def echoes(self, host: str, peer: str, count: int, wait_s: float) -> PacketSamples:
        """Each end that loses packets loses its share of the requests, or of the answers."""
        answered, seconds = count, ANSWERED.seconds
        for one in (host, peer):
            if (own := self.impaired.get(one)) is not None:
                lost = answered * own.loss // 100
                self.packets_lost[one] += lost
                answered -= lost
                seconds += own.delay_ms / 1000
        return PacketSamples(count, (seconds,) * (answered if seconds < wait_s else 0))

    async def impairments(self, host: str) -> dict[str, Impairment]:
        own = self.impaired.get(host)
        if own is None:
            return {}
        numbers = own.loss / 100, own.delay_ms / 1000, own.jitter_ms / 1000, own.correlation / 100
        return {"eth0": Impairment(*numbers, dropped=self.packets_lost[host])}

    async def entries(self, host: str) -> Replies:
        return dict.fromkeys(("listener-1", "listener-2"), await self.greets(host))

    async def canaries(self, armed: Armed) -> Replies:
        assert self.canary_sets, "canaries are opened before they are asked"
        return {**{proxy: self.links.ask(proxy) for proxy in armed.proxies}, DIRECT: ANSWERED}

    async def words(self, armed: Armed, words: Words) -> Replies:
        assert self.canary_sets, "canaries are opened before they speak"
        return {
            **{proxy: self.links.say(proxy, words) for proxy in armed.proxies},
            DIRECT: ANSWERED,
        }

    async def attempts(self, armed: Armed) -> Replies:
        return {**{proxy: self.links.attempt(proxy) for proxy in armed.proxies}, DIRECT: ANSWERED}

    async def client(self, client: str) -> ProcessState:
        if client in self.dead_clients:
            return ProcessState(False, 137)
        return ProcessState(True, None, client in self.frozen_clients)

    async def connected(self, clients: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(client for client in clients if client not in self.dead_clients)

    async def successor(self, client: str) -> Successor | None:
        replaced = client in self.replaced_clients
        return Successor(f"after-{client}", connected=True, at_work=True) if replaced else None

    async def answers(self, client: str) -> Reply:
        return SILENT if client in self.frozen_clients else ANSWERED

    async def alarms(self, resource: str) -> dict[str, dict[str, bool]]:
        said = {host: (host, resource) in self.short_of for host in HOSTS}
        return dict.fromkeys(HOSTS, said)

    async def said(self, host: str, words: str) -> str:
        raise FaultError(f"{host} knows no words")

    async def verify_result(self, armed: Armed) -> VerifyResult | None:
        """An honest command: the state of the host that it is asked about."""
        host = armed.host
        in_force = host in self.frozen if armed.kind == "freeze" else host in self.dead
        return VerifyResult(in_force, f"its verify command ended with {int(not in_force)}")

    async def greets(self, host: str) -> Reply:
        if host in self.isolated.values():
            self.dropped.update((c, (ANYBODY, h)) for c, h in self.isolated.items() if h == host)
            return SILENT
        if host in self.dead:
            return REFUSED
        if host in self.starting:
            self.slow_start -= 1
            if self.slow_start >= 0:
                return REFUSED
        if host in self.frozen:
            return SILENT
        return REFUSED if host in self.closed else ANSWERED

    async def serves(self, host: str) -> Reply:
        return await self.greets(host)

    async def dismiss(self, armed: Armed) -> None:
        if armed.window in self.open:  # a look at its end opens fresh ones, and closes them
            self.open.remove(armed.window)


def _first(rules: list[Way], packets: list[Way]) -> list[Way]:
    """The rule that drops the first of these packets that any drops: none is sent after it."""
    found = [
        rule
        for start, end in packets
        for rule in ((start, end), (start, ANYBODY), (ANYBODY, end))
        if rule in rules
    ]
    return found[:1]
