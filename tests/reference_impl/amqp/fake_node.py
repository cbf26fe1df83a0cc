"""One node without sockets, disk or time: connections and channels are real, queues are fakes.

1. Effects are carried out as a node carries them out: messages in order, Downs after the last
   message, nothing for a process that ended.
2. Timers fire only when a test says so; what a client gets is kept by connection.
3. Supervisor and queues of other nodes can be put in by a test as any object with `handle`.
"""

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from reference_impl.amqp.connection import Connection
from reference_impl.amqp.settings import Settings
from reference_impl.metadata.exchanges import predeclared
from reference_impl.metadata.records import AddQueue, ForgetQueue
from reference_impl.metadata.tables import Queue, Tables
from reference_impl.pid import Pid
from reference_impl.process import (
    NO_PROCESS,
    SUPERVISOR,
    AlarmsChanged,
    AppendTruth,
    Arm,
    As,
    Committed,
    Disarm,
    Down,
    Effect,
    Exit,
    Hangup,
    HungUp,
    Octets,
    ReadOn,
    Send,
    Spawn,
    StopReading,
    Timeout,
    Transact,
    Transmit,
    Unwatch,
    Watch,
    WhenWritten,
    Written,
)
from reference_impl.protocol.connections import Described
from reference_impl.protocol.queues import DeleteRecord, Done, Refused, Started, StartQueue
from tests.reference_impl.amqp.fake_queue import FakeQueue

NODE = "ref1"


