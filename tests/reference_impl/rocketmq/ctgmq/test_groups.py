"""What control nodes agree on, command by command; the memory of a replica; its frames."""

import pytest

from reference_impl.rocketmq.ctgmq.groups import (
    Alter,
    Enrol,
    Enrolled,
    GroupState,
    Promote,
    applied,
    read,
    written,
)
from reference_impl.rocketmq.ctgmq.kept import DOCUMENT, ReplicaMemory, common_end
from reference_impl.rocketmq.ctgmq.wire import FRAME_OCTETS_MAX, ReplicaFrames, SlaveAck, framed
from reference_impl.rocketmq.simulator.disks import MemoryDisk

TWO = {"a": Enrolled("1", "a:1"), "b": Enrolled("2", "b:1")}
BOTH = GroupState(TWO, "a", 3, ("a", "b"), 5)


def test_the_first_replica_becomes_the_master() -> None:
    state = applied(GroupState(), Enrol("g", "a", TWO["a"]), ())
    assert state == GroupState({"a": TWO["a"]}, "a", 1, ("a",), 1)
    assert applied(state, Enrol("g", "b", TWO["b"]), ()).master == "a"


def test_a_name_stays_with_the_store_that_took_it() -> None:
    assert applied(BOTH, Enrol("g", "a", Enrolled("9", "c:1")), ()) == BOTH


def test_a_set_is_changed_by_who_knows_the_last_one() -> None:
    assert applied(BOTH, Alter("g", 3, 5, ("a",)), ()).members == ("a",)
    for late in (Alter("g", 2, 5, ("a",)), Alter("g", 3, 4, ("a",))):
        assert applied(BOTH, late, ()) == BOTH


@pytest.mark.parametrize("members", [("b",), (), ("a", "stranger")])
def test_a_set_has_its_master_and_no_stranger(members: tuple[str, ...]) -> None:
    assert applied(BOTH, Alter("g", 3, 5, members), ()) == BOTH


def test_a_new_master_is_alone_in_the_set() -> None:
    assert applied(BOTH, Promote("g", 3, "b"), ()) == GroupState(TWO, "b", 4, ("b",), 6)
    assert applied(BOTH, Promote("g", 2, "b"), ()) == BOTH
    alone = GroupState(TWO, "a", 3, ("a",), 5)
    assert applied(alone, Promote("g", 3, "b"), ()) == alone


def test_a_command_is_read_as_it_was_written() -> None:
    for command in (Enrol("g", "a", TWO["a"]), Alter("g", 3, 5, ("a",)), Promote("g", 3, "b")):
        assert read(written(command)) == command


@pytest.mark.parametrize(
    ("one", "one_end", "other", "other_end", "common"),
    [
        ([(1, 0)], 50, [(1, 0)], 80, 50),
        ([(1, 0), (2, 50)], 90, [(1, 0)], 80, 50),
        ([(1, 0)], 40, [(1, 0), (2, 50)], 80, 40),
        ([(1, 0), (2, 50)], 90, [(1, 0), (2, 60)], 80, 50),
        ([(1, 0), (2, 0)], 0, [(1, 0)], 80, 0),
        ([(1, 0), (3, 50)], 90, [(1, 0), (2, 40), (3, 50)], 70, 70),
        ([(2, 10)], 50, [(1, 0)], 80, None),
    ],
)
def test_logs_are_equal_up_to_the_end_of_their_last_common_epoch(
    one: list[tuple[int, int]],
    one_end: int,
    other: list[tuple[int, int]],
    other_end: int,
    common: int | None,
) -> None:
    assert common_end(one, one_end, other, other_end) == common
    assert common_end(other, other_end, one, one_end) == common


def test_a_replica_remembers_across_the_loss_of_power() -> None:
    disk = MemoryDisk()
    memory = ReplicaMemory(disk, "code")
    memory.begin(1, 0)
    memory.lead(1)
    memory.acknowledged(70)
    memory.begin(2, 90)
    disk.lose_power()
    again = ReplicaMemory(disk, "another")
    assert (again.code, again.epochs) == ("code", [(1, 0), (2, 90)])
    assert (again.led_epoch, again.slave_ack) == (1, 70)
    assert again.epoch_at(89) == (1, 0, 90)
    assert again.epoch_at(90) == (2, 90, None)


def test_a_damaged_memory_is_refused() -> None:
    disk = MemoryDisk()
    disk.keep(DOCUMENT, b"{")
    with pytest.raises(ValueError, match="no memory of a replica"):
        ReplicaMemory(disk, "code")


def test_messages_come_whole_however_they_are_cut() -> None:
    octets = framed(SlaveAck(1, 10)) + framed(SlaveAck(1, 20))
    frames = ReplicaFrames()
    found = [one for at in range(len(octets)) for one in frames.take(octets[at : at + 1])]
    assert found == [SlaveAck(1, 10), SlaveAck(1, 20)]


@pytest.mark.parametrize(
    "octets", [b"\0\0\0\1x", (FRAME_OCTETS_MAX + 1).to_bytes(4), b"\0\0\0\2\xff\xff"]
)
def test_what_is_no_message_ends_the_connection(octets: bytes) -> None:
    with pytest.raises(ValueError, match=r"message"):
        [*ReplicaFrames().take(octets)]
