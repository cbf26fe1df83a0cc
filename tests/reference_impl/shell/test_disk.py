"""The disk of a node keeps what it said that it keeps, whatever cuts it short."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reference_impl.mirrored.store import Emptied, Put, Removed
from reference_impl.pid import Pid
from reference_impl.protocol.queues import Message
from reference_impl.shell.disk import WAITING_OCTETS, FolderDisk
from reference_impl.shell.segments import BEGINS_ANEW_OCTETS, OPEN_MAX, Segments

QUEUE = Pid("ref1", 1, 7)
ROOT = Path(__file__).parents[3]


def message(body: bytes) -> Message:
    return Message(body, "", "orders", b"", body, True)


def put(number: int) -> Put:
    return Put(number, message(b"%d" % number))


def held(disk: FolderDisk, queue: str = "orders") -> list[Put]:
    return [put for segment in disk.stored(queue) for put in disk.segment(queue, segment).values()]


class Marks:
    """Waits for marks that the disk's thread tells."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._came = threading.Event()

    def __call__(self, marks: list[tuple[Pid, int]]) -> None:
        self.seen += [mark for _, mark in marks]
        self._came.set()

    def wait(self) -> None:
        assert self._came.wait(5)


def test_a_flush_mark_comes_only_when_earlier_writes_are_readable(tmp_path: Path) -> None:
    marks = Marks()
    disk = FolderDisk(tmp_path, marks)
    disk.write("orders", (put(1), put(2)))
    disk.flush(QUEUE, "orders", 5)
    disk.submit_due()
    marks.wait()
    assert marks.seen == [5]
    # Another process reads what this one wrote: nothing was left in a buffer of ours.
    assert held(FolderDisk(tmp_path, Marks())) == [put(1), put(2)]
    disk.close()


