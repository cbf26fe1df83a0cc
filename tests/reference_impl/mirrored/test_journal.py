"""What goes to disk, and when a message counts as being there."""

from reference_impl.mirrored.journal import Journal
from reference_impl.mirrored.store import Emptied, Put, Removed
from reference_impl.process import Flush, Write
from tests.reference_impl.mirrored.messages_of import message


def journal() -> Journal:
    return Journal("q", durable=True)


def test_only_persistent_messages_of_durable_queues_are_kept() -> None:
    assert journal().keeps(message("a"))
    assert not journal().keeps(message("a", persistent=False))
    assert not Journal("q", durable=False).keeps(message("a"))


def test_entries_go_out_in_their_order_and_are_flushed_together() -> None:
    disk = journal()
    disk.put(Put(1, message("a")))
    disk.put(Put(2, message("b")))
    disk.remove((1,))
    entries = (Put(1, message("a")), Put(2, message("b")), Removed((1,)))
    assert disk.flush() == [Write("q", entries), Flush("q", 1)]
    assert disk.flush() == []


def test_entries_without_a_waiting_confirm_are_not_flushed() -> None:
    disk = journal()
    disk.remove((1,))
    disk.page_out(Put(2, message("b")))
    disk.empty((2,))
    entries = (Removed((1,)), Put(2, message("b")), Emptied((2,)))
    assert disk.flush() == [Write("q", entries)]


def test_a_flush_covers_all_that_came_before_it() -> None:
    disk = journal()
    disk.put(Put(1, message("a")))
    disk.flush()
    disk.put(Put(2, message("b")))
    disk.flush()
    disk.put(Put(3, message("c")))
    assert disk.flushed(2) == [1, 2]
    assert disk.flushed(2) == []
    disk.flush()
    assert disk.flushed(3) == [3]
