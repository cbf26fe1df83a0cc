"""Each publisher's sends, second by second: which of them failed."""

from pathlib import Path

from harness.view.routes import Row
from harness.view.sending import FAILING, WELL, sending
from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import History
from tests.rigs.runs.run_folders import write_run
from tests.rigs.runs.told_runs import manifest_of


def rows_of(history: History, folder: Path) -> tuple[Row, ...]:
    facts, rows = history.build()
    return sending(write_run(folder / "run", facts, rows), manifest_of(facts))


def test_seconds_with_a_failure_are_told_from_those_without_and_empty_ones_are_none(
    tmp_path: Path,
) -> None:
    history = History()
    history.publish(1, at_ms=100).confirm(1).publish(2, at_ms=1_100).confirm(2)
    history.publish(3, at_ms=2_100).settle(3, Outcome.UNKNOWN).publish(4, at_ms=2_200).confirm(4)
    history.publish(5, at_ms=5_000).confirm(5)
    (row,) = rows_of(history, tmp_path)
    assert row.name == "publisher-1"
    told = [(one.from_ns // 10**9, one.until_ns // 10**9, one.state) for one in row.stretches]
    assert told == [(0, 2, WELL), (2, 3, FAILING), (5, 6, WELL)]
    assert row.stretches[1].text == "50% failed"


def test_what_was_confirmed_after_all_did_not_fail_and_what_was_never_sent_is_none(
    tmp_path: Path,
) -> None:
    history = History().publish(1, at_ms=100).settle(1, Outcome.UNKNOWN).confirm(1)
    history.publish(2, at_ms=200).settle(2, Outcome.UNKNOWN)
    history.publish(2, attempt=2, at_ms=1_300).confirm(2, attempt=2)
    history.not_sent(3, intended_ms=9_000)
    (row,) = rows_of(history, tmp_path)
    assert [one.state for one in row.stretches] == [FAILING, WELL]
    assert row.stretches[0].title.startswith("publisher-1: 1 of 2 failed")


def test_without_confirms_nobody_knows_what_failed(tmp_path: Path) -> None:
    assert rows_of(History(confirms=False).publish(1), tmp_path) == ()
