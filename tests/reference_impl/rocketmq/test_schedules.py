"""Nothing that was confirmed is lost under what a mode is made for, whatever happens in whichever
order; and a rule that is not kept is found out."""

from itertools import count

import pytest

from reference_impl.rocketmq.broker.committing import Committing
from reference_impl.rocketmq.broker.copies import Copies
from reference_impl.rocketmq.store.log import CommitLog
from reference_impl.rocketmq.store.store import Store
from tests.reference_impl.rocketmq.schedules import MODES, Mode, lost

SCHEDULES = 100  # of each mode; many more of them by night
MANY = 33_000
FOUND_WITHIN = 150


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_no_confirmed_message_is_lost_within_each_modes_guarantee(mode: Mode) -> None:
    found = {seed: gone for seed in range(SCHEDULES) if (gone := lost(mode, seed))}
    assert found == {}


@pytest.mark.nightly
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_nothing_is_lost_in_many_more_schedules(mode: Mode) -> None:
    seeds = range(SCHEDULES, SCHEDULES + MANY)
    found = {seed: gone for seed in seeds if (gone := lost(mode, seed))}
    assert found == {}


def _found_after(mode: Mode) -> int:
    """How many schedules it takes until something is lost."""
    for number in count(1):
        if lost(mode, number) or number >= FOUND_WITHIN:
            return number
    raise AssertionError("count ends never")


def test_schedules_detect_a_master_that_confirms_before_its_slave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        Copies, "acknowledged", property(lambda _: 1 << 62, lambda *_: None), raising=False
    )
    assert _found_after(_mode("copied")) < FOUND_WITHIN


def test_schedules_detect_a_master_that_confirms_before_its_disk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Committing, "wants_flush", property(lambda _: False))
    begun = Committing._begun

    def at_once(self: Committing, *arguments: object) -> object:
        one = begun(self, *arguments)  # type: ignore[arg-type]
        one.for_disk = False
        return one

    monkeypatch.setattr(Committing, "_begun", at_once)
    assert _found_after(_mode("flushed")) < FOUND_WITHIN


def test_a_flush_that_flushes_nothing_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def flush(self: CommitLog) -> None:
        self.flushed = self.end

    monkeypatch.setattr(CommitLog, "flush", flush)
    assert _found_after(_mode("flushed")) < FOUND_WITHIN


def test_a_recovery_that_forgets_the_last_file_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recover = CommitLog.recover

    def forget(self: CommitLog, start: int | None = None) -> None:
        recover(self, start)
        self.truncate(max(self.start, self.end - 200))

    monkeypatch.setattr(CommitLog, "recover", forget)
    assert _found_after(_mode("crashes")) < FOUND_WITHIN


def test_schedules_detect_a_store_that_lists_unwritten_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every tenth message is confirmed, and in no log."""
    put, numbers = Store.put, count()

    def forgetful(self: Store, *arguments: object) -> object:
        end = self.log.end
        stored = put(self, *arguments)  # type: ignore[arg-type]
        if next(numbers) % 10 == 9:
            self.log.truncate(end)
        return stored

    monkeypatch.setattr(Store, "put", forgetful)
    assert _found_after(_mode("crashes")) < FOUND_WITHIN


def _mode(name: str) -> Mode:
    return next(mode for mode in MODES if mode.name == name)
