"""One node of the reference, whole but for sockets, disk and time: it runs its processes.

1. Whatever comes from outside is an event for a process or for the cluster core; `run` carries
   out all that follows from it, until every process is quiet.
2. Messages between two processes keep their order: here by one queue of events, between nodes by
   the order of a link.
3. A process that raises is our bug: it ends with CRASH, and the node lives on.
4. A timer of 0 ms fires when all events at hand have been handled: what is collected until then
   goes out as one.
5. Who watches a process on a lost node is told when the cluster core says that the node is gone,
   not when its link closes.
6. What peers send before this node's processes are there waits for them: peers may know of a node
   a little before it knows itself.
"""

import traceback
from collections import deque
from collections.abc import Callable
from typing import Any

from reference_impl.amqp.connection import Connection
from reference_impl.amqp.settings import Settings
from reference_impl.metadata.tables import Tables
from reference_impl.mirrored.store import Entry
from reference_impl.mirrored.supervisor import Supervisor
from reference_impl.node import cluster as c
from reference_impl.node.api import Api
from reference_impl.node.config import Config
from reference_impl.node.outside import Outside
from reference_impl.node.protocol import CloseConnection, Described
from reference_impl.node.watches import Watches
from reference_impl.node.wire import Downed, Hello, Mail, Packet, Told, Unwatching, Watching
from reference_impl.pid import Pid
from reference_impl.process import (
    API,
    CRASH,
    NO_CONNECTION,
    NO_PROCESS,
    SHUTDOWN,
    SUPERVISOR,
    Admit,
    Answer,
    Arm,
    As,
    Asked,
    Become,
    Changed,
    Committed,
    Disarm,
    Down,
    Effect,
    Exit,
    Flush,
    Flushed,
    Hangup,
    HungUp,
    Octets,
    Process,
    Send,
    Spawn,
    Stopping,
    Timeout,
    Transact,
    Transmit,
    Unwatch,
    Watch,
    Wipe,
    Write,
)

_FIRST_NUMBER = 2  # after SUPERVISOR and API
GOODBYE = "broker forced connection closure with reason 'shutdown'"  # rabbitmq.md, item 41


