"""The processes of one boot of a node: they get events, and their effects are carried out.

1. Messages between two processes keep their order: here by one queue of events, between nodes by
   the order of a link.
2. A process that raises is our bug: it ends with CRASH, and the node lives on.
3. A timer of 0 ms fires when all events at hand have been handled: what is collected until then
   goes out as one.
4. The watcher of a process on a lost node gets Down when the cluster core says that the node is
   gone (`lose`), not when its link closes.
"""

import traceback
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from reference_impl.amqp.connection import Connection
from reference_impl.node.outside import Outside
from reference_impl.node.wire import Downed, Mail, Packet, Unwatching, Watching
from reference_impl.pid import Pid
from reference_impl.process import (
    API,
    CRASH,
    DEAD_LETTERS,
    NO_CONNECTION,
    NO_PROCESS,
    SHUTDOWN,
    SUPERVISOR,
    Answer,
    AppendTruth,
    Arm,
    As,
    Become,
    Changed,
    Disarm,
    Down,
    Effect,
    Exit,
    Flush,
    Hangup,
    Limit,
    Process,
    ReadOn,
    Reset,
    Send,
    Spawn,
    StopReading,
    Timeout,
    Transact,
    Transmit,
    Unwatch,
    Watch,
    WhenWritten,
    Wipe,
    Write,
)
from reference_impl.protocol.connections import CloseConnection, Described

# --- Watches between processes, as far as one node has to know -----------------------------------
# 1. A watch is kept on both nodes: here those of our processes, and those of others on ours.
# 2. A watcher gets one Down; a watch that has ended is forgotten.


class Watches:
    """Pairs of watcher and watched, found from both ends."""

    def __init__(self) -> None:
        self._watchers: defaultdict[Pid, set[Pid]] = defaultdict(set)
        self._watched: defaultdict[Pid, set[Pid]] = defaultdict(set)

    def add(self, watcher: Pid, pid: Pid) -> bool:
        """False where it was there already."""
        if pid in self._watched.get(watcher, ()):
            return False
        self._watchers[pid].add(watcher)
        self._watched[watcher].add(pid)
        return True

    def remove(self, watcher: Pid, pid: Pid) -> bool:
        """False where it was not there."""
        if pid not in self._watched.get(watcher, ()):
            return False
        _discard(self._watchers, pid, watcher)
        _discard(self._watched, watcher, pid)
        return True

    def ended(self, pid: Pid) -> tuple[Pid, ...]:
        """Forgets a process that ended: who watched it, in a stable order."""
        for watched in self._watched.pop(pid, ()):
            _discard(self._watchers, watched, pid)
        watchers = self._watchers.pop(pid, set())
        for watcher in watchers:
            _discard(self._watched, watcher, pid)
        return tuple(sorted(watchers))

    def of_node(self, node: str) -> Iterator[Pid]:
        """Every process of a node that watches or is watched."""
        pids = {*self._watchers, *self._watched}
        yield from sorted(pid for pid in pids if pid.node == node)


def _discard(pairs: defaultdict[Pid, set[Pid]], key: Pid, value: Pid) -> None:
    pairs[key].discard(value)
    if not pairs[key]:
        del pairs[key]


# --- Processes -----------------------------------------------------------------------------------


_FIRST_NUMBER = 2  # after SUPERVISOR, API and DEAD_LETTERS
# docs/behaviour/rabbitmq.md, item 41.
GOODBYE = "broker forced connection closure with reason 'shutdown'"


class Peers(Protocol):
    """The cluster around a node, as its processes need it."""

    def boot_of(self, node: str) -> int | None:
        """The boot on which a node runs in this one's eyes; None if it does not."""

    def transact(self, pid: Pid, effect: Transact) -> None:
        """Ends in Committed, posted to the process."""

    def limit(self, resource: str, octets: int | None) -> None:
        """As process.Limit says."""


