"""One boot of a simulated node: it runs processes, and is their world, as node.py does; it goes on
only when somebody makes it `step`."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Protocol

from reference_impl.metadata.tables import Tables
from reference_impl.mirrored.following import Diverged
from reference_impl.mirrored.store import SEGMENT, Entry, Put
from reference_impl.pid import Pid
from reference_impl.process import (
    CRASH,
    NO_CONNECTION,
    NO_PROCESS,
    SUPERVISOR,
    Arm,
    Become,
    Changed,
    Disarm,
    Down,
    Effect,
    Exit,
    Flush,
    Process,
    Send,
    Spawn,
    Timeout,
    Transact,
    Unwatch,
    Watch,
    Wipe,
    Write,
)
from reference_impl.protocol.connections import Described
from tests.reference_impl.mirrored.replaying import replayed


@dataclass(frozen=True)
class Mail:
    to: Pid
    body: Any


@dataclass(frozen=True)
class Watching:
    watcher: Pid
    pid: Pid


@dataclass(frozen=True)
class Unwatching:
    watcher: Pid
    pid: Pid


@dataclass(frozen=True)
class Downed:
    watcher: Pid
    pid: Pid
    reason: str


@dataclass(frozen=True)
class Lost:
    node: str
    boot: int


@dataclass
class Disk:
    flushed: dict[str, list[Entry]] = field(default_factory=dict)
    written: dict[str, list[Entry]] = field(default_factory=dict)  # flushed included
    flushes: deque[tuple[Pid, str, int, int]] = field(default_factory=deque)


class Around(Protocol):
    """What a node needs of its cluster."""

    now_ms: int
    disks: dict[str, Disk]
    diverged: list[Pid]

    def link(self, sender: "SimulatedNode", to: str) -> deque[Any]: ...

    def submit(self, node: "SimulatedNode", pid: Pid, request: int, command: Any) -> None: ...


class SimulatedNode:
    """One boot of a node; World for its processes."""

    def __init__(self, cluster: Around, name: str, boot: int, tables: Tables) -> None:
        self.cluster = cluster
        self.name = name
        self.boot = boot
        self._tables = tables
        self.applied = tables.version
        self.processes: dict[Pid, Process] = {}
        self.watchers: dict[Pid, list[Pid]] = {}  # watched -> watchers
        self.watching: set[tuple[Pid, Pid]] = set()  # of ours: watcher, watched
        self.events: deque[tuple[Pid, Any]] = deque()
        self.idle: list[tuple[Pid, str]] = []
        self.timers: dict[tuple[Pid, str], int] = {}
        self.boots: dict[str, int] = {}
        self.changed = True
        self.stopping = False
        self.frozen = False
        self._number = 2
        self.supervisor = Pid(name, boot, SUPERVISOR)

    def __str__(self) -> str:
        return f"{self.name}{self.boot}"

    # --- World

    @property
    def node(self) -> str:
        return self.name

    @property
    def tables(self) -> Tables:
        return self._tables

    def running(self) -> tuple[str, ...]:
        return tuple(sorted(self.boots))

    def well_known(self, node: str, number: int) -> Pid | None:
        boot = self.boots.get(node)
        return None if boot is None else Pid(node, boot, number)

    def alive(self, pid: Pid) -> bool:
        if pid.node == self.name:
            return pid in self.processes
        return self.boots.get(pid.node) == pid.boot

    def alarms(self) -> dict[str, frozenset[str]]:
        return {}

    def now_ms(self) -> int:
        return self.cluster.now_ms

    def guarded(self) -> bool:
        return False

    def new_pid(self) -> Pid:
        self._number += 1
        return Pid(self.name, self.boot, self._number)

    def connections(self) -> tuple[Described, ...]:
        return ()

    def partitions(self) -> tuple[str, ...]:
        return ()

    def memory_lasts_s(self) -> float | None:
        return None

    def stored(self, queue: str) -> tuple[int, ...]:
        return tuple(sorted({number // SEGMENT for number in self._written(queue)}))

    def segment(self, queue: str, number: int) -> dict[int, Put]:
        return {it: put for it, put in self._written(queue).items() if it // SEGMENT == number}

    def _written(self, queue: str) -> dict[int, Put]:
        return replayed(self.cluster.disks[self.name].written.get(queue, ()))

    # --- running

    def has_work(self) -> bool:
        return bool(self.events or self.changed or self.idle)

    def step(self) -> None:
        if self.events:
            pid, event = self.events.popleft()
            process = self.processes.get(pid)
            if process is not None:
                self.handle(pid, process, event)
        elif self.changed:
            self.changed = False
            self.events.append((self.supervisor, Changed()))
        else:
            idle, self.idle = self.idle, []
            self.events += [(pid, Timeout(name)) for pid, name in idle]

    def handle(self, pid: Pid, process: Process, event: Any) -> None:
        try:
            effects = process.handle(event)
        except Diverged:
            self.cluster.diverged.append(pid)
            self.end(pid, CRASH)
            return
        except Exception as error:
            error.add_note(f"{pid} handling {event}")
            raise
        for effect in effects:
            assert pid in self.processes, f"{effect} after the end of {pid}"
            self.carry(pid, effect)

    def carry(self, pid: Pid, effect: Effect) -> None:
        disk = self.cluster.disks[self.name]
        match effect:
            case Send(to=to, body=body):
                self.send(to, body)
            case Watch(pid=target):
                self.watch(pid, target)
            case Unwatch(pid=target):
                self.unwatch(pid, target)
            case Arm(name=name, after_ms=0):
                if (pid, name) not in self.idle:
                    self.idle.append((pid, name))
            case Arm(name=name, after_ms=after_ms):
                self.timers[pid, name] = self.cluster.now_ms + after_ms
            case Disarm(name=name):
                self.timers.pop((pid, name), None)
            case Transact(request=request, command=command):
                self.cluster.submit(self, pid, request, command)
            case Write(queue=queue, entries=entries):
                disk.written.setdefault(queue, []).extend(entries)
            case Flush(queue=queue, mark=mark):
                disk.flushes.append((pid, queue, mark, len(disk.written.get(queue, ()))))
            case Wipe(queue=queue):
                disk.written.pop(queue, None)
                disk.flushed.pop(queue, None)
            case Spawn(pid=child, process=process):
                self.processes[child] = process
            case Become(process=process):
                self.processes[pid] = process
            case Exit(reason=reason):
                self.end(pid, reason)
            case _:
                raise AssertionError(effect)

    def send(self, to: Pid, body: Any) -> None:
        if to.node == self.name:
            self.events.append((to, body))
        elif self.boots.get(to.node) == to.boot:
            self.cluster.link(self, to.node).append(Mail(to, body))

    def watch(self, pid: Pid, target: Pid) -> None:
        if target.node == self.name:
            if target in self.processes:
                self._add_watch(pid, target)
            else:
                self.events.append((pid, Down(target, NO_PROCESS)))
        elif self.boots.get(target.node) != target.boot:
            self.events.append((pid, Down(target, NO_CONNECTION)))
        elif (pid, target) not in self.watching:
            self.watching.add((pid, target))
            self.cluster.link(self, target.node).append(Watching(pid, target))

    def unwatch(self, pid: Pid, target: Pid) -> None:
        if target.node == self.name:
            self._remove_watch(pid, target)
        elif (pid, target) in self.watching:
            self.watching.discard((pid, target))
            self.cluster.link(self, target.node).append(Unwatching(pid, target))

    def _add_watch(self, watcher: Pid, target: Pid) -> None:
        watchers = self.watchers.setdefault(target, [])
        if watcher not in watchers:
            watchers.append(watcher)

    def _remove_watch(self, watcher: Pid, target: Pid) -> None:
        if watcher in self.watchers.get(target, ()):
            self.watchers[target].remove(watcher)

    def end(self, pid: Pid, reason: str) -> None:
        if self.processes.pop(pid, None) is None:
            return
        self.timers = {key: due for key, due in self.timers.items() if key[0] != pid}
        self.idle = [key for key in self.idle if key[0] != pid]
        self.watching = {pair for pair in self.watching if pair[0] != pid}
        for watcher in self.watchers.pop(pid, []):
            if watcher.node == self.name:
                self.events.append((watcher, Down(pid, reason)))
            elif self.boots.get(watcher.node) == watcher.boot:
                self.cluster.link(self, watcher.node).append(Downed(watcher, pid, reason))

    def receive(self, sender: str, packet: Any) -> None:
        match packet:
            case Mail(to=to, body=body):
                self.events.append((to, body))
            case Watching(watcher=watcher, pid=pid):
                if pid in self.processes:
                    self._add_watch(watcher, pid)
                else:
                    self.cluster.link(self, sender).append(Downed(watcher, pid, NO_PROCESS))
            case Unwatching(watcher=watcher, pid=pid):
                self._remove_watch(watcher, pid)
            case Downed(watcher=watcher, pid=pid, reason=reason):
                if (watcher, pid) in self.watching:
                    self.watching.discard((watcher, pid))
                    self.events.append((watcher, Down(pid, reason)))
            case Lost(node=node, boot=boot):
                self.lose(node, boot)

    def lose(self, node: str, boot: int) -> None:
        if self.boots.get(node) != boot:
            return
        del self.boots[node]
        self.changed = True
        for watcher, pid in sorted(self.watching):
            if pid.node == node and pid.boot == boot:
                self.watching.discard((watcher, pid))
                self.events.append((watcher, Down(pid, NO_CONNECTION)))
        for watchers in self.watchers.values():
            watchers[:] = [it for it in watchers if it.node != node or it.boot != boot]
