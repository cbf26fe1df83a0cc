"""What a broker's log and queues hold, and what survives of them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference_impl.rocketmq.simulator.disks import MemoryDisk
from reference_impl.rocketmq.store.disk import Disk
from reference_impl.rocketmq.store.records import Record, read
from reference_impl.rocketmq.store.store import ReadResult, Status, Store
from reference_impl.shell.log_files import LogFolder
from tests.reference_impl.rocketmq.test_records import draft

FILE_OCTETS = 4096


def store(disk: Disk) -> Store:
    return Store(disk, file_octets=FILE_OCTETS, queue_file_octets=200)


def put(one: Store, count: int, first: int = 0, **more: object) -> None:
    for number in range(first, first + count):
        one.put(draft(**{"body": b"%d" % number, **more}), 1_000 + number)


def found(one: Store, offset: int = 0, most: int = 32, queue: int = 1) -> ReadResult:
    return one.find("t", queue, offset, most, lambda _: True)


def bodies(one: Store, queue: int = 1) -> list[int]:
    """All of a queue, pull by pull."""
    seen, offset = list[int](), 0
    while (answer := found(one, offset, queue=queue)).status is Status.FOUND:
        seen += [int(record.body) for record in records(answer.octets)]
        offset = answer.offset
    return seen


def records(octets: bytes) -> list[Record]:
    found = []
    while octets:
        record = read(octets)
        assert isinstance(record, Record)
        found.append(record)
        octets = octets[record.octets :]
    return found


@pytest.fixture(params=["memory", "files"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Disk:
    return MemoryDisk() if request.param == "memory" else LogFolder(tmp_path)


def test_messages_are_found_in_their_order_over_many_files(disk: Disk) -> None:
    one = store(disk)
    put(one, 300)
    assert bodies(one) == [*range(300)]
    assert one.log.end > 5 * FILE_OCTETS


def test_a_queue_has_offsets_of_its_own(disk: Disk) -> None:
    one = store(disk)
    put(one, 3)
    put(one, 2, queue=2)
    assert one.ends("t", 1) == (0, 3)
    assert one.ends("t", 2) == (0, 2)
    assert one.ends("t", 3) == (0, 0)
    assert bodies(one, queue=2) == [0, 1]


def test_after_a_crash_everything_that_was_written_is_there(disk: Disk) -> None:
    put(store(disk), 300)
    again = store(disk)
    assert again.crashed
    assert bodies(again) == [*range(300)]
    put(again, 5, first=300)
    assert bodies(store(disk)) == [*range(305)]


def test_a_store_that_was_closed_did_not_crash(disk: Disk) -> None:
    one = store(disk)
    put(one, 3)
    one.close()
    assert not store(disk).crashed


@given(st.integers(0, 60), st.integers(0, 60))
def test_a_power_loss_keeps_exactly_the_flushed_messages(flushed: int, more: int) -> None:
    disk = MemoryDisk()
    one = store(disk)
    put(one, flushed)
    one.flush()
    put(one, more, first=flushed)
    disk.lose_power()
    again = store(disk)
    seen = bodies(again)
    assert seen == [*range(flushed)]
    put(again, 3, first=flushed)
    assert bodies(again) == [*range(flushed + 3)]


def test_a_crash_leaves_no_unflushed_hole_under_later_flushed_messages() -> None:
    """The nightly schedules' find: what had been confirmed behind it was cut off with it."""
    disk = MemoryDisk()
    put(store(disk), 3)  # and its process crashes
    second = store(disk)
    put(second, 2, first=3)
    second.flush()
    disk.lose_power()
    assert bodies(store(disk)) == [*range(5)]


def test_the_log_is_cut_at_the_first_invalid_record(disk: Disk) -> None:
    one = store(disk)
    put(one, 10)
    damaged = one.at("t", 1, 7)
    assert damaged is not None
    disk.series("commitlog", FILE_OCTETS).write(damaged.position + 88, b"\xff")
    again = store(disk)
    assert bodies(again) == [*range(7)]
    assert again.log.end == damaged.position


def test_queues_that_were_lost_are_made_again_from_the_log(disk: Disk) -> None:
    put(store(disk), 60)
    disk.drop("consumequeue/t")
    assert bodies(store(disk)) == [*range(60)]


def test_prepared_and_rolled_back_messages_are_in_no_queue(disk: Disk) -> None:
    one = store(disk)
    for bits in (4, 12, 8, 0):
        put(one, 1, first=bits, sys_flag=bits)
    assert bodies(one) == [8, 0]
    assert bodies(store(disk)) == [8, 0]


def test_one_answer_has_32_messages_or_256_kibibytes_at_most(disk: Disk) -> None:
    """Return at least one message, even if it alone is larger."""
    one = Store(disk, file_octets=1 << 20, queue_file_octets=2000)
    put(one, 40)
    assert found(one).messages == 32
    assert found(one, most=5).messages == 5
    for number in range(4):
        one.put(draft(queue=2, body=bytes(100_000)), number)
    assert found(one, queue=2).messages == 2
    one.put(draft(queue=3, body=bytes(300_000)), 1)
    assert found(one, queue=3).messages == 1


def test_unwanted_messages_are_skipped(disk: Disk) -> None:
    one = store(disk)
    put(one, 5)
    answer = one.find("t", 1, 0, 32, lambda _: False)
    assert (answer.status, answer.offset) == (Status.NO_MATCH, 5)
    answer = one.find("t", 1, 0, 32, lambda code: code == ord("a"))
    assert (answer.status, answer.messages) == (Status.FOUND, 5)


@pytest.mark.parametrize(
    ("offset", "status", "next_offset"),
    [
        (2, Status.FOUND, 3),
        (3, Status.AT_END, 3),
        (9, Status.PAST_END, 3),
        (-1, Status.TOO_SMALL, 0),
    ],
)
def test_offsets_at_or_past_the_ends_say_where_to_continue(
    disk: Disk, offset: int, status: Status, next_offset: int
) -> None:
    one = store(disk)
    put(one, 3)
    answer = found(one, offset)
    assert (answer.status, answer.offset) == (status, next_offset)


def test_a_queue_that_is_not_there_is_none(disk: Disk) -> None:
    assert found(store(disk)).status is Status.NO_QUEUE


def test_an_offset_is_found_by_time(disk: Disk) -> None:
    one = store(disk)
    put(one, 10)
    assert [one.offset_at("t", 1, time_ms) for time_ms in (0, 1_004, 1_009, 2_000)] == [
        0,
        4,
        9,
        10,
    ]


def test_a_dropped_topic_is_gone_and_returns_empty(disk: Disk) -> None:
    one = store(disk)
    put(one, 3)
    one.drop("t")
    assert found(one).status is Status.NO_QUEUE
    put(one, 2, first=7)
    assert bodies(one) == [7, 8]
