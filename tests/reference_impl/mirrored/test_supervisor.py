"""The supervisor of one node, event by event."""

from typing import Any

from msgspec.structs import replace

from reference_impl.metadata.records import AddQueue, RemoveMirror, RestartMaster
from reference_impl.metadata.tables import Policy, Queue
from reference_impl.mirrored.messages import (
    MasterStarted,
    NotStarted,
    Regroup,
    Retire,
    ShutDown,
    StartMaster,
    StartMirror,
)
from reference_impl.mirrored.supervisor import Supervisor
from reference_impl.pid import Pid
from reference_impl.process import (
    CRASH,
    NO_CONNECTION,
    SHUTDOWN,
    SUPERVISOR,
    Changed,
    Committed,
    Down,
    Effect,
    Send,
    Spawn,
    Stopping,
    Transact,
    Watch,
    Wipe,
)
from reference_impl.protocol.queues import Started, StartQueue
from tests.reference_impl.mirrored.fixed_world import FixedWorld

ME, OTHER = Pid("a", 1, SUPERVISOR), Pid("b", 1, SUPERVISOR)
CHANNEL = Pid("a", 1, 50)


class World(FixedWorld):
    def __init__(self) -> None:
        super().__init__("a", ("a", "b"))
        self.ended: set[Pid] = set()
        self.boots = {"a": 1, "b": 1}

    def lose(self, node: str) -> None:
        del self.boots[node]
        self._running = tuple(self.boots)

    def alive(self, pid: Pid) -> bool:
        return self.boots.get(pid.node) == pid.boot and pid not in self.ended

    def well_known(self, node: str, number: int) -> Pid | None:
        return Pid(node, self.boots[node], number) if node in self.boots else None


class Rig:
    def __init__(self, **policy: Any) -> None:
        self.world = World()
        definition = {key.replace("_", "-"): value for key, value in policy.items()}
        self.world.tables.policies["p"] = Policy("p", ".*", definition, 0, "all")
        self.supervisor = Supervisor(ME, self.world)

    def handle(self, event: Any) -> list[Effect]:
        return self.supervisor.handle(event)

    def declare(self, **wish: Any) -> list[Effect]:
        return self.handle(start_queue(**wish))

    def declared(self, **wish: Any) -> Pid:
        """Its master; the record is in the tables."""
        effects = self.declare(**wish)
        (spawn,) = [it for it in effects if isinstance(it, Spawn)]
        (add,) = [it for it in effects if isinstance(it, Transact)]
        add.command.apply(self.world.tables)
        self.handle(Committed(add.request, True))
        return spawn.pid

    def record(self, record: Queue) -> list[Effect]:
        self.world.tables.queues["q"] = record
        return self.handle(Changed())


def start_queue(**wish: Any) -> StartQueue:
    return StartQueue(
        channel=wish.get("channel", CHANNEL),
        request=wish.get("request", 5),
        name="q",
        durable=True,
        auto_delete=False,
        owner=None,
        arguments=wish.get("arguments", {}),
    )


def spawned(effects: list[Effect]) -> list[Pid]:
    return [effect.pid for effect in effects if isinstance(effect, Spawn)]


def test_a_queue_process_starts_with_empty_disk_before_its_record() -> None:
    effects = Rig().declare()
    assert [type(effect) for effect in effects] == [Wipe, Spawn, Watch, Transact]
    (pid,) = spawned(effects)
    add = effects[-1]
    assert isinstance(add, Transact) and isinstance(add.command, AddQueue)
    assert add.command.queue.master == pid


def test_a_declaration_is_answered_when_the_requested_mirrors_are_listed() -> None:
    rig = Rig(ha_mode="all")
    effects = rig.declare()
    add = effects[-1]
    assert isinstance(add, Transact)
    add.command.apply(rig.world.tables)
    (master,) = spawned(effects)
    start = Send(OTHER, StartMirror(ME, "q", True))
    assert rig.handle(Committed(add.request, True)) == [Send(master, Regroup()), start]
    assert rig.handle(Changed()) == [Send(master, Regroup())]
    listed = replace(rig.world.tables.queues["q"], mirrors=(Pid("b", 1, 9),))
    assert Send(CHANNEL, Started(5)) in rig.record(listed)


def test_a_declaration_succeeds_although_a_mirror_could_not_start() -> None:
    rig = Rig(ha_mode="all")
    rig.declared()
    assert rig.handle(NotStarted("b", "q")) == [Send(CHANNEL, Started(5))]


