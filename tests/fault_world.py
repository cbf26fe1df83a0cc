"""A world of hosts and links that faults can be done to; its own executor and witness.

Both look at the same state, so that what is not undone stays seen.
"""

import time
from dataclasses import dataclass, field

from faults.actions import (
    Action,
    AddToxic,
    Cut,
    Freeze,
    Join,
    Kill,
    RemoveToxic,
    Start,
    Stop,
    Thaw,
)
from faults.kinds import COMPOSE, KINDS
from faults.model import Armed, ProcessState, Receipt, Reply
from faults.shapes import Way, droppers
from faults.verify.replies import DIRECT

ANSWERED = Reply(True, 0.001, "answered")
SILENT = Reply(False, 2.5, "silent for 2.5 s")
REFUSED = Reply(False, 0.001, "refused")


@dataclass
class World:
    dead: dict[str, int] = field(default_factory=dict)  # host -> how its process ended
    frozen: set[str] = field(default_factory=set)
    toxics: dict[tuple[str, str], AddToxic] = field(default_factory=dict)  # by proxy and name
    cuts: dict[str, tuple[Way, ...]] = field(default_factory=dict)  # by chain
    dropped: int = 0
    open: list[int] = field(default_factory=list)  # windows whose canaries are open
    canary_sets: int = 0
    ending: str = ""  # the host whose process ends after the next look
    slow_start: int = 0  # so many looks until a started host serves

    # --- what is done to it ---------------------------------------------------------------------

    async def perform(self, action: Action) -> Receipt:
        issued_ns = time.monotonic_ns()
        self.change(action)
        return Receipt(issued_ns, time.monotonic_ns())

    def mechanism(self, kind: str) -> str:
        return KINDS[kind].offers[COMPOSE]

    def change(self, action: Action) -> None:
        match action:
            case Kill(host=host):
                self.dead[host] = 137
            case Stop(host=host):
                self.ending = host
            case Start(host=host):
                self.dead.pop(host, None)
            case Freeze(host=host):
                self.frozen.add(host)
            case Thaw(host=host):
                self.frozen.discard(host)
            case AddToxic(proxies=proxies, toxic=toxic):
                self.toxics |= {(proxy, toxic): action for proxy in proxies}
            case RemoveToxic(proxies=proxies, toxic=toxic):
                for proxy in proxies:
                    self.toxics.pop((proxy, toxic), None)
            case Cut(ways=ways, chain=chain):
                self.cuts[chain] = ways
            case Join(chain=chain):
                self.cuts.pop(chain, None)

    # --- what is seen of it ---------------------------------------------------------------------

    async def prepare(self, armed: Armed) -> None:
        self.canary_sets += 1
        self.open.append(armed.window)

    async def process(self, host: str) -> ProcessState:
        if host == self.ending:
            self.ending = ""
            self.dead[host] = 0
            return ProcessState(True, None)  # it takes a moment to end
        if host in self.dead:
            return ProcessState(False, self.dead[host])
        return ProcessState(True, None, host in self.frozen)

    async def packets(self, host: str, chain: str) -> int | None:
        if host not in droppers(self.cuts.get(chain, ())):
            return None
        return self.dropped

    async def reach(self, host: str, peer: str) -> Reply:
        """A handshake needs both directions."""
        cut = {frozenset(way) for ways in self.cuts.values() for way in ways}
        if frozenset((host, peer)) not in cut:
            return ANSWERED
        self.dropped += 2
        return SILENT

    async def canaries(self, armed: Armed) -> dict[str, Reply]:
        assert self.canary_sets, "canaries are opened before they are asked"
        return {**{proxy: self.link(proxy) for proxy in armed.proxies}, DIRECT: ANSWERED}

    def link(self, proxy: str) -> Reply:
        """What a request through a proxy meets."""
        stalled = any(name == proxy for name, _ in self.toxics)
        return SILENT if stalled else ANSWERED

    async def greets(self, host: str) -> Reply:
        return SILENT if host in self.frozen else ANSWERED

    async def serves(self, host: str) -> Reply:
        self.slow_start -= 1
        up = host not in self.dead and self.slow_start < 0
        return ANSWERED if up else REFUSED

    async def dismiss(self, armed: Armed) -> None:
        if armed.window in self.open:  # a look at its end opens fresh ones, and closes them
            self.open.remove(armed.window)
