"""Cluster cores of several nodes on simulated links, in virtual time, from one seed.

1. Messages of one link and direction keep their order; each takes a random while.
2. A killed node's last messages may arrive or not; then its peers see the link closed.
3. A frozen node keeps its links and answers nothing. A cut holds what is sent until it heals.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from random import Random
from typing import Any

import msgspec

from reference_impl.metadata.nodes import ForgetNode
from reference_impl.metadata.requests import Settle
from reference_impl.metadata.tables import Policy, Tables
from reference_impl.node import happenings as h
from reference_impl.node.cluster import Cluster
from reference_impl.node.config import Config, Handling
from reference_impl.node.offline import forced, forgetting, joining
from reference_impl.pid import Pid
from reference_impl.process import Arm, Disarm, Timeout

PING_LIMIT_MS = 2000
DIAL_LIMIT_MS = 5000


class Note(msgspec.Struct, frozen=True, array_like=True, tag=True):
    """A command whose second carrying out would show; its result is its place in the order."""

    token: str

    def apply(self, tables: Tables) -> int:
        place = len(tables.policies)
        tables.policies[str(place)] = Policy(self.token, "", {}, place, "all")
        return place


@dataclass(slots=True, eq=False)
class _Link:
    ends: tuple[str, str]
    arrives_ms: dict[str, float]  # by receiver: when the last message on the way arrives
    broken_at_ms: float | None = None  # nothing arrives later


@dataclass(slots=True)
class SimulatedNode:
    name: str
    boot: int = 0
    core: Cluster | None = None  # None: dead
    saved: bytes | None = None
    frozen: bool = False
    held: list[Callable[[], None]] = field(default_factory=list)  # while it is frozen
    standing: dict[str, _Link] = field(default_factory=dict)
    heard: set[str] = field(default_factory=set)
    timers: dict[str, int] = field(default_factory=dict)
    ready: bool = False
    paused: bool = False
    clients: int = 0
    failed: str | None = None
    log: list[tuple[float, str]] = field(default_factory=list)
    up: dict[str, int] = field(default_factory=dict)


class SimulatedClusters:
    """`T`: the net tick time in milliseconds."""

    def __init__(
        self, seed: int, names: str = "abc", handling: Handling = "ignore", T: float = 10_000
    ) -> None:
        self.random = Random(seed)
        self.now_ms = 0.0
        self.nodes = {name: SimulatedNode(name) for name in names}
        self.cuts: set[frozenset[str]] = set()
        self.settled: dict[tuple[Pid, int], Any] = {}
        self.submitted: dict[tuple[Pid, int], str] = {}
        self.handling, self.tick_ms = handling, T / 4
        self.preferred: tuple[str, ...] = ()
        self.spares: tuple[str, ...] = ()  # each stands by itself until it joins
        self.slowness_ms = 20.0
        self._numbers = count()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._stalled: dict[frozenset[str], list[Callable[[], None]]] = {}

    # --- what a test does

    def start(self, *names: str) -> None:
        for name in names or self.nodes:
            self._start(self.nodes[name])

    def kill(self, name: str) -> None:
        node = self.nodes[name]
        node.core, node.ready, node.frozen = None, False, False
        node.held.clear()
        for peer, link in list(node.standing.items()):
            link.broken_at_ms = self.now_ms + self.random.random() * self.slowness_ms
            self._at(link.broken_at_ms, partial(self._closed, peer, link))
        node.standing.clear()
        node.up.clear()

    def stop(self, name: str) -> None:
        """Gracefully."""
        core = self.nodes[name].core
        assert core is not None
        self._does(name, core.leave())
        node = self.nodes[name]
        node.core, node.ready = None, False
        for peer, link in list(node.standing.items()):
            self._send(link, peer, partial(self._closed, peer, link))
        node.standing.clear()
        node.up.clear()

    def reset(self, name: str, through: str | None = None) -> None:
        """It leaves for good, and boots again on an empty disk, to join that one's cluster."""
        core = self.core(name)
        self._does(name, core.leave(for_good=True))
        self.run_until(core.has_left, 5000)
        self.kill(name)
        self.wipe(name)
        if through is not None:
            self.nodes[name].saved = msgspec.msgpack.encode(joining(name, through))
        self.start(name)

    def freeze(self, name: str) -> None:
        self.nodes[name].frozen = True

    def thaw(self, name: str) -> None:
        node = self.nodes[name]
        node.frozen = False
        held, node.held = node.held, []
        for action in held:
            action()

    def cut(self, one: str, other: str) -> None:
        self.cuts.add(frozenset((one, other)))

    def isolate(self, name: str) -> None:
        for other in self.nodes:
            if other != name:
                self.cut(name, other)

    def heal(self) -> None:
        stalled, self._stalled, self.cuts = self._stalled, {}, set()
        for actions in stalled.values():
            for action in actions:
                self._at(self.now_ms, action)

    def submit(self, name: str, token: str) -> tuple[Pid, int] | None:
        """None where the node does not run."""
        node = self.nodes[name]
        if node.core is None or not node.ready or node.frozen:
            return None
        pid, request = Pid(name, node.boot, 7), next(self._numbers)
        self.submitted[pid, request] = token
        self._handle(name, h.Submitted(pid, request, Note(token)))
        return pid, request

    def forget(self, through: str, node: str) -> tuple[Pid, int]:
        """Said to one that runs."""
        request = Pid(through, self.nodes[through].boot, 7), next(self._numbers)
        command = ForgetNode(node, self.core(through).running())
        self._handle(through, h.Submitted(*request, command))
        return request

    def forget_offline(self, through: str, node: str) -> None:
        self._change_disk(through, lambda saved: forgetting(saved, through, node))

    def force_boot(self, name: str) -> None:
        self._change_disk(name, lambda saved: forced(saved, name))

    def wipe(self, name: str) -> None:
        assert self.nodes[name].core is None, f"{name} lives"
        self.nodes[name].saved = None

    def run(self, ms: float) -> None:
        until = self.now_ms + ms
        while self._events and self._events[0][0] <= until:
            self.now_ms, _, action = heapq.heappop(self._events)
            action()
        self.now_ms = until

    def run_until(self, wanted: Callable[[], bool], limit_ms: float) -> float:
        """How long it took."""
        began_ms, until = self.now_ms, self.now_ms + limit_ms
        while not wanted():
            assert self._events and self._events[0][0] <= until, f"not within {limit_ms} ms"
            self.now_ms, _, action = heapq.heappop(self._events)
            action()
        return self.now_ms - began_ms

    # --- what a test looks at

    def core(self, name: str) -> Cluster:
        core = self.nodes[name].core
        assert core is not None, f"{name} is dead"
        return core

    def all_run(self, *names: str) -> bool:
        """Whether these (all) are ready, and one group in each one's eyes."""
        wanted = tuple(sorted(names or self.nodes))
        return all(
            node.core is not None and node.ready and node.core.running() == wanted
            for node in (self.nodes[name] for name in wanted)
        )

    def notes(self, name: str) -> list[str]:
        return [policy.name for policy in self.core(name).tables.policies.values()]

    def said(self, name: str, text: str) -> list[float]:
        return [at for at, line in self.nodes[name].log if text in line]

    # --- the world

    def _founders(self) -> tuple[str, ...]:
        return tuple(name for name in self.nodes if name not in self.spares)

    def _change_disk(self, name: str, change: Callable[[h.Saved | None], h.Saved]) -> None:
        node = self.nodes[name]
        assert node.core is None, f"{name} lives"
        node.saved = msgspec.msgpack.encode(change(_decoded(node.saved)))

    def _at(self, when_ms: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when_ms, next(self._numbers), action))

    def _while(self) -> float:
        return self.random.random() * self.slowness_ms

    def _start(self, node: SimulatedNode) -> None:
        assert node.core is None, f"{node.name} lives"
        node.failed = None
        self._boot(node)

    def _boot(self, node: SimulatedNode) -> None:
        node.boot += 1
        node.timers, node.heard, node.paused = {}, set(), False
        saved = _decoded(node.saved)
        peers = dict.fromkeys(self.nodes, ("", 0))
        config = Config(
            node.name,
            "",
            "",
            "",
            peers,
            founders=(node.name,) if node.name in self.spares else self._founders(),
            partition_handling=self.handling,
            preferred=self.preferred,
        )
        node.core = Cluster(config, node.boot, saved, lambda: node.clients)
        self._at(self.now_ms + self.tick_ms, partial(self._tick, node, node.boot))
        self._does(node.name, node.core.begin())

    def _handle(self, name: str, event: h.Event) -> None:
        core = self.nodes[name].core
        if core is not None:
            self._does(name, core.handle(event))

    def _on(self, name: str, boot: int, action: Callable[[], None]) -> None:
        """Something reaches a node, if it still lives on that boot."""
        node = self.nodes[name]
        if node.core is None or node.boot != boot:
            return
        if node.frozen:
            node.held.append(lambda: self._on(name, boot, action))
        else:
            action()

    def _later(self, name: str, ms: float, action: Callable[[], None]) -> None:
        boot = self.nodes[name].boot
        self._at(self.now_ms + ms, lambda: self._on(name, boot, action))

    def _tick(self, node: SimulatedNode, boot: int) -> None:
        if node.core is None or node.boot != boot:
            return
        self._at(self.now_ms + self.tick_ms, lambda: self._tick(node, boot))
        if node.frozen:
            return
        for peer, link in node.standing.items():
            self._send(link, peer, lambda: None)
        heard, node.heard = frozenset(node.heard), set()
        self._handle(node.name, h.Ticked(heard))

    def _send(self, link: _Link, to: str, action: Callable[[], None]) -> None:
        arrives = max(self.now_ms + self._while(), link.arrives_ms[to])
        link.arrives_ms[to] = arrives
        sender = link.ends[0] if link.ends[1] == to else link.ends[1]
        boot = self.nodes[to].boot

        def arrive() -> None:
            if link.broken_at_ms is not None and self.now_ms > link.broken_at_ms:
                return
            pair = frozenset(link.ends)
            if pair in self.cuts:
                self._stalled.setdefault(pair, []).append(arrive)
                return
            self._on(to, boot, take)

        def take() -> None:
            if self.nodes[to].standing.get(sender) is link:
                self.nodes[to].heard.add(sender)
                action()

        self._at(arrives, arrive)

    def _closed(self, name: str, link: _Link) -> None:
        node = self.nodes[name]
        peer = link.ends[0] if link.ends[1] == name else link.ends[1]

        def closed() -> None:
            if node.standing.get(peer) is link:
                del node.standing[peer]
                self._handle(name, h.Unlinked(peer))

        self._on(name, node.boot, closed)

    def _dial(self, name: str, peer: str) -> None:
        other = self.nodes[peer]
        failed = lambda: self._fail_dial(name, peer)  # noqa: E731
        if frozenset((name, peer)) in self.cuts or other.frozen:
            self._later(name, DIAL_LIMIT_MS, failed)
        elif other.core is None:
            self._later(name, self._while(), failed)
        else:
            dialler = self.nodes[name].boot
            self._later(peer, self._while(), lambda: self._accept(name, dialler, peer))
            self._later(name, DIAL_LIMIT_MS, failed)

    def _fail_dial(self, name: str, peer: str) -> None:
        if peer not in self.nodes[name].standing:
            self._handle(name, h.Unlinked(peer))

    def _accept(self, name: str, boot: int, peer: str) -> None:
        """The peer accepts: its side stands first, the dialler's a little later."""
        dialler, accepter = self.nodes[name], self.nodes[peer]
        if dialler.core is None or dialler.boot != boot or peer in dialler.standing:
            return
        if accepter.standing.pop(name, None) is not None:  # who dials has no link any more
            self._handle(peer, h.Unlinked(name))
        link = _Link((name, peer), {name: self.now_ms, peer: self.now_ms})
        accepter.standing[name] = link
        assert accepter.core is not None, "nothing reaches a dead node"
        greeting, accepter_boot = accepter.core.greeting(), accepter.boot
        dialler.standing[peer] = link  # who refuses the link closes it a moment later
        self._handle(peer, h.Linked(name, boot, dialler.core.greeting()))
        # The accepter's first words may have overtaken this in the heap: so it is done at once.
        self._on(name, boot, lambda: self._linked(name, h.Linked(peer, accepter_boot, greeting)))

    def _linked(self, name: str, event: h.Linked) -> None:
        if event.node in self.nodes[name].standing:
            self._handle(name, event)

    def _ping(self, name: str, peer: str) -> None:
        other, is_cut = self.nodes[peer], frozenset((name, peer)) in self.cuts
        answered = other.core is not None and not other.frozen and not is_cut
        takes_ms = self._while() if answered or other.core is None else PING_LIMIT_MS
        self._later(name, takes_ms, lambda: self._handle(name, h.Pinged(peer, answered)))

    def _does(self, name: str, effects: list[h.Effect]) -> None:
        for effect in effects:
            self._do(self.nodes[name], effect)

    def _do(self, node: SimulatedNode, effect: h.Effect) -> None:
        name = node.name
        match effect:
            case h.SendGossip(peer, gossip):
                link = node.standing.get(peer)
                if link is not None:
                    heard = h.Heard(name, gossip)
                    self._send(link, peer, lambda: self._handle(peer, heard))
            case Settle(pid, request, result):
                assert (pid, request) not in self.settled, "told twice"
                self.settled[pid, request] = result
            case h.Dial(peer):
                self._dial(name, peer)
            case h.Drop(peer):
                link = node.standing.pop(peer, None)
                if link is not None:
                    self._send(link, peer, lambda: self._closed(peer, link))
            case h.Ping(peer):
                self._ping(name, peer)
            case h.Save(saved):
                node.saved = msgspec.msgpack.encode(saved)
            case Arm(timer, after_ms):
                self._arm(node, timer, after_ms)
            case Disarm(timer):
                node.timers.pop(timer, None)
            case h.Up(peer, boot):
                assert peer not in node.up, "up twice"
                node.up[peer] = boot
            case h.Gone(peer):
                del node.up[peer]
            case h.Ready():
                assert not node.ready, "ready twice"
                node.ready = True
            case h.Pause():
                node.ready, node.paused = False, True
                node.up.clear()
            case h.Restart():
                self._later(name, 0.0, lambda: self._restart(node))
            case h.Fail(text):
                self.kill(name)
                node.failed = text
            case h.Log(text):
                node.log.append((self.now_ms, text))
            case h.TablesChanged():
                pass

    def _arm(self, node: SimulatedNode, timer: str, after_ms: int) -> None:
        number = node.timers[timer] = next(self._numbers)

        def fire() -> None:
            if node.timers.get(timer) == number:
                del node.timers[timer]
                self._handle(node.name, Timeout(timer))

        self._later(node.name, after_ms, fire)

    def _restart(self, node: SimulatedNode) -> None:
        for peer, link in list(node.standing.items()):
            self._send(link, peer, partial(self._closed, peer, link))
        node.standing.clear()
        self._boot(node)


def _decoded(saved: bytes | None) -> h.Saved | None:
    return None if saved is None else msgspec.msgpack.decode(saved, type=h.Saved)
