"""Nodes of a reference cluster without sockets, disk or time: what the world may do to their
processes, in an order that chance picks.

1. A link between two nodes keeps its order; its end (Lost) is the last that comes of it. Which
   link, node or timer goes on next is chance; a command reaches each node's tables in its time.
2. A kill forgets a node's memory and keeps its disk up to the last flush that has ended, and as
   much of the rest as chance likes. What it had sent is still delivered, or cut off somewhere.
3. Time passes only where chance says so, or where nothing else is left to do.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import msgspec

from reference_impl.metadata.tables import Policy, Tables
from reference_impl.mirrored.master import Master
from reference_impl.mirrored.mirror import Mirror
from reference_impl.mirrored.supervisor import Supervisor
from reference_impl.pid import Pid
from reference_impl.process import (
    Committed,
    Flushed,
    Process,
    Stopping,
    Timeout,
)
from tests.reference_impl.mirrored.simulated_node import Disk, Lost, SimulatedNode

STEPS_MAX = 100_000
HURRY = 0.05  # how often a timer of the guard's length fires too early
STALLS, STALL_STEPS_MAX = 0.03, 150  # how often something stands still, and for how long


@dataclass
class _Entry:
    pid: Pid | None
    request: int
    command: Any
    result: Any = None
    awaited: set[str] = field(default_factory=set)


class SimulatedCluster:
    def __init__(
        self,
        random: Random,
        names: tuple[str, ...] = ("a", "b", "c"),
        *,
        hurry: float = HURRY,
        stalls: float = STALLS,
    ) -> None:
        self.random = random
        self.hurry = hurry
        self.stalls = stalls
        self.now_ms = 0
        self.nodes: dict[str, SimulatedNode] = {}
        self.boots = dict.fromkeys(names, 0)
        self.disks = {name: Disk() for name in names}
        self.links: dict[tuple[str, int, str, int], deque[Any]] = {}
        self.log: list[_Entry] = []
        self.submitted: dict[str, deque[_Entry]] = {name: deque() for name in names}
        self.steps = 0
        self._stalled: dict[tuple[str, str], int] = {}  # until which step
        self.diverged: list[Pid] = []  # mirrors that found themselves unlike their master
        for name in names:
            self.start(name)

    # --- what an operator or a fault does

    def start(self, name: str) -> SimulatedNode:
        assert name not in self.nodes, name
        self.submitted[name] = deque()
        self.boots[name] += 1
        node = SimulatedNode(self, name, self.boots[name], self._whole_tables())
        for other in self.nodes.values():
            self._drain(name, other)
        self.nodes[name] = node
        for other in self.nodes.values():
            other.boots[name] = node.boot
            other.changed = True
            node.boots[other.name] = other.boot
        node.processes[node.supervisor] = Supervisor(node.supervisor, node)
        return node

    def _drain(self, name: str, other: SimulatedNode) -> None:
        """What a former boot of a node had sent arrives before its next boot is met."""
        for boot in range(1, self.boots[name]):
            link = self.links.pop((name, boot, other.name, other.boot), deque())
            for packet in link:
                other.receive(name, packet)

    def kill(self, name: str) -> None:
        """Memory is gone; of what was sent and written, chance says how much arrived."""
        node = self.nodes.pop(name)
        for entry in list(self.submitted[name]):
            if self.random.random() < 0.5:
                break
            self.submitted[name].popleft()
            self._order(entry)
        self.submitted[name].clear()
        for key in [it for it in self.links if it[2] == name]:
            del self.links[key]
        for other in self.nodes.values():
            self._cut(node, other)
        self._cut_disk(name)
        for entry in self.log:
            entry.awaited.discard(name)
            self._settle(entry)

    def _cut(self, sender: SimulatedNode, other: SimulatedNode) -> None:
        """Some of what is on its way arrives no more; then the link is known to be gone."""
        link = self.links.setdefault((sender.name, sender.boot, other.name, other.boot), deque())
        for _ in range(self.random.randrange(len(link) + 1) if link else 0):
            link.pop()
        link.append(Lost(sender.name, sender.boot))

    def stop(self, name: str) -> None:
        """Gracefully; `leave_if_stopped` ends it."""
        node = self.nodes[name]
        node.stopping = True
        node.events.append((node.supervisor, Stopping()))

    def has_stopped(self, name: str) -> bool:
        node = self.nodes[name]
        own = {node.supervisor}
        return node.stopping and all(
            pid in own or not isinstance(process, Master | Mirror)
            for pid, process in node.processes.items()
        )

    def leave(self, name: str) -> None:
        """The last of a graceful stop: all that was sent arrives."""
        node = self.nodes.pop(name)
        self.submitted[name].clear()
        for key in [it for it in self.links if it[2] == name]:
            del self.links[key]
        for other in self.nodes.values():
            self.link(node, other.name).append(Lost(name, node.boot))
        self.disks[name].flushes.clear()
        for entry in self.log:
            entry.awaited.discard(name)
            self._settle(entry)

    def split(self, names: str) -> "SimulatedCluster":
        """These nodes and the rest lose each other, and each side goes on by itself."""
        other = SimulatedCluster(self.random, (), hurry=self.hurry, stalls=self.stalls)
        other.now_ms, other.disks, other.boots = self.now_ms, self.disks, self.boots
        other.nodes = {name: self.nodes.pop(name) for name in names}
        other.submitted = {name: self.submitted.pop(name) for name in names}
        for entry in self.log:
            there = replace(entry, awaited={it for it in entry.awaited if it in names})
            entry.awaited -= there.awaited
            is_theirs = entry.pid is not None and entry.pid.node in names
            (entry if is_theirs else there).pid = None
            other.log.append(there)
        for one in self.nodes.values():
            for far in other.nodes.values():
                self._cut(one, far)
                self._cut(far, one)
                far.cluster = other
        other.links = {it: self.links.pop(it) for it in list(self.links) if it[2] in names}
        for cluster in (self, other):
            for entry in cluster.log:
                cluster._settle(entry)
        return other

    def command(self, command: Any) -> None:
        """By an operator: ordered at once."""
        self._order(_Entry(None, 0, command))

    def put_policy(self, name: str, priority: int = 0, /, **definition: Any) -> None:
        keys = {key.replace("_", "-"): value for key, value in definition.items()}
        policy = Policy(name, keys.pop("pattern", ".*"), keys, priority, "queues")
        self.command(PutPolicyForTests(policy))

    def spawn(self, name: str, make: Callable[[Pid, SimulatedNode], Process]) -> Pid:
        node = self.nodes[name]
        pid = node.new_pid()
        node.processes[pid] = make(pid, node)
        return pid

    def send(self, to: Pid, event: Any) -> None:
        """From outside, to a process of a node that lives."""
        node = self.nodes.get(to.node)
        if node is not None:
            node.events.append((to, event))

    # --- commands

    def submit(self, node: SimulatedNode, pid: Pid, request: int, command: Any) -> None:
        self.submitted[node.name].append(_Entry(pid, request, command))

    def _order(self, entry: _Entry) -> None:
        entry.awaited = set(self.nodes)
        self.log.append(entry)

    def _apply(self, node: SimulatedNode) -> None:
        entry = self.log[node.applied]
        entry.result = entry.command.apply(node.tables)
        node.applied += 1
        node.tables.version = node.applied
        node.changed = True
        entry.awaited.discard(node.name)
        self._settle(entry)

    def _settle(self, entry: _Entry) -> None:
        if entry.awaited or entry.pid is None:
            return
        pid, entry.pid = entry.pid, None
        node = self.nodes.get(pid.node)
        if node is not None and node.boot == pid.boot:
            node.events.append((pid, Committed(entry.request, entry.result)))

    def _whole_tables(self) -> Tables:
        tables = Tables()
        for entry in self.log:
            entry.command.apply(tables)
        tables.version = len(self.log)
        return tables

    # --- disk

    def _flush(self, name: str) -> None:
        disk = self.disks[name]
        pid, queue, mark, length = disk.flushes.popleft()
        written = disk.written.get(queue, [])
        disk.flushed[queue] = written[: max(length, len(disk.flushed.get(queue, ())))]
        self.send(pid, Flushed(mark))

    def _cut_disk(self, name: str) -> None:
        disk = self.disks[name]
        disk.flushes.clear()
        for queue, written in disk.written.items():
            safe = len(disk.flushed.get(queue, ()))
            kept = self.random.randint(min(safe, len(written)), len(written))
            disk.written[queue] = written[:kept]
            disk.flushed[queue] = written[:kept]

    # --- chance

    def link(self, sender: SimulatedNode, to: str) -> deque[Any]:
        boot = self.nodes[to].boot if to in self.nodes else 0
        return self.links.setdefault((sender.name, sender.boot, to, boot), deque())

    def choices(self) -> list[tuple[str, Any]]:
        """What could go on now."""
        found: list[tuple[str, Any]] = []
        awake = {name: node for name, node in self.nodes.items() if not node.frozen}
        for name, node in awake.items():
            if node.has_work():
                found.append(("node", node))
            if node.applied < len(self.log):
                found.append(("apply", node))
            if self.submitted[name]:
                found.append(("order", name))
            if self.disks[name].flushes:
                found.append(("flush", name))
        for key, link in self.links.items():
            node = awake.get(key[2])
            if link and node is not None and node.boot == key[3]:
                found.append(("link", key))
        return found

    def _stall(self, found: list[tuple[str, Any]]) -> tuple[str, Any]:
        """One of them; now and then what could go on stands still for a good while."""
        if self.random.random() < self.stalls:
            kind, what = self.random.choice(found)
            self._stalled[kind, str(what)] = self.steps + self.random.randint(1, STALL_STEPS_MAX)
        moving = [it for it in found if self._stalled.get((it[0], str(it[1])), 0) < self.steps]
        return self.random.choice(moving or found)

    def step(self) -> bool:
        """One thing goes on; False where nothing is left but time."""
        self.steps += 1
        assert self.steps < STEPS_MAX, "it does not come to rest"
        found = self.choices()
        if not found:
            return False
        kind, what = self._stall(found)
        match kind:
            case "node":
                what.step()
            case "apply":
                self._apply(what)
            case "order":
                self._order(self.submitted[what].popleft())
            case "flush":
                self._flush(what)
            case "link":
                self.nodes[what[2]].receive(what[0], self.links[what].popleft())
        return True

    def pass_time(self, until_ms: int | None = None) -> bool:
        """The next timer fires; False where there is none (before then)."""
        timers = [
            (due, node.name, key)
            for node in self.nodes.values()
            if not node.frozen
            for key, due in node.timers.items()
        ]
        if not timers:
            return False
        due, name, key = min(timers)
        if until_ms is not None and due > until_ms:
            return False
        self.now_ms = max(self.now_ms, due)
        del self.nodes[name].timers[key]
        self.nodes[name].events.append((key[0], Timeout(key[1])))
        return True

    def run(self, steps: int) -> None:
        """So many steps; now and then time passes too early."""
        for _ in range(steps):
            if not self._hurries() and not self.step() and not self.pass_time(self.now_ms + 1000):
                return

    def _hurries(self) -> bool:
        """A timer of the guard's length may fire while messages are still on their way."""
        return self.random.random() < self.hurry and self.pass_time(self.now_ms + 200)

    def settle(self, for_ms: int = 5_000) -> None:
        """So much time passes, and whatever goes on within it."""
        until_ms = self.now_ms + for_ms
        while True:
            while self._hurries() or self.step():
                pass
            if not self.pass_time(until_ms):
                self.now_ms = until_ms
                return

    def finish_stop(self, name: str) -> None:
        """Run until a stopping node has stopped, and end it."""
        while not self.has_stopped(name):
            assert self.step() or self.pass_time(self.now_ms + 5_000), f"{name} does not stop"
        self.leave(name)


class PutPolicyForTests(msgspec.Struct, frozen=True):
    policy: Policy

    def apply(self, tables: Tables) -> None:
        tables.policies[self.policy.name] = self.policy


class DeletePolicyForTests(msgspec.Struct, frozen=True):
    name: str

    def apply(self, tables: Tables) -> None:
        tables.policies.pop(self.name, None)