@dataclass
class FakeNode:
    """process.World for what it runs."""

    settings: Settings = field(default_factory=Settings)
    node: str = NODE
    tables: Tables = field(default_factory=predeclared)
    is_guarded: bool = False
    processes: dict[Pid, Any] = field(default_factory=dict)
    sent: defaultdict[Pid, bytearray] = field(default_factory=lambda: defaultdict(bytearray))
    hung_up: set[Pid] = field(default_factory=set)
    unread: set[Pid] = field(default_factory=set)  # whose octets are not read
    alarmed: dict[str, frozenset[str]] = field(default_factory=dict)
    admitted: bytes = b""
    choked: bool = False  # no client reads
    waiting: list[Pid] = field(default_factory=list)  # those that get Written when they do again
    armed: dict[tuple[Pid, str], int] = field(default_factory=dict)
    _clients: dict[Pid, Pid] = field(default_factory=dict)
    _watchers: defaultdict[Pid, set[Pid]] = field(default_factory=lambda: defaultdict(set))
    _events: deque[tuple[Pid, Any]] = field(default_factory=deque)
    _numbers: int = 2

    def __post_init__(self) -> None:
        self.supervisor = self.add(FakeSupervisor(self), Pid(self.node, 1, SUPERVISOR))

    # --- process.World

    def running(self) -> tuple[str, ...]:
        return (self.node,)

    def well_known(self, node: str, number: int) -> Pid | None:
        return Pid(node, 1, number)

    def alive(self, pid: Pid) -> bool:
        return pid in self.processes

    def now_ms(self) -> int:
        return 0

    def guarded(self) -> bool:
        return self.is_guarded

    def alarms(self) -> dict[str, frozenset[str]]:
        return self.alarmed

    def new_pid(self) -> Pid:
        self._numbers += 1
        return Pid(self.node, 1, self._numbers)

    def connections(self) -> tuple[Described, ...]:
        return ()

    def partitions(self) -> tuple[str, ...]:
        return ()

    def memory_lasts_s(self) -> float | None:
        return None

    def stored(self, queue: str) -> tuple[int, ...]:
        return ()

    def segment(self, queue: str, number: int) -> dict[int, Any]:
        return {}

    # --- what a test does

    def add(self, process: Any, pid: Pid | None = None) -> Pid:
        pid = pid or self.new_pid()
        self.processes[pid] = process
        return pid

    def accept(self, name: str = "127.0.0.1:1 -> 127.0.0.1:5672") -> Pid:
        pid = self.new_pid()
        connection = Connection(pid, self, name, self.settings)
        self.processes[pid] = connection
        self._do(pid, connection.begin())
        return pid

    def octets(self, pid: Pid, octets: bytes) -> None:
        self.post(pid, Octets(octets))

    def hang_up(self, pid: Pid) -> None:
        self.post(pid, HungUp())

    def post(self, pid: Pid, event: Any) -> None:
        self._events.append((pid, event))
        self.run()

    def fire(self, name: str) -> None:
        """Every timer of that name runs out, once."""
        for pid, armed in [key for key in self.armed if key[1] == name]:
            del self.armed[pid, armed]
            self.post(pid, Timeout(name))

    def alarm(self, **alarmed: frozenset[str]) -> None:
        """Which nodes run short of what, from now on."""
        self.alarmed = alarmed
        connections = [pid for pid, one in self.processes.items() if isinstance(one, Connection)]
        for pid in connections:
            self.post(pid, AlarmsChanged())

    def relieve(self) -> None:
        """Clients read again."""
        self.choked = False
        waiting, self.waiting = self.waiting, []
        for pid in waiting:
            self.post(pid, Written())

    def end(self, pid: Pid, reason: str) -> None:
        self._end(pid, reason)
        self.run()

    def commit(self, command: Any) -> Any:
        self.tables.version += 1
        return command.apply(self.tables)

    def put(self, record: Queue) -> None:
        """A record as a command would leave it."""
        self.tables.version += 1
        self.tables.queues[record.name] = record

    def start_queue(self, name: str, **properties: Any) -> Pid:
        """A queue with a master on this node, and no mirror."""
        pid = self.new_pid()
        record = Queue(
            name,
            properties.get("durable", False),
            properties.get("auto_delete", False),
            properties.get("owner"),
            properties.get("arguments", {}),
            self.node,
            pid,
            (),
            (),
            (),
        )
        if self.commit(AddQueue(record)):
            self.processes[pid] = FakeQueue(pid, record, self)
            self._do(pid, self.processes[pid].begin())
        return pid

    def forget(self, name: str, master: Pid | None) -> None:
        self.commit(ForgetQueue(name, master))

    def run(self) -> None:
        while self._events:
            pid, event = self._events.popleft()
            process = self.processes.get(pid)
            if process is not None:
                self._do(pid, process.handle(event))

    # --- effects

    def _do(self, pid: Pid, effects: "list[Effect] | tuple[Effect, ...]") -> None:
        for effect in effects:
            self._carry_out(pid, effect)

    def _carry_out(self, pid: Pid, effect: Effect) -> None:
        match effect:
            case Send(to=to, body=body):
                self._events.append((to, body))
            case Transmit(octets=octets):
                self.sent[self._clients.get(pid, pid)] += octets
            case WhenWritten() if self.choked:
                self.waiting.append(pid)
            case WhenWritten():
                self._events.append((pid, Written()))
            case As(pid=other, effects=effects):
                self._do(other, effects)
            case Watch(pid=other) if other in self.processes:
                self._watchers[other].add(pid)
            case Watch(pid=other):
                self._events.append((pid, Down(other, NO_PROCESS)))
            case Unwatch(pid=other):
                self._watchers[other].discard(pid)
            case Arm(name=name, after_ms=after_ms):
                self.armed[pid, name] = after_ms
            case Disarm(name=name):
                self.armed.pop((pid, name), None)
            case Transact(request=request, command=command):
                self._events.append((pid, Committed(request, self.commit(command))))
            case Spawn(pid=other, process=process, client=client):
                self.processes[other] = process
                if client is not None:
                    self._clients[other] = client
            case Exit(reason=reason):
                self._end(pid, reason)
            case AppendTruth(lines=lines):
                self.admitted += lines
            case Hangup():
                self.hung_up.add(pid)
            case StopReading():
                self.unread.add(pid)
            case ReadOn():
                self.unread.remove(pid)
            case _:
                raise AssertionError(f"unknown effect {effect}")

    def _end(self, pid: Pid, reason: str) -> None:
        if self.processes.pop(pid, None) is None:
            return
        self.armed = {key: it for key, it in self.armed.items() if key[0] != pid}
        for watcher in sorted(self._watchers.pop(pid, ())):
            self._events.append((watcher, Down(pid, reason)))


class FakeSupervisor:
    def __init__(self, node: FakeNode) -> None:
        self._node = node
        self.refusal: Refused | None = None

    def handle(self, event: Any) -> list[Effect]:
        match event:
            case StartQueue():
                self._node.start_queue(
                    event.name,
                    durable=event.durable,
                    auto_delete=event.auto_delete,
                    owner=event.owner,
                    arguments=event.arguments,
                )
                return [Send(event.channel, Started(event.request))]
            case DeleteRecord(name=name):
                record = self._node.tables.queues[name]
                self._node.forget(name, record.master)
                return [Send(event.channel, Done(event.request, 0))]
        raise AssertionError(f"a supervisor is not told {event}")
