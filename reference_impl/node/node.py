"""One node of the reference, without sockets, disk and time.

1. Whatever comes from outside is an event for a process or for the cluster core; `run` carries
   out all that follows from it, until every process is quiet.
2. What peers send before this node's processes are there waits for them: peers may know of a node
   a little before it knows itself.
3. Clients are let in when the queues that this node has on its disk are there again, as RabbitMQ
   starts its listeners after it has recovered them.
"""

from reference_impl.amqp.connection import Connection
from reference_impl.amqp.parts.dead_letters import DeadLetters
from reference_impl.amqp.settings import Settings
from reference_impl.metadata.requests import Settle
from reference_impl.metadata.tables import Tables
from reference_impl.mirrored.store import Segment
from reference_impl.mirrored.supervisor import Supervisor
from reference_impl.mirrored.upkeep import Restart, recovery
from reference_impl.node import happenings as h
from reference_impl.node.alarms import MEMORY, Alarmed, Alarms, Memory
from reference_impl.node.api import Api
from reference_impl.node.cluster import Cluster
from reference_impl.node.config import Config
from reference_impl.node.outside import Outside
from reference_impl.node.processes import Processes
from reference_impl.node.wire import GossipPacket, Hello, Packet, Short
from reference_impl.pid import Pid
from reference_impl.process import (
    AlarmsChanged,
    ApiRequest,
    Arm,
    Committed,
    Disarm,
    Flushed,
    HungUp,
    Octets,
    Pressed,
    Stopping,
    Timeout,
    Transact,
    Written,
)
from reference_impl.protocol.connections import Described


