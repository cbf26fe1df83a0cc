"""The disk of a node keeps what it said that it keeps, whatever cuts it short."""

import threading
from pathlib import Path

from reference_impl.mirrored.store import Put, Removed, replayed
from reference_impl.pid import Pid
from reference_impl.protocol.queues import Message
from reference_impl.shell import disk as disk_module
from reference_impl.shell.disk import FolderDisk

QUEUE = Pid("ref1", 1, 7)


def message(body: bytes) -> Message:
    return Message(body, "", "orders", b"", body, True)


def put(number: int) -> Put:
    return Put(number, message(b"%d" % number))


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


def test_a_mark_comes_only_when_what_was_written_before_can_be_read(tmp_path: Path) -> None:
    marks = Marks()
    disk = FolderDisk(tmp_path, marks)
    disk.write("orders", (put(1), put(2)))
    disk.flush(QUEUE, "orders", 5)
    disk.hand_over()
    marks.wait()
    assert marks.seen == [5]
    # Another process reads what this one wrote: nothing was left in a buffer of ours.
    assert FolderDisk(tmp_path, Marks()).stored("orders") == (put(1), put(2))
    disk.close()


def test_a_log_that_was_cut_in_two_ends_at_its_last_whole_entry(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    disk.write("orders", (put(1), put(2)))
    disk.close()
    file = tmp_path / "queues" / "orders.log"
    whole = file.read_bytes()
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        again = FolderDisk(tmp_path, Marks())
        assert again.stored("orders") in ((), (put(1),))
        again.close()


def test_a_wiped_queue_holds_only_what_was_written_afterwards(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    disk.write("orders", (put(1),))
    disk.hand_over()
    disk.write("orders", (put(2),))
    disk.wipe("orders")
    disk.write("orders", (put(3),))
    assert disk.stored("orders") == (put(3),)
    disk.close()


def test_a_long_log_is_written_anew_without_what_was_removed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(disk_module, "REWRITE_ENTRIES", 10)
    disk = FolderDisk(tmp_path, Marks())
    for number in range(100):
        disk.write("orders", (put(number), Removed((number - 1,))))
    disk.write("orders", tuple(put(number) for number in range(100, 103)))
    stored = disk.stored("orders")
    assert list(replayed(stored)) == [99, 100, 101, 102]
    assert len(stored) < 30
    disk.close()


def test_names_of_queues_never_meet_in_one_file(tmp_path: Path) -> None:
    disk = FolderDisk(tmp_path, Marks())
    names = ["a/b", "a%2Fb", "..", "ü" * 255, "ü" * 254 + "x", ""]
    for number, name in enumerate(names):
        disk.write(name, (put(number),))
    assert [disk.stored(name) for name in names] == [(put(n),) for n in range(len(names))]
    assert {file.parent.name for file in tmp_path.rglob("*.log")} == {"queues"}
    disk.close()


def test_every_boot_has_a_number_of_its_own(tmp_path: Path) -> None:
    first = FolderDisk(tmp_path, Marks())
    boots = [first.next_boot(), first.next_boot(), FolderDisk(tmp_path, Marks()).next_boot()]
    assert boots == [1, 2, 3]
    first.close()