def test_a_truncated_log_ends_at_its_last_whole_entry(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    disk.write("orders", (put(1), put(2)))
    disk.close()
    (file,) = (tmp_path / "queues" / "orders.queue").iterdir()
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        again = FolderDisk(tmp_path, Marks())
        assert held(again) in ([], [put(1)])
        again.close()


def test_an_entry_after_a_truncation_is_not_joined_with_it(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    disk.write("orders", (put(1), put(2)))
    disk.close()
    (file,) = (tmp_path / "queues" / "orders.queue").iterdir()
    whole = file.read_bytes()
    for length in range(len(whole) + 1):
        file.write_bytes(whole[:length])
        after = FolderDisk(tmp_path, Marks())
        before = held(after)
        after.write("orders", (put(3),))
        after.close()
        again = FolderDisk(tmp_path, Marks())
        assert held(again) == [*before, put(3)]
        again.close()


def test_a_full_disk_during_an_entry_costs_only_that_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = Segments(tmp_path / "q")
    queue.append([put(1)])
    write = os.write

    def full(file: int, octets: bytes) -> int:
        write(file, octets[: len(octets) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(OSError, match="No space left"):
            queue.append([put(2)])
    queue.close()
    after = Segments(tmp_path / "q")
    after.append([put(3), Removed((1,)), put(4)])
    after.close()
    found = Segments(tmp_path / "q").found(0)
    assert list(found.values()) == [put(3), put(4)]


def test_bytes_that_begin_no_entry_end_the_file(tmp_path: Path) -> None:
    """Pages that were never written are zeros after a loss of power."""
    queue = Segments(tmp_path / "q")
    queue.append([put(1)])
    queue.close()
    (file,) = (tmp_path / "q").iterdir()
    with file.open("ab") as log:
        log.write(bytes(1_000))
    after = Segments(tmp_path / "q")
    after.append([put(2)])
    after.close()
    assert list(Segments(tmp_path / "q").found(0).values()) == [put(1), put(2)]


# A node's disk that is full: whatever is written fails.
FULL = """
import errno, os, sys
from pathlib import Path
from reference_impl.shell import disk
from tests.reference_impl.shell.test_disk import put
def full(*_):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
disk.write_saved = disk.Segments.append = full
there = disk.FolderDisk(Path(sys.argv[1]), print)
{steps}
print("it goes on")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "steps",
    ["there.save(None)", 'there.write("orders", (put(1),)); there.submit_due(); there.close()'],
    ids=["tables", "messages"],
)
def test_a_full_disk_ends_the_node_and_it_says_so(steps: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", FULL.format(steps=steps), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the disk failed: [Errno 28] No space left on device" in done.stderr


def test_a_wiped_queue_holds_only_what_was_written_afterwards(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    disk.write("orders", (put(1),))
    disk.submit_due()
    disk.write("orders", (put(2),))
    disk.wipe("orders")
    disk.write("orders", (put(3),))
    assert held(disk) == [put(3)]
    disk.close()


def test_an_empty_segment_is_deleted_when_a_later_one_exists(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    disk.write("orders", tuple(put(number) for number in range(6_000)))
    assert disk.stored("orders") == (0, 1, 2)
    disk.write("orders", (Removed(tuple(range(100, 5_000))),))
    assert disk.stored("orders") == (0, 2)
    assert [it.number for it in held(disk)] == [*range(100), *range(5_000, 6_000)]
    disk.close()


def test_messages_of_an_earlier_boot_are_removed_alike(tmp_path: Path) -> None:
    first = FolderDisk(tmp_path, Marks())
    first.write("orders", tuple(put(number) for number in range(4_000)))
    first.close()
    again = FolderDisk(tmp_path, Marks())
    again.write("orders", (Removed(tuple(range(2_048))), Removed((3_000,))))
    assert again.stored("orders") == (1,)
    assert len(held(again)) == 4_000 - 2_048 - 1
    again.close()


def test_writes_beyond_the_buffer_limit_reach_the_file(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    body = bytes(1 << 20)
    for number in range((WAITING_OCTETS >> 20) + 1):
        assert not list((tmp_path / "queues").glob("*/*.log")), "it was not handed over"
        disk.write("orders", (Put(number, message(body)),))
    (file,) = (tmp_path / "queues").glob("*/*.log")
    assert file.stat().st_size > WAITING_OCTETS
    disk.close()


def test_an_emptied_queue_keeps_the_exempted_and_the_later_messages(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    disk.write("orders", (*map(put, range(5_000)), Emptied((7, 4_999)), put(5_000)))
    assert held(disk) == [put(7), put(4_999), put(5_000)]
    assert disk.stored("orders") == (0, 2)
    disk.close()


def test_found_messages_are_readable_after_their_file_is_deleted(tmp_path: Path) -> None:
    queue = Segments(tmp_path / "q", segment=2)
    queue.append([put(1), put(2)])
    found = queue.found(0)
    queue.append([Removed((1,))])
    assert queue.stored() == (1,)
    assert found[1] == put(1)
    queue.close()


def test_many_segments_are_written_with_few_files_open(tmp_path: Path) -> None:
    queue = Segments(tmp_path / "q", segment=2)
    queue.append([put(number) for number in range(20 * OPEN_MAX)])
    queue.flush()
    assert len(queue._files) == OPEN_MAX
    queue.append([Removed((0, 1)), put(1_000)])
    queue.flush()
    assert queue.stored()[0] == 1
    queue.close()


def test_a_queue_that_is_always_empty_does_not_grow(tmp_path: Path) -> None:
    queue = Segments(tmp_path / "q")
    large = Message(b"", "", "", b"", bytes(BEGINS_ANEW_OCTETS // 4), True)
    for number in range(100):
        queue.append([Put(number, large)])
        queue.append([Removed((number,))])
    assert (
        sum(file.stat().st_size for file in (tmp_path / "q").iterdir()) <= 2 * BEGINS_ANEW_OCTETS
    )
    queue.close()


def test_names_of_queues_never_meet_in_one_file(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    names = ["a/b", "a%2Fb", "..", "ü" * 255, "ü" * 254 + "x", ""]
    for number, name in enumerate(names):
        disk.write(name, (put(number),))
    assert [held(disk, name) for name in names] == [[put(n)] for n in range(len(names))]
    assert {file.parent.parent for file in tmp_path.rglob("*.log")} == {tmp_path / "queues"}
    disk.close()


def test_every_boot_has_a_number_of_its_own(tmp_path: Path) -> None:
    first = FolderDisk(tmp_path, Marks())
    boots = [first.next_boot(), first.next_boot(), FolderDisk(tmp_path, Marks()).next_boot()]
    assert boots == [1, 2, 3]
    first.close()
