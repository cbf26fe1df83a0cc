"""A member's log on a disk: what is found again after a crash, a power loss, and damage."""

import pytest

from reference_impl.rocketmq.dledger.election import Ballot
from reference_impl.rocketmq.dledger.entries import EMPTY, HEAD_OCTETS, MESSAGE
from reference_impl.rocketmq.dledger.ledger import NONE, Ledger
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.simulator.disks import MemoryDisk

SETTINGS = MemberSettings(group="g", name="n0", peers={"n0": "n0:1"}, file_octets=1024)


def _filled(disk: MemoryDisk, entries: int, octets: int = 100) -> Ledger:
    ledger = Ledger(disk, SETTINGS)
    for number in range(entries):
        ledger.append(MESSAGE, 1, lambda _, number=number: bytes([number]) * octets)  # type: ignore[misc]
    return ledger


def _bodies(ledger: Ledger) -> list[bytes]:
    entries = (ledger.entry(index) for index in range(ledger.end_index + 1))
    return [entry.body for entry in entries if entry is not None]


def test_a_body_learns_where_it_stands() -> None:
    ledger, places = _filled(MemoryDisk(), 3), list[int]()
    entry = ledger.append(MESSAGE, 1, lambda at: places.append(at) or b"x")  # type: ignore[func-returns-value]
    assert places == [entry.position + HEAD_OCTETS] == [3 * (HEAD_OCTETS + 100) + HEAD_OCTETS]


def test_an_entry_that_does_not_fit_begins_the_next_file() -> None:
    ledger = _filled(MemoryDisk(), 8)
    assert [ledger.entry(index).position for index in (5, 6, 7)] == [740, 1024, 1172]  # type: ignore[union-attr]
    ledger.commit(7)
    assert [entry.index for entry in ledger.committed_from(0)] == [*range(8)]


def test_everything_written_is_there_after_a_crash() -> None:
    disk = MemoryDisk()
    before = _filled(disk, 60)
    before.commit(41)
    before.keep_committed()
    after = Ledger(disk, SETTINGS)
    assert _bodies(after) == _bodies(before)
    assert (after.end, after.end_term, after.committed_index) == (before.end, 1, 41)
    assert after.committed == before.committed


def test_only_what_was_flushed_is_there_after_a_power_loss() -> None:
    disk = MemoryDisk()
    ledger = _filled(disk, 9)
    ledger.flush()
    ledger.append(EMPTY, 2, lambda _: b"")
    assert (ledger.flushed_index, ledger.end_index) == (8, 9)
    disk.lose_power()
    after = Ledger(disk, SETTINGS)
    assert (after.end_index, after.end_term) == (8, 1)


def test_recovery_flushes_what_a_crash_left() -> None:
    disk = MemoryDisk()
    _filled(disk, 9)
    Ledger(disk, SETTINGS)
    disk.lose_power()
    assert Ledger(disk, SETTINGS).end_index == 8


def test_recovery_cuts_the_log_at_what_is_no_entry() -> None:
    disk = MemoryDisk()
    ledger = _filled(disk, 9)
    entry = ledger.entry(7)
    assert entry is not None
    disk.series("dledger-n0/data", 1024).write(entry.end - 1, b"?")
    assert Ledger(disk, SETTINGS).end_index == 6


def test_cutting_the_log_reports_whether_committed_entries_were_lost() -> None:
    ledger = _filled(MemoryDisk(), 9)
    ledger.commit(4)
    assert not ledger.cut(6)
    assert (ledger.end_index, ledger.entry(7), ledger.committed_index) == (6, None, 4)
    assert ledger.cut(3)
    assert (ledger.end_index, ledger.committed_index) == (3, 3)
    assert ledger.cut(NONE)
    assert (ledger.end, ledger.end_index, ledger.end_term) == (0, NONE, NONE)


def test_a_follower_accepts_what_follows_its_last_entry() -> None:
    leader, follower = _filled(MemoryDisk(), 9), _filled(MemoryDisk(), 0)
    for index in range(9):
        entry = leader.entry(index)
        assert entry is not None
        assert follower.accept(entry)
        assert not follower.accept(entry)
    assert follower.end == leader.end
    assert _bodies(follower) == _bodies(leader)


def test_a_ballot_is_remembered_before_it_counts() -> None:
    disk = MemoryDisk()
    ballot = Ballot(disk, SETTINGS)
    ballot.enter(3)
    ballot.cast("n1")
    again = Ballot(disk, SETTINGS)
    assert (again.term, again.vote) == (3, "n1")
    again.enter(4)
    assert (Ballot(disk, SETTINGS).term, Ballot(disk, SETTINGS).vote) == (4, "")


def test_a_member_with_a_spoilt_ballot_does_not_start() -> None:
    disk = MemoryDisk()
    disk.keep("dledger-n0/currterm", b"{")
    with pytest.raises(ValueError, match="no term and vote"):
        Ballot(disk, SETTINGS)