def test_a_mirror_is_requested_again_after_its_node_rebooted() -> None:
    rig = Rig(ha_mode="all")
    rig.declared()
    rig.world.boots["b"] = 2
    start = StartMirror(ME, "q", True)
    assert Send(Pid("b", 2, SUPERVISOR), start) in rig.handle(Changed())
    assert [it for it in rig.handle(Changed()) if isinstance(it, Send) and it.body == start] == []


def test_an_equal_name_that_came_first_is_an_answer() -> None:
    rig = Rig()
    rig.declared()
    assert rig.declare(request=6) == [Send(CHANNEL, Started(6))]


def test_a_process_whose_name_was_taken_meanwhile_is_sent_away() -> None:
    rig = Rig()
    effects = rig.declare()
    (pid,) = spawned(effects)
    add = effects[-1]
    assert isinstance(add, Transact)
    after = rig.handle(Committed(add.request, False))
    assert after == [Send(pid, Retire(False)), Send(CHANNEL, Started(5))]


def test_a_master_that_no_record_names_yet_gets_no_regroup() -> None:
    rig = Rig()
    rig.declare()
    assert rig.handle(Changed()) == []


def elsewhere(rig: Rig) -> StartQueue:
    """A declaration that goes to the other node, for this one has a master already."""
    taken = Queue("x", True, False, None, {}, "a", Pid("a", 1, 9), (), (), ())
    rig.world.tables.queues["x"] = taken
    return start_queue(arguments={"x-queue-master-locator": "min-masters"})


def test_another_nodes_supervisor_is_queried_and_answers_for_it() -> None:
    rig = Rig()
    event = elsewhere(rig)
    assert rig.handle(event) == [Watch(OTHER), Send(OTHER, StartMaster(ME, 1, event))]
    assert rig.handle(MasterStarted(1)) == [Send(CHANNEL, Started(5))]
    assert rig.handle(MasterStarted(1)) == []


def test_a_declaration_falls_back_here_when_another_node_is_lost() -> None:
    rig = Rig()
    rig.handle(elsewhere(rig))
    rig.world.lose("b")
    effects = rig.handle(Down(OTHER, NO_CONNECTION))
    assert len(spawned(effects)) == 1
    assert rig.handle(Down(OTHER, NO_CONNECTION)) == []


def test_one_replica_of_a_queue_at_a_time() -> None:
    rig = Rig()
    (first,) = spawned(rig.handle(StartMirror(OTHER, "q", True)))
    assert rig.handle(StartMirror(OTHER, "q", True)) == []  # it is on its way
    later = Pid("b", 2, SUPERVISOR)
    assert rig.handle(StartMirror(later, "q", True)) == []
    effects = rig.handle(Down(first, SHUTDOWN))
    assert Send(OTHER, NotStarted("a", "q")) in effects
    assert len(spawned(effects)) == 1


def test_a_queue_comes_back_after_its_process_crashed() -> None:
    rig = Rig()
    master = rig.declared()
    rig.world.ended.add(master)
    effects = rig.handle(Down(master, CRASH))
    (again,) = spawned(effects)
    restart = RestartMaster("q", again, (master,), ("a", "b"))
    assert restart in [it.command for it in effects if isinstance(it, Transact)]


def test_a_queue_restarts_once_its_last_mirrors_node_has_rebooted() -> None:
    rig = Rig()
    gone, mirror = Pid("a", 0, 9), Pid("b", 1, 9)
    record = Queue("q", True, False, None, {}, "a", gone, (mirror,), (), ())
    assert spawned(rig.record(record)) == []  # the mirror may take over
    rig.world.boots["b"] = 2
    assert len(spawned(rig.handle(Changed()))) == 1


def test_an_own_mirrors_end_is_reported_unless_it_refused() -> None:
    rig = Rig()
    own = Pid("a", 1, 77)
    rig.world.ended.add(own)
    record = Queue("q", True, False, None, {}, "b", Pid("b", 1, 9), (own,), (), ())
    remove = Transact(0, RemoveMirror("q", own, ("a", "b")))
    assert remove in rig.record(record)
    waiting = replace(record, master=None, waits_for_home=True)
    assert remove not in rig.record(waiting)


def test_a_stopping_node_transfers_queues_and_starts_nothing() -> None:
    rig = Rig()
    master = rig.declared()
    assert rig.handle(Stopping()) == [Send(master, ShutDown())]
    assert rig.handle(StartMirror(OTHER, "other", True)) == []
    assert rig.declare() == []
    rig.world.ended.add(master)
    assert spawned(rig.handle(Down(master, SHUTDOWN))) == []