class Node:
    """One boot of a node; process.World and processes.Peers for its processes."""

    def __init__(self, config: Config, boot: int, saved: h.Saved | None, outside: Outside) -> None:
        self.node = config.name
        self.boot = boot
        self._out = outside
        self._cluster = Cluster(config, boot, saved, lambda: len(self._processes.connections()))
        self._settings = Settings(misbehaviour=config.misbehave, linked=self._cluster.linked)
        self._alarms = Alarms(self.node, config.memory_high_octets or 0, config.disk_low_octets)
        self._memory = Memory()
        self._processes = Processes(self.node, boot, self, outside)
        self._early: list[tuple[str, Packet]] = []
        self._serves = False
        self._recovering = False  # clients are let in when it is over
        self._stopping = False

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

    def now_ms(self) -> int:
        return self._out.timers.now_ms()

    def guarded(self) -> bool:
        return self._cluster.guarded()

    def alarms(self) -> Alarmed:
        return self._alarms.found

    def new_pid(self) -> Pid:
        return self._processes.new_pid()

    def connections(self) -> tuple[Described, ...]:
        return self._processes.connections()

    def partitions(self) -> tuple[str, ...]:
        return self._cluster.partitions()

    def memory_lasts_s(self) -> float | None:
        return self._memory.lasts_s

    def stored(self, queue: str) -> tuple[int, ...]:
        return self._out.disk.stored(queue)

    def segment(self, queue: str, number: int) -> Segment:
        return self._out.disk.segment(queue, number)

    # --- processes.Peers

    def boot_of(self, node: str) -> int | None:
        return self._cluster.boot_of(node)

    def transact(self, pid: Pid, effect: Transact) -> None:
        submitted = h.Submitted(pid, effect.request, effect.command)
        self._cluster_does(self._cluster.handle(submitted))

    def limit(self, resource: str, octets: int | None) -> None:
        self._alarms.limit(resource, octets)

    # --- what comes from outside

    def begin(self) -> None:
        """Boots: peers are dialled, tables fetched or loaded."""
        self._cluster_does(self._cluster.begin())

    def hello(self) -> Hello:
        """The greeting for a peer."""
        return Hello(self.node, self.boot, self._cluster.greeting())

    def linked(self, hello: Hello) -> None:
        self._cluster_does(self._cluster.handle(h.Linked(hello.node, hello.boot, hello.greeting)))
        if self._alarms.own:
            self._out.links.send(hello.node, Short(tuple(sorted(self._alarms.own))))

    def unlinked(self, node: str) -> None:
        self._early = [(sender, packet) for sender, packet in self._early if sender != node]
        self._cluster_does(self._cluster.handle(h.Unlinked(node)))
        if self._alarms.forget(node):
            self._processes.post_to_connections(AlarmsChanged())

    def pinged(self, node: str, answered: bool) -> None:
        self._cluster_does(self._cluster.handle(h.Pinged(node, answered)))

    def ticked(self, heard: frozenset[str]) -> None:
        """Every quarter of the net tick time: the peers from which any octet came since."""
        self._cluster_does(self._cluster.handle(h.Ticked(heard)))

    def measured(self, memory: int, disk: int) -> None:
        """Octets in use, and free ones; now and then."""
        if self._alarms.measured(memory, disk):
            own = Short(tuple(sorted(self._alarms.own)))
            for peer in sorted(self._cluster.linked()):
                self._out.links.send(peer, own)
            self._out.life.log(f"alarms: {', '.join(own.resources) or 'none'}")
            self._processes.post_to_connections(AlarmsChanged())
        if self._memory.measured(memory, self._alarms.limit_of(MEMORY), self.now_ms()):
            self._processes.post_to_queues(Pressed())

    def heard(self, node: str, packet: Packet) -> None:
        match packet:
            case Short(resources=resources):
                if self._alarms.update(node, frozenset(resources)):
                    self._processes.post_to_connections(AlarmsChanged())
            case GossipPacket(gossip=gossip):
                self._cluster_does(self._cluster.handle(h.Heard(node, gossip)))
            case _ if not self._serves:
                self._early.append((node, packet))
            case _:
                self._processes.heard(node, packet)

    def accept(self, name: str) -> Pid:
        """A client came; `name` as the management API shows it ("client:port -> server:port")."""
        pid = self.new_pid()
        self._processes.connect(pid, Connection(pid, self, name, self._settings))
        return pid

    def octets(self, client: Pid, octets: bytes) -> None:
        self._processes.post(client, Octets(octets))

    def hung_up(self, client: Pid) -> None:
        self._processes.post(client, HungUp())

    def written(self, pid: Pid) -> None:
        """Note that what it had transmitted has gone to a socket that drains."""
        self._processes.post(pid, Written())

    def api_request(self, request: ApiRequest) -> None:
        self._processes.post(self._processes.api, request)

    def fired(self, pid: Pid | None, name: str) -> None:
        if pid is None:
            self._cluster_does(self._cluster.handle(Timeout(name)))
        else:
            self._processes.post(pid, Timeout(name))

    def flushed(self, pid: Pid, mark: int) -> None:
        self._processes.post(pid, Flushed(mark))

    def stop(self) -> None:
        """Stop gracefully: clients get a close, queues are handed over. `stopped` says when it is
        over."""
        self._stopping = True
        self._processes.close_connections()
        self._processes.post(self._processes.supervisor, Stopping())

    def leave(self, for_good: bool = False) -> None:
        """The last word of a graceful stop, to peers and to the disk."""
        self._cluster_does(self._cluster.leave(for_good))

    def has_left(self) -> bool:
        """Return whether it has been forgotten since it left for good."""
        return self._cluster.has_left()

    def stopped(self) -> bool:
        """Return whether every queue process of this node has ended, and its tables say so: a
        mirror that has stopped in good order may not be promoted later (item 54)."""
        return self._stopping and not self._processes.queues_left() and self._cluster.has_settled()

    def run(self) -> None:
        """Handles everything at hand, and all that follows from it."""
        self._processes.run()
        if self._recovering and not self._stopping and not self._recovers():
            self._recovering = False
            self._out.clients.open()
            self._out.life.ready()

    def _recovers(self) -> bool:
        """Return whether a queue is to be started from this node's disk, and is not there yet."""
        lost = (
            record
            for record in self.tables.queues.values()
            if record.master is None or not self.alive(record.master)
        )
        return any(isinstance(recovery(self, record), Restart) for record in lost)

    # --- the cluster

    def _cluster_does(self, effects: list[h.Effect]) -> None:
        for effect in effects:
            match effect:
                case h.SendGossip(node, gossip):
                    self._out.links.send(node, GossipPacket(gossip))
                case Settle(pid, request, result):
                    self._processes.post(pid, Committed(request, result))
                case h.TablesChanged() | h.Up():
                    self._processes.changed()
                case h.Gone(node):
                    self._processes.changed()
                    self._processes.lose(node)
                case h.Save(saved):
                    self._out.disk.save(saved)
                case h.Dial(node):
                    self._out.links.dial(node)
                case h.Drop(node):
                    self._out.links.drop(node)
                case h.Ping(node):
                    self._out.links.ping(node)
                case Arm(name, after_ms):
                    self._out.timers.arm(None, name, after_ms)
                case Disarm(name):
                    self._out.timers.disarm(None, name)
                case h.Log(text):
                    self._out.life.log(text)
                case h.Ready():
                    self._serve()
                case h.Pause():
                    self._pause()
                case h.Restart():
                    self._out.life.restart()
                case h.Fail(text):
                    self._out.life.fail(text)

    def _serve(self) -> None:
        here = self._processes
        here.start(here.supervisor, Supervisor(here.supervisor, self, self._settings.misbehaviour))
        here.start(here.api, Api(here.api, self))
        here.start(here.dead_letters, DeadLetters(here.dead_letters, self))
        here.changed()
        self._serves = self._recovering = True
        early, self._early = self._early, []
        for sender, packet in early:
            self.heard(sender, packet)

    def _pause(self) -> None:
        """The broker application stops; the node itself waits for its peers."""
        self._recovering = False
        self._processes.close_connections()
        self._processes.run()
        self._processes.end_all()
        self._out.clients.close()
