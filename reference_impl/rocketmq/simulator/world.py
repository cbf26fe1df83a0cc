"""Hosts, what runs on them, and what happens next.

1. Everything comes from one seed: how long octets take, whose turn is first. The same seed is the
   same world.
2. A host's server is called as shell calls it: of a connection, of octets, of an end, of time.
3. A host may crash (its process is gone, its disk is not), lose its power (so is what was not
   flushed), stand still and go on, and be cut off, in one direction or both. With `stalls` each
   transmission may be the one that its connection stalls at, for a while.
"""

import heapq
import random
from collections.abc import Callable
from functools import partial
from itertools import count

import msgspec

from reference_impl.rocketmq.effects import (
    TICK_MS,
    AppendTruth,
    Close,
    Dial,
    Effect,
    Server,
    Transmit,
)
from reference_impl.rocketmq.simulator.disks import MemoryDisk
from reference_impl.rocketmq.simulator.network import End, Network

# --- Clocks --------------------------------------------------------------------------------------
# Each host's own time: it may run faster or slower than the world's, and begin elsewhere.


class WorldClock:
    """The true time, in milliseconds from the beginning. No host in the world can read it."""

    def __init__(self) -> None:
        self.ms = 0.0


class HostClock:
    """effects.Clock. `rate`: its milliseconds in one of the world's; `behind_ms`: how much the
    time of day lags."""

    def __init__(self, world: WorldClock, rate: float = 1.0, behind_ms: int = 0) -> None:
        self._world = world
        self._rate = rate
        self._behind_ms = behind_ms

    def now_ms(self) -> int:
        return int(self._world.ms * self._rate)

    def wall_ms(self) -> int:
        return _EPOCH_MS + self.now_ms() - self._behind_ms


_EPOCH_MS = 1_700_000_000_000


# --- The world -----------------------------------------------------------------------------------


DIAL_LIMIT_MS = 3_000
LATENCY_MAX_MS = 3.0
_LATENCY_MIN_MS = 0.1
Boot = Callable[["Host"], Server]


class Stalls(msgspec.Struct, frozen=True):
    """`share`: of transmissions, at which one direction of a connection stalls for a time between
    `least_ms` and `most_ms`."""

    share: float
    least_ms: float
    most_ms: float


class Host(msgspec.Struct, eq=False):
    """`doors`: by port, what is spoken there. `truth`: lines that its servers admitted."""

    name: str
    boot: Boot
    doors: dict[int, str]
    clock: HostClock
    disk: MemoryDisk
    server: Server | None = None
    boots: int = 0
    stands_still: bool = False
    has_power: bool = True
    truth: bytes = b""