class Node:
    """One boot of a node; process.World for its processes."""

    def __init__(self, config: Config, boot: int, saved: c.Saved | None, outside: Outside) -> None:
        self.node = config.name
        self.boot = boot
        self._out = outside
        self._settings = Settings(misbehaviour=config.misbehave)
        self._cluster = c.Cluster(config, boot, saved)
        self._processes: dict[Pid, Process] = {}
        self._clients: dict[Pid, Pid] = {}  # a channel -> its connection
        self._connections: dict[Pid, Connection] = {}
        self._watches = Watches()
        self._events: deque[tuple[Pid, Any]] = deque()
        self._idle: list[tuple[Pid, str]] = []
        self._early: list[tuple[str, Packet]] = []
        self._next_number = _FIRST_NUMBER
        self._supervisor = Pid(self.node, boot, SUPERVISOR)
        self._api = Pid(self.node, boot, API)
        self._changed = False
        self._serves = False
        self._stopping = False
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
            Admit: self._admit,
            Spawn: self._spawn,
            Become: self._become,
            Exit: self._exit,
            Hangup: self._hang_up,
            Answer: self._answer,
        }

    # --- process.World

    @property
    def tables(self) -> Tables:
        return self._cluster.tables

    def running(self) -> tuple[str, ...]:
        return self._cluster.running()

    def well_known(self, node: str, number: int) -> Pid | None:
        boot = self._cluster.boot_of(node)
        return None if boot is None else Pid(node, boot, number)

    def alive(self, pid: Pid) -> bool:
        if pid.node == self.node:
            return pid in self._processes
        return self._cluster.boot_of(pid.node) == pid.boot

    def guarded(self) -> bool:
        return self._cluster.guarded()

    def new_pid(self) -> Pid:
        self._next_number += 1
        return Pid(self.node, self.boot, self._next_number)

    def connections(self) -> tuple[Described, ...]:
        described = (connection.described() for connection in self._connections.values())
        return tuple(one for one in described if one is not None)

    def partitions(self) -> tuple[str, ...]:
        return self._cluster.partitions()

    def stored(self, queue: str) -> tuple[Entry, ...]:
        return self._out.disk.stored(queue)

    # --- what comes from outside

    def begin(self) -> None:
        """Boots: peers are dialled, tables fetched or loaded."""
        self._cluster_does(self._cluster.begin())

    def hello(self) -> Hello:
        """The greeting for a peer."""
        return Hello(self.node, self.boot, self._cluster.greeting())

    def linked(self, hello: Hello) -> None:
        self._cluster_does(self._cluster.handle(c.Linked(hello.node, hello.boot, hello.greeting)))

    def unlinked(self, node: str) -> None:
        self._early = [(sender, packet) for sender, packet in self._early if sender != node]
        self._cluster_does(self._cluster.handle(c.Unlinked(node)))

    def pinged(self, node: str, answered: bool) -> None:
        self._cluster_does(self._cluster.handle(c.Pinged(node, answered)))

    def ticked(self, heard: frozenset[str]) -> None:
        """Every quarter of the net tick time: the peers from which any octet came since."""
        self._cluster_does(self._cluster.handle(c.Ticked(heard)))

    def heard(self, node: str, packet: Packet) -> None:
        match packet:
            case Told(gossip=gossip):
                self._cluster_does(self._cluster.handle(c.Heard(node, gossip)))
            case _ if not self._serves:
                self._early.append((node, packet))
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

    def accept(self, name: str) -> Pid:
        """A client came; `name` as the management API shows it ("client:port -> server:port")."""
        pid = self.new_pid()
        connection = Connection(pid, self, name, self._settings)
        self._processes[pid] = self._connections[pid] = connection
        self._do(pid, connection.begin())
        return pid

    def octets(self, client: Pid, octets: bytes) -> None:
        self._events.append((client, Octets(octets)))

    def hung_up(self, client: Pid) -> None:
        self._events.append((client, HungUp()))

    def asked(self, asked: Asked) -> None:
        self._events.append((self._api, asked))

    def fired(self, pid: Pid | None, name: str) -> None:
        if pid is None:
            self._cluster_does(self._cluster.handle(Timeout(name)))
        else:
            self._events.append((pid, Timeout(name)))

    def flushed(self, pid: Pid, mark: int) -> None:
        self._events.append((pid, Flushed(mark)))

    def stop(self) -> None:
        """Gracefully: clients are told, queues handed over. `stopped` says when it is over."""
        self._stopping = True
        self._close_connections()
        self._events.append((self._supervisor, Stopping()))

    def leave(self) -> None:
        """The last word of a graceful stop, to peers and to the disk."""
        self._cluster_does(self._cluster.leave())

    def stopped(self) -> bool:
        """Whether every queue process of this node has ended."""
        return self._stopping and not self._queue_processes()

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
                self._events.append((self._supervisor, Changed()))
            elif self._idle:
                idle, self._idle = self._idle, []
                self._events += [(pid, Timeout(name)) for pid, name in idle]
            else:
                return

    # --- processes

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
        if to.node == self.node:
            self._events.append((to, effect.body))
        elif self._cluster.boot_of(to.node) == to.boot:
            self._out.links.send(to.node, Mail(to, effect.body))

    def _transmit(self, pid: Pid, effect: Transmit) -> None:
        self._out.clients.transmit(self._clients.get(pid, pid), effect.octets)

    def _hang_up(self, pid: Pid, effect: Hangup) -> None:
        self._out.clients.hang_up(self._clients.get(pid, pid))

    def _write(self, pid: Pid, effect: Write) -> None:
        self._out.disk.write(effect.queue, effect.entries)

    def _flush(self, pid: Pid, effect: Flush) -> None:
        self._out.disk.flush(pid, effect.queue, effect.mark)

    def _wipe(self, pid: Pid, effect: Wipe) -> None:
        self._out.disk.wipe(effect.queue)

    def _admit(self, pid: Pid, effect: Admit) -> None:
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
        submitted = c.Submitted(pid, effect.request, effect.command)
        self._cluster_does(self._cluster.handle(submitted))

    def _answer(self, pid: Pid, effect: Answer) -> None:
        self._out.clients.answer(effect.request, effect.status, effect.body)

    def _watch(self, pid: Pid, effect: Watch) -> None:
        target = effect.pid
        if target.node == self.node:
            if target in self._processes:
                self._watches.add(pid, target)
            else:
                self._events.append((pid, Down(target, NO_PROCESS)))
        elif self._cluster.boot_of(target.node) != target.boot:
            self._events.append((pid, Down(target, NO_CONNECTION)))
        elif self._watches.add(pid, target):
            self._out.links.send(target.node, Watching(pid, target))

    def _unwatch(self, pid: Pid, effect: Unwatch) -> None:
        target = effect.pid
        if self._watches.remove(pid, target) and target.node != self.node:
            self._out.links.send(target.node, Unwatching(pid, target))

    def _spawn(self, pid: Pid, effect: Spawn) -> None:
        self._processes[effect.pid] = effect.process
        if effect.client is not None:
            self._clients[effect.pid] = effect.client

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
            if watcher.node == self.node:
                self._events.append((watcher, Down(pid, reason)))
            else:
                self._out.links.send(watcher.node, Downed(watcher, pid, reason))
        if self._connections.pop(pid, None) is not None:
            self._out.clients.hang_up(pid)
            for channel in [one for one, client in self._clients.items() if client == pid]:
                self._end(channel, SHUTDOWN)

    def _queue_processes(self) -> list[Pid]:
        own = {self._supervisor, self._api, *self._connections, *self._clients}
        return [pid for pid in self._processes if pid not in own]

    def _close_connections(self) -> None:
        for pid in self._connections:
            self._events.append((pid, CloseConnection(GOODBYE)))

    # --- the cluster

    def _cluster_does(self, effects: list[c.Effect]) -> None:
        for effect in effects:
            match effect:
                case c.Tell(node, gossip):
                    self._out.links.send(node, Told(gossip))
                case c.Settle(pid, request, result):
                    self._events.append((pid, Committed(request, result)))
                case c.TablesChanged():
                    self._changed = True
                case c.Up():
                    self._changed = True
                case c.Gone(node):
                    self._lose(node)
                case c.Save(saved):
                    self._out.disk.save(saved)
                case c.Dial(node):
                    self._out.links.dial(node)
                case c.Drop(node):
                    self._out.links.drop(node)
                case c.Ping(node):
                    self._out.links.ping(node)
                case c.Arm(name, after_ms):
                    self._out.timers.arm(None, name, after_ms)
                case c.Disarm(name):
                    self._out.timers.disarm(None, name)
                case c.Log(text):
                    self._out.life.log(text)
                case c.Ready():
                    self._serve()
                case c.Pause():
                    self._pause()
                case c.Restart():
                    self._out.life.restart()
                case c.Fail(text):
                    self._out.life.fail(text)

    def _lose(self, node: str) -> None:
        """Its processes cannot be reached any more; nor can they watch ours."""
        self._changed = True
        for lost in list(self._watches.of_node(node)):
            for watcher in self._watches.ended(lost):
                if watcher.node == self.node:
                    self._events.append((watcher, Down(lost, NO_CONNECTION)))

    def _serve(self) -> None:
        misbehaviour = self._settings.misbehaviour
        self._processes[self._supervisor] = Supervisor(self._supervisor, self, misbehaviour)
        self._processes[self._api] = Api(self._api, self)
        self._changed = self._serves = True
        self._out.clients.open()
        self._out.life.ready()
        early, self._early = self._early, []
        for sender, packet in early:
            self.heard(sender, packet)

    def _pause(self) -> None:
        """The broker application stops; the node itself waits for its peers."""
        self._close_connections()
        self.run()
        for pid in list(self._processes):
            self._end(pid, SHUTDOWN)
        self._events.clear()
        self._out.clients.close()
