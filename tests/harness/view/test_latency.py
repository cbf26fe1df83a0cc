"""The latency curve: what counts as a latency, and how it stays small."""

from pathlib import Path

import pytest

from harness.run_folder.rows import Unreadable
from harness.view.latency import Quantiles, latencies
from spark_analysis.schema.words import Outcome
from tests.rigs.histories.by_hand import History
from tests.rigs.runs.run_folders import write_run


def folder_of(tmp_path: Path, history: History) -> Path:
    return write_run(tmp_path / "run", *history.build())


def test_a_latency_counts_from_the_intended_time_in_the_second_it_was_intended_for(
    tmp_path: Path,
) -> None:
    story = History().publish(1, at_ms=1_900, intended_ms=900).confirm(1, at_ms=2_100)
    folder = folder_of(tmp_path, story)
    assert latencies(folder, story.facts, 1).slices == {0: Quantiles(1_200.0, 1_200.0, 1)}


def test_the_first_confirm_of_any_attempt_ends_it(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=0).settle(1, Outcome.UNKNOWN, at_ms=5)
    story.publish(1, at_ms=10, attempt=2).publish(1, at_ms=20, attempt=3)
    story.confirm(1, at_ms=90, attempt=3).confirm(1, at_ms=40, attempt=2)
    folder = folder_of(tmp_path, story)
    assert latencies(folder, story.facts, 1).slices == {0: Quantiles(40.0, 40.0, 1)}


def test_what_was_never_confirmed_has_none(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=0).not_sent(2, intended_ms=1)
    story.publish(3, at_ms=2).settle(3, Outcome.REFUSED, at_ms=3)
    assert latencies(folder_of(tmp_path, story), story.facts, 1).slices == {}


def test_at_rate_max_it_counts_from_the_first_sending(tmp_path: Path) -> None:
    story = History(paced=False).publish(1, at_ms=3).publish(1, at_ms=9, attempt=2)
    story.confirm(1, at_ms=13, attempt=2)
    folder = folder_of(tmp_path, story)
    assert latencies(folder, story.facts, 1).slices == {0: Quantiles(10.0, 10.0, 1)}


def test_percentiles_are_values_that_were_measured(tmp_path: Path) -> None:
    story = History()
    for number in range(100):
        story.publish(number, at_ms=number).confirm(number, at_ms=2 * number + 1)
    folder = folder_of(tmp_path, story)
    assert latencies(folder, story.facts, 1).slices == {0: Quantiles(50.0, 99.0, 100)}


def test_two_producers_with_the_same_sequence_are_two_messages(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=0).publish(1, at_ms=0, producer=9)
    story.confirm(1, at_ms=4).confirm(1, at_ms=8, producer=9)
    folder = folder_of(tmp_path, story)
    assert latencies(folder, story.facts, 1).slices == {0: Quantiles(4.0, 8.0, 2)}


def test_canaries_are_left_out(tmp_path: Path) -> None:
    story = History().publish(1, at_ms=0, producer=-1).confirm(1, at_ms=4, producer=-1)
    assert latencies(folder_of(tmp_path, story), story.facts, 1).slices == {}


def test_of_too_many_messages_every_nth_is_looked_at_and_n_is_told(tmp_path: Path) -> None:
    story = History().flow(range(100), from_ms=0, every_ms=1)
    found = latencies(folder_of(tmp_path, story), story.facts, 1, messages_max=30)
    assert found.every == 4
    assert found.slices[0].messages == 25


def test_a_run_without_tables_has_no_curve(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, History())
    assert latencies(folder, History().facts, 1).slices == {}


def test_a_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    story = History().publish(1).confirm(1)
    folder = folder_of(tmp_path, story)
    (folder / "raw" / "settlements.parquet").write_bytes(b"no parquet")
    with pytest.raises(Unreadable, match=r"settlements\.parquet cannot be read"):
        latencies(folder, story.facts, 1)