class World:
    """The simulated world. `tick_ms`: how often servers get a tick; less often is faster.
    `latency_max_ms`: how long octets are under way at most. `stalls`: None for none; it may
    change at any time. `kernels`: a host that stood still gets all that was said to it, in order,
    also on connections that are new or have ended. Else what comes on these is lost, as if its
    timers were quicker."""

    def __init__(
        self,
        seed: int,
        tick_ms: int = TICK_MS,
        latency_max_ms: float = LATENCY_MAX_MS,
        stalls: Stalls | None = None,
        kernels: bool = False,
    ) -> None:
        self._kernels = kernels
        self._tick_ms = tick_ms
        self._latency_max_ms = latency_max_ms
        self.stalls = stalls
        self.dice = random.Random(seed)
        self.time = WorldClock()
        self.network = Network()
        self.hosts: dict[str, Host] = {}
        self._next: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()

    # --- what a test or a scenario does

    def add(
        self,
        name: str,
        boot: Boot,
        doors: dict[int, str] | None = None,
        rate: float = 1.0,
        behind_ms: int = 0,
    ) -> Host:
        clock = HostClock(self.time, rate, behind_ms)
        host = self.hosts[name] = Host(name, boot, doors or {}, clock, MemoryDisk())
        self.start(name)
        return host

    def start(self, name: str) -> None:
        host = self.hosts[name]
        host.boots += 1
        host.has_power, host.stands_still = True, False
        host.server = host.boot(host)
        self._tick(host, host.boots)
        for end in self.network.towards(name):
            self._look_at(end)

    def crash(self, name: str) -> None:
        """The process is gone, and the kernel tells everybody who is connected."""
        self._gone(name, notify=True)

    def lose_power(self, name: str) -> None:
        """Cut the power of a host. Peers get no notice until it is back."""
        self._gone(name, notify=False)
        self.hosts[name].has_power = False
        self.hosts[name].disk.lose_power()

    def freeze(self, name: str) -> None:
        self.hosts[name].stands_still = True

    def thaw(self, name: str) -> None:
        host = self.hosts[name]
        host.stands_still = False
        for end in self.network.towards(name):
            self._look_at(end)

    def cut(self, source: str, target: str) -> None:
        self.network.cuts.add((source, target))

    def heal(self, source: str, target: str) -> None:
        self.network.cuts.discard((source, target))
        for end in self.network.between(source, target):
            self._look_at(end)

    def run(self, milliseconds: float) -> None:
        """Let so much of the world's time pass."""
        until = self.time.ms + milliseconds
        while self._next and self._next[0][0] <= until:
            self.time.ms, _, happens = heapq.heappop(self._next)
            happens()
        self.time.ms = until

    def after(self, milliseconds: float, happens: Callable[[], None]) -> None:
        heapq.heappush(self._next, (self.time.ms + milliseconds, next(self._order), happens))

    def call(self, name: str, event: Callable[[Server], list[Effect]]) -> None:
        """Something happens to a host's server, from outside of the network."""
        host = self.hosts[name]
        if host.server is not None and not host.stands_still:
            self._carry_out(host, event(host.server))

    # --- what servers ask for

    def _carry_out(self, host: Host, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Transmit(connection, octets):
                    end = self.network.end(host.name, connection)
                    if end is not None and not end.is_closed:
                        end.waiting.append(octets)
                        if self.stalls is not None:
                            self._stall_by_chance(end, self.stalls)
                        self._under_way(end)
                case Close(connection):
                    end = self.network.end(host.name, connection)
                    if end is not None and not end.is_closed:
                        self._close(end)
                        self._notify_closed(end)
                case AppendTruth(lines):
                    host.truth += lines
                case Dial(address, door):
                    self.after(self._latency(), partial(self._dial, host, address, door))

    def _dial(self, host: Host, address: str, door: str) -> None:
        name, _, port = address.rpartition(":")
        far, boots = self.hosts.get(name), host.boots
        cut = {(host.name, name), (name, host.name)} & self.network.cuts
        if far is None or cut or not far.has_power:
            self.after(DIAL_LIMIT_MS, lambda: self._refuse(host, boots, address, door))
        elif far.server is None or int(port) not in far.doors:
            self.after(self._latency(), lambda: self._refuse(host, boots, address, door))
        else:
            near_end, far_end = self.network.connect(host.name, name, host.boots, far.boots)
            own = f"{_ip(host.name)}:{near_end.number}"
            self._opened(far, far_end, own, far.doors[int(port)], None)
            self._opened(host, near_end, f"{_ip(name)}:{port}", door, address)

    def _opened(self, host: Host, end: End, peer: str, door: str, dialled: str | None) -> None:
        def happens() -> None:
            if not self._lives(host, end.boot):
                return
            assert host.server is not None
            if not end.is_closed:
                end.is_open = True
                self._carry_out(host, host.server.opened(end.number, peer, door, dialled))
                if self._kernels and end.peer is not None:
                    self._look_at(end.peer)
            elif self._kernels and dialled is not None:
                self._carry_out(host, host.server.refused(dialled, door))

        self._when_it_goes_on(host, happens)

    def _refuse(self, host: Host, boots: int, address: str, door: str) -> None:
        if self._lives(host, boots):
            assert host.server is not None
            self._carry_out(host, host.server.refused(address, door))

    # --- octets

    def _under_way(self, end: End) -> None:
        self.after(self._latency(), lambda: self._look_at(end))

    def _stall_by_chance(self, end: End, stalls: Stalls) -> None:
        place = end.host, end.number
        if place in self.network.stalls or self.dice.random() >= stalls.share:
            return

        def resume() -> None:
            self.network.stalls.discard(place)
            self._look_at(end)

        self.network.stalls.add(place)
        self.after(self.dice.uniform(stalls.least_ms, stalls.most_ms), resume)

    def _look_at(self, end: End) -> None:
        """Deliver what waits at this end to the other one, if it may now."""
        peer = end.peer
        assert peer is not None, "both were made together"
        far = self.hosts[peer.host]
        if not self.network.passes(end) or far.stands_still or not far.has_power:
            return
        if not self._lives(far, peer.boot) or peer.is_closed:
            self._reset(end)
            return
        if self._kernels and not peer.is_open:
            return
        while end.waiting and not peer.is_closed:
            octets = end.waiting.popleft()
            assert far.server is not None
            self._carry_out(far, far.server.received(peer.number, octets))
        if end.is_closed and not end.waiting:
            if self._kernels:
                self.network.drop(end)
            if not peer.is_closed:
                self._reset(peer)

    def _close(self, end: End) -> None:
        """Close this end. What it had said before still comes."""
        end.is_closed = True
        self._under_way(end)

    def _reset(self, end: End) -> None:
        """This end learns that the other one is no more."""
        if end.is_closed:
            self.network.drop(end)
            return
        end.is_closed = True
        self._notify_closed(end)

    def _notify_closed(self, end: End) -> None:
        host = self.hosts[end.host]

        def happens() -> None:
            if not end.waiting or not self._kernels:
                self.network.drop(end)
            if self._lives(host, end.boot):
                assert host.server is not None
                self._carry_out(host, host.server.closed(end.number))

        self.after(0, lambda: self._when_it_goes_on(host, happens))

    # --- hosts

    def _tick(self, host: Host, boots: int) -> None:
        if not self._lives(host, boots):
            return
        if not host.stands_still:
            assert host.server is not None
            self._carry_out(host, host.server.tick())
        self.after(self._tick_ms, lambda: self._tick(host, boots))

    def _gone(self, name: str, notify: bool) -> None:
        self.hosts[name].server = None
        for end in self.network.of(name):
            end.is_closed = True
            self.network.drop(end)
            if not notify and (name, end.number) in self.network.stalls:
                end.waiting.clear()  # no kernel is left that would send it again
            if notify and end.peer is not None and not end.peer.is_closed:
                self._under_way(end)

    def _lives(self, host: Host, boots: int) -> bool:
        return host.server is not None and host.boots == boots

    def _when_it_goes_on(self, host: Host, happens: Callable[[], None]) -> None:
        if host.stands_still:
            self.after(self._tick_ms, lambda: self._when_it_goes_on(host, happens))
        else:
            happens()

    def _latency(self) -> float:
        return self.dice.uniform(_LATENCY_MIN_MS, self._latency_max_ms)


def _ip(name: str) -> str:
    """An address for a name, which is the same each time."""
    number = sum(ord(one) * 31**place for place, one in enumerate(name)) % 250
    return f"10.0.0.{number + 1}"
