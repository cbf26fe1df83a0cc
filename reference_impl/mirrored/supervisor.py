"""Process 0 of a node: it starts and ends the node's replicas (docs/behaviour/rabbitmq.md 1A, 1C,
1E).

1. Whenever tables or the view of running nodes have changed, it tells its replicas, and sees to
   what their records ask of this node (upkeep.py). So a node that boots recovers its queues, a
   mirror that is lost is replaced, and a new policy takes effect, by one rule.
2. A process is there before a record names it.
3. A declaration is answered when the mirrors that were asked for are listed, or have ended.
4. It reports the end of its own mirrors: there may be no member of the ring left to notice it.
5. A node that stops gracefully starts nothing any more, but still reports ends.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from reference_impl.metadata.records import (
    AddQueue,
    ForgetQueue,
    RemoveMirror,
    RestartMaster,
    replicas,
)
from reference_impl.metadata.tables import Group, Queue
from reference_impl.mirrored.declarations import Declarations, record_of, started
from reference_impl.mirrored.local_replicas import LocalReplicas
from reference_impl.mirrored.messages import (
    MasterStarted,
    NotStarted,
    Retire,
    StartMaster,
    StartMirror,
)
from reference_impl.mirrored.placement import first_node
from reference_impl.mirrored.upkeep import Restart, changes, recovery
from reference_impl.misbehave.kinds import Misbehaviour
from reference_impl.pid import Pid
from reference_impl.process import (
    SUPERVISOR,
    Changed,
    Committed,
    Down,
    Effect,
    Send,
    Stopping,
    Transact,
    World,
)
from reference_impl.protocol.queues import DeleteRecord, Done, StartQueue

_UNANSWERED = 0  # the request of commands whose result shows in the tables


@dataclass(frozen=True, slots=True)
class _Starting:
    """A master whose record is on its way into the tables."""

    name: str
    pid: Pid


@dataclass(frozen=True, slots=True)
class _Forgetting:
    channel: Pid
    request: int


@dataclass(slots=True)
class _Seen:
    """The findings of the last look."""

    boots: list[Pid | None] = field(default_factory=list)  # of running nodes
    policies: dict[str, Any] = field(default_factory=dict)
    records: dict[str, tuple[Queue | None, Group | None]] = field(default_factory=dict)


class Supervisor:
    def __init__(self, pid: Pid, world: World, misbehaviour: Misbehaviour | None = None) -> None:
        self._pid = pid
        self._world = world
        self._chance = Random(f"{pid.node}/{pid.boot}/placement")
        self._local = LocalReplicas(world, misbehaviour)
        self._declarations = Declarations(pid)
        self._requested: dict[str, dict[str, Pid]] = {}  # queue -> node -> its supervisor
        self._requests: dict[int, _Starting | _Forgetting] = {}
        self._request = _UNANSWERED
        self._submitted: dict[str, Queue] = {}  # for which record a recovery is on its way
        self._seen = _Seen()
        self._stopping = False
        self._out: list[Effect] = []
        self._kinds: dict[type, Callable[[Any], None]] = {
            Changed: self._changed,
            Committed: self._committed,
            Down: self._down,
            StartQueue: self._start_queue,
            StartMaster: self._start_master,
            MasterStarted: self._master_started,
            StartMirror: self._start_mirror,
            NotStarted: self._not_started,
            DeleteRecord: self._delete_record,
            Stopping: self._stop,
        }

    def handle(self, event: Any) -> list[Effect]:
        out = self._out = self._local.out = []
        kind = self._kinds.get(type(event))
        if kind is not None:
            kind(event)
        return out

    def _record(self, name: str) -> Queue | None:
        return self._world.tables.queues.get(name)

    # --- looking

    def _changed(self, _: Changed) -> None:
        tables, seen = self._world.tables, self._seen
        boots = [self._world.well_known(it, SUPERVISOR) for it in self._world.running()]
        policies = dict(tables.policies)
        everything = boots != seen.boots or policies != seen.policies
        seen.boots, seen.policies = boots, policies
        for name, record in list(tables.queues.items()):
            group = tables.groups.get(name)
            before = seen.records.get(name, (None, None))
            if everything or before[0] is not record or before[1] is not group:
                self._look(name, record, group)
        for name in list(dict.fromkeys([*seen.records, *self._local])):
            if name not in tables.queues:
                self._look(name, None, None)

    def _look(self, name: str, record: Queue | None, group: Group | None) -> None:
        self._local.regroup(name, record)
        if record is None:
            self._seen.records.pop(name, None)
            self._requested.pop(name, None)
        else:
            self._seen.records[name] = record, group
            self._keep_up(record)
        self._answer_declared(name)

    def _keep_up(self, record: Queue) -> None:
        if self._stopping:
            self._report_ends(record)
            return
        master = record.master
        lives = master is not None and self._world.alive(master)
        if lives and record.home == self._world.node:
            self._place(record)
        else:
            self._requested.pop(record.name, None)
        if not lives:
            self._recover(record)
        self._report_ends(record)

    def _report_ends(self, record: Queue) -> None:
        """Of its own mirrors, except those that refused: others wait behind them."""
        for pid in record.mirrors:
            is_own = pid.node == self._world.node and not self._world.alive(pid)
            if is_own and not record.waits_for_home:
                remove = RemoveMirror(record.name, pid, self._world.running())
                self._out.append(Transact(_UNANSWERED, remove))

    def _place(self, record: Queue) -> None:
        requested = self._still_requested(record)
        running = self._world.running()
        wanted = changes(self._world.tables, record, list(requested), running, self._chance)
        for node in wanted.missing:
            supervisor = self._world.well_known(node, SUPERVISOR)
            if supervisor is not None:
                requested[node] = supervisor
                start = StartMirror(self._pid, record.name, record.durable)
                self._out.append(Send(supervisor, start))
        for mirror in wanted.surplus:
            self._out.append(Send(mirror, Retire(True)))
        if wanted.master_leaves:
            assert record.master is not None, record
            self._out.append(Send(record.master, Retire(True)))

    def _still_requested(self, record: Queue) -> dict[str, Pid]:
        """Without those that are listed by now, and those whose node is another."""
        listed = {pid.node for pid in record.mirrors}
        requested = {
            node: supervisor
            for node, supervisor in self._requested.get(record.name, {}).items()
            if node not in listed and self._world.well_known(node, SUPERVISOR) == supervisor
        }
        self._requested[record.name] = requested
        return requested

    def _recover(self, record: Queue) -> None:
        name = record.name
        if name in self._local or self._submitted.get(name) is record:
            return
        match recovery(self._world, record):
            case None:
                return
            case Restart():
                pid, running = self._local.restart_master(name), self._world.running()
                gone = tuple(it for it in replicas(record) if not self._world.alive(it))
                self._submit(_Starting(name, pid), RestartMaster(name, pid, gone, running))
            case command:
                self._submitted[name] = record
                self._out.append(Transact(_UNANSWERED, command))

    # --- starting

    def _start_queue(self, event: StartQueue) -> None:
        """From a channel of this node."""
        tables, here = self._world.tables, self._world.node
        running = self._world.running()
        node = first_node(tables, record_of(event, here, None), here, running, self._chance)
        supervisor = self._world.well_known(node, SUPERVISOR)
        if supervisor is None or supervisor == self._pid:
            self._declare(event, event.channel, event.request)
        else:
            self._out += self._declarations.pass_on(supervisor, event)

    def _start_master(self, event: StartMaster) -> None:
        """From another node's supervisor."""
        self._declare(event.queue, event.asker, event.request)

    def _declare(self, event: StartQueue, asker: Pid, request: int) -> None:
        name = event.name
        if self._stopping:
            return
        if name in self._declarations:
            self._declarations.add(name, asker, request)
        elif self._record(name) is not None:
            self._out.append(started(asker, request))
        elif name in self._local:
            self._local.after(name, lambda: self._declare(event, asker, request))
        else:
            self._declarations.add(name, asker, request)
            pid = self._local.new_master(name, event.durable and event.owner is None)
            add = AddQueue(record_of(event, self._world.node, pid))
            self._submit(_Starting(name, pid), add)

    def _start_mirror(self, event: StartMirror) -> None:
        name = event.queue
        if self._stopping:
            return
        if name not in self._local:
            self._local.new_mirror(name, event.durable, event.asker)
        elif not self._local.serves(name, event.asker):
            self._local.after(name, lambda: self._start_mirror(event))

    def _submit(self, what: _Starting | _Forgetting, command: Any) -> None:
        self._request += 1
        self._requests[self._request] = what
        self._out.append(Transact(self._request, command))

    # --- answers

    def _committed(self, event: Committed) -> None:
        match self._requests.pop(event.request, None):
            case _Starting(name=name, pid=pid):
                self._master_recorded(name, pid, bool(event.result))
            case _Forgetting(channel=channel, request=request):
                self._out.append(Send(channel, Done(request, 0)))

    def _master_recorded(self, name: str, pid: Pid, recorded: bool) -> None:
        self._local.recorded(name, pid, recorded)
        record = self._record(name)
        if recorded and record is not None:
            self._keep_up(record)
        self._answer_declared(name)

    def _answer_declared(self, name: str) -> None:
        """If nothing is awaited any longer."""
        if name not in self._declarations or self._requested.get(name):
            return
        if any(isinstance(it, _Starting) and it.name == name for it in self._requests.values()):
            return
        self._out += self._declarations.answer(name)

    def _master_started(self, event: MasterStarted) -> None:
        self._out += self._declarations.answered(event)

    def _not_started(self, event: NotStarted) -> None:
        self._requested.get(event.queue, {}).pop(event.node, None)
        self._answer_declared(event.queue)

    def _delete_record(self, event: DeleteRecord) -> None:
        record = self._record(event.name)
        master = None if record is None else record.master
        forget = ForgetQueue(event.name, master)
        self._submit(_Forgetting(event.channel, event.request), forget)

    # --- ends

    def _down(self, event: Down) -> None:
        name = self._local.ended(event.pid)
        if name is None:
            for declaration in self._declarations.lost(event.pid):
                self._start_queue(declaration)
            return
        record = self._record(name)
        if record is not None:
            self._keep_up(record)

    def _stop(self, _: Stopping) -> None:
        self._stopping = True
        self._local.shut_down()
