"""What a record asks of the node that looks at it."""

from random import Random

import pytest
from msgspec.structs import replace

from reference_impl.metadata.records import ForgetQueue, LoseMaster
from reference_impl.metadata.tables import Policy, Queue, Tables
from reference_impl.mirrored.upkeep import Changes, Restart, changes, recovery
from reference_impl.pid import Pid
from tests.reference_impl.mirrored.fixed_world import FixedWorld

A, B, C = (Pid(name, 1, 2) for name in "abc")
QUEUE = Queue("q", True, False, None, {}, "a", A, (), (), ())


class World(FixedWorld):
    """`ended`: processes that only their own node knows to be gone."""

    def __init__(self, node: str, running: tuple[str, ...], *ended: Pid) -> None:
        super().__init__(node, running)
        self._ended = ended

    def alive(self, pid: Pid) -> bool:
        is_known_dead = pid in self._ended and pid.node == self.node
        return pid.node in self._running and not is_known_dead


def test_a_requested_mirror_counts_as_present() -> None:
    tables = Tables(policies={"p": Policy("p", ".*", {"ha-mode": "all"}, 0, "all")})
    running = ("a", "b", "c")
    assert changes(tables, QUEUE, (), running, Random(1)).missing == ("b", "c")
    assert changes(tables, QUEUE, ("b",), running, Random(1)).missing == ("c",)
    full = replace(QUEUE, mirrors=(B,))
    assert changes(tables, full, ("b", "c"), running, Random(1)) == Changes()


def test_a_queue_comes_back_at_its_home() -> None:
    world = World("a", ("a", "b"), A)
    assert isinstance(recovery(world, QUEUE), Restart)
    assert isinstance(recovery(world, replace(QUEUE, master=None)), Restart)


def test_a_transient_queue_is_forgotten_by_its_home() -> None:
    transient = replace(QUEUE, durable=False)
    assert recovery(World("a", ("a",), A), transient) == ForgetQueue("q", A)


def test_a_queue_is_left_to_a_mirror_that_lives() -> None:
    mirrored = replace(QUEUE, mirrors=(B,))
    assert recovery(World("a", ("a", "b"), A), mirrored) is None
    assert recovery(World("c", ("b", "c")), mirrored) is None


def test_a_queue_that_waits_for_home_is_not_promoted_elsewhere() -> None:
    waiting = replace(QUEUE, master=None, mirrors=(B,), waits_for_home=True)
    assert isinstance(recovery(World("a", ("a", "b")), waiting), Restart)


def test_the_first_running_node_notes_a_loss() -> None:
    lose = LoseMaster("q", (A,), ("b", "c"))
    assert recovery(World("b", ("b", "c")), QUEUE) == lose
    assert recovery(World("c", ("b", "c")), QUEUE) is None


def test_the_node_of_the_last_replica_notes_its_loss() -> None:
    mirrored = replace(QUEUE, mirrors=(C,))
    lose = LoseMaster("q", (A, C), ("b", "c"))
    assert recovery(World("c", ("b", "c"), C), mirrored) == lose
    assert recovery(World("b", ("b", "c"), C), mirrored) is None


@pytest.mark.parametrize("running", [("a", "b"), ("b",)])
def test_a_recorded_recovery_is_not_repeated(running: tuple[str, ...]) -> None:
    assert recovery(World("b", running), replace(QUEUE, master=None)) is None