class Processes:
    """All processes that live on this node, and the events that wait for them."""

    def __init__(self, node: str, boot: int, peers: Peers, outside: Outside) -> None:
        self._node = node
        self._boot = boot
        self._peers = peers
        self._out = outside
        self.supervisor = Pid(node, boot, SUPERVISOR)
        self.api = Pid(node, boot, API)
        self.dead_letters = Pid(node, boot, DEAD_LETTERS)
        self._processes: dict[Pid, Process] = {}
        self._clients: dict[Pid, Pid] = {}  # a channel -> its connection
        self._connections: dict[Pid, Connection] = {}
        self._watches = Watches()
        self._events: deque[tuple[Pid, Any]] = deque()
        self._idle: list[tuple[Pid, str]] = []
        self._changed = False
        self._next_number = _FIRST_NUMBER
        self._carry: dict[type, Callable[[Pid, Any], None]] = {
            Send: self._send,
            Transmit: self._transmit,
            Write: self._write,
            Flush: self._flush,
            Arm: self._arm,
            As: self._as,
            Watch: self._watch,
            Unwatch: self._unwatch,
            Disarm: self._disarm,
            Transact: self._transact,
            Wipe: self._wipe,
            AppendTruth: self._admit,
            Spawn: self._spawn,
            Become: self._become,
            Exit: self._exit,
            Hangup: self._hang_up,
            WhenWritten: self._when_written,
            StopReading: self._stop_reading,
            ReadOn: self._read_on,
            Limit: self._limit,
            Reset: self._reset,
            Answer: self._answer,
        }

    def __contains__(self, pid: Pid) -> bool:
        return pid in self._processes

    def new_pid(self) -> Pid:
        self._next_number += 1
        return Pid(self._node, self._boot, self._next_number)

    def start(self, pid: Pid, process: Process, client: Pid | None = None) -> None:
        """`client`: the connection process whose client its Transmits go to."""
        self._processes[pid] = process
        if client is not None:
            self._clients[pid] = client

    def connect(self, pid: Pid, connection: Connection) -> None:
        self._processes[pid] = self._connections[pid] = connection
        self._do(pid, connection.begin())

    def connections(self) -> tuple[Described, ...]:
        """Return the open connections of clients."""
        described = (connection.described() for connection in self._connections.values())
        return tuple(one for one in described if one is not None)

    def post(self, pid: Pid, event: Any) -> None:
        """For the next `run`; to a process that is gone it vanishes."""
        self._events.append((pid, event))

    def changed(self) -> None:
        """Note a change of tables, or of the view of the cluster: the supervisor gets one event a
        batch."""
        self._changed = True

    def heard(self, node: str, packet: Packet) -> None:
        """Handle a peer's packet for processes, or about its own."""
        match packet:
            case Mail(to=to, body=body):
                self._events.append((to, body))
            case Watching(watcher=watcher, pid=pid):
                if pid in self._processes:
                    self._watches.add(watcher, pid)
                else:
                    self._out.links.send(node, Downed(watcher, pid, NO_PROCESS))
            case Unwatching(watcher=watcher, pid=pid):
                self._watches.remove(watcher, pid)
            case Downed(watcher=watcher, pid=pid, reason=reason):
                if self._watches.remove(watcher, pid):
                    self._events.append((watcher, Down(pid, reason)))

    def lose(self, node: str) -> None:
        """A node is gone: its processes cannot be reached any more, nor can they watch ours."""
        for lost in list(self._watches.of_node(node)):
            for watcher in self._watches.ended(lost):
                if watcher.node == self._node:
                    self._events.append((watcher, Down(lost, NO_CONNECTION)))

    def close_connections(self) -> None:
        for pid in self._connections:
            self._events.append((pid, CloseConnection(GOODBYE)))

    def post_to_connections(self, event: Any) -> None:
        self._events += [(pid, event) for pid in self._connections]

    def end_all(self) -> None:
        """Nothing runs any more, and nothing waits to be handled."""
        for pid in list(self._processes):
            self._end(pid, SHUTDOWN)
        self._events.clear()

    def post_to_queues(self, event: Any) -> None:
        self._events += [(pid, event) for pid in self._queues()]

    def queues_left(self) -> bool:
        """Return whether a queue process is there."""
        return any(True for _ in self._queues())

    def _queues(self) -> Iterator[Pid]:
        """Return the processes that are neither the node's own nor a client's."""
        own = {self.supervisor, self.api, self.dead_letters, *self._connections, *self._clients}
        return (pid for pid in self._processes if pid not in own)

    def run(self) -> None:
        """Handles everything at hand, and all that follows from it."""
        while True:
            while self._events:
                pid, event = self._events.popleft()
                process = self._processes.get(pid)
                if process is not None:
                    self._handle(pid, process, event)
            if self._changed:
                self._changed = False
                self._events.append((self.supervisor, Changed()))
            elif self._idle:
                idle, self._idle = self._idle, []
                self._events += [(pid, Timeout(name)) for pid, name in idle]
            else:
                return

    # --- what processes ask for

    def _handle(self, pid: Pid, process: Process, event: Any) -> None:
        try:
            self._do(pid, process.handle(event))
        except Exception:
            self._out.life.log(f"process {pid} crashed:\n{traceback.format_exc()}")
            self._end(pid, CRASH)

    def _do(self, pid: Pid, effects: "list[Effect] | tuple[Effect, ...]") -> None:
        for effect in effects:
            self._carry[type(effect)](pid, effect)

    def _send(self, pid: Pid, effect: Send) -> None:
        to = effect.to
        if to.node == self._node:
            self._events.append((to, effect.body))
        elif self._peers.boot_of(to.node) == to.boot:
            self._out.links.send(to.node, Mail(to, effect.body))

    def _transmit(self, pid: Pid, effect: Transmit) -> None:
        self._out.clients.transmit(self._clients.get(pid, pid), effect.octets)

    def _when_written(self, pid: Pid, effect: WhenWritten) -> None:
        self._out.clients.when_written(self._clients.get(pid, pid), pid)

    def _stop_reading(self, pid: Pid, _: StopReading) -> None:
        self._out.clients.stop_reading(pid)

    def _read_on(self, pid: Pid, _: ReadOn) -> None:
        self._out.clients.read_on(pid)

    def _limit(self, _: Pid, effect: Limit) -> None:
        self._peers.limit(effect.resource, effect.octets)

    def _reset(self, _: Pid, effect: Reset) -> None:
        self._out.life.reset(effect.through)

    def _hang_up(self, pid: Pid, effect: Hangup) -> None:
        self._out.clients.hang_up(self._clients.get(pid, pid))

    def _write(self, pid: Pid, effect: Write) -> None:
        self._out.disk.write(effect.queue, effect.entries)

    def _flush(self, pid: Pid, effect: Flush) -> None:
        self._out.disk.flush(pid, effect.queue, effect.mark)

    def _wipe(self, pid: Pid, effect: Wipe) -> None:
        self._out.disk.wipe(effect.queue)

    def _admit(self, pid: Pid, effect: AppendTruth) -> None:
        self._out.disk.admit(effect.lines)

    def _arm(self, pid: Pid, effect: Arm) -> None:
        if effect.after_ms > 0:
            self._out.timers.arm(pid, effect.name, effect.after_ms)
        elif (pid, effect.name) not in self._idle:
            self._idle.append((pid, effect.name))

    def _disarm(self, pid: Pid, effect: Disarm) -> None:
        if (pid, effect.name) in self._idle:
            self._idle.remove((pid, effect.name))
        self._out.timers.disarm(pid, effect.name)

    def _as(self, pid: Pid, effect: As) -> None:
        self._do(effect.pid, effect.effects)

    def _transact(self, pid: Pid, effect: Transact) -> None:
        self._peers.transact(pid, effect)

    def _answer(self, pid: Pid, effect: Answer) -> None:
        self._out.clients.answer(effect.request, effect.status, effect.body)

    def _watch(self, pid: Pid, effect: Watch) -> None:
        target = effect.pid
        if target.node == self._node:
            if target in self._processes:
                self._watches.add(pid, target)
            else:
                self._events.append((pid, Down(target, NO_PROCESS)))
        elif self._peers.boot_of(target.node) != target.boot:
            self._events.append((pid, Down(target, NO_CONNECTION)))
        elif self._watches.add(pid, target):
            self._out.links.send(target.node, Watching(pid, target))

    def _unwatch(self, pid: Pid, effect: Unwatch) -> None:
        target = effect.pid
        if self._watches.remove(pid, target) and target.node != self._node:
            self._out.links.send(target.node, Unwatching(pid, target))

    def _spawn(self, pid: Pid, effect: Spawn) -> None:
        self.start(effect.pid, effect.process, effect.client)

    def _become(self, pid: Pid, effect: Become) -> None:
        self._processes[pid] = effect.process

    def _exit(self, pid: Pid, effect: Exit) -> None:
        self._end(pid, effect.reason)

    def _end(self, pid: Pid, reason: str) -> None:
        if self._processes.pop(pid, None) is None:
            return
        self._clients.pop(pid, None)
        self._out.timers.forget(pid)
        self._idle = [(owner, name) for owner, name in self._idle if owner != pid]
        for watcher in self._watches.ended(pid):
            if watcher.node == self._node:
                self._events.append((watcher, Down(pid, reason)))
            else:
                self._out.links.send(watcher.node, Downed(watcher, pid, reason))
        if self._connections.pop(pid, None) is not None:
            self._out.clients.hang_up(pid)
            for channel in [one for one, client in self._clients.items() if client == pid]:
                self._end(channel, SHUTDOWN)
