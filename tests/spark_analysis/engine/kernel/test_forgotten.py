"""What was given out and never came again, by the kernels alone."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from spark_analysis.engine import tables
from spark_analysis.engine.columns import Column, ColumnCache
from spark_analysis.engine.judge import judge
from spark_analysis.engine.kernel.events.arrivals import arrivals
from spark_analysis.engine.kernel.events.messages import fold
from spark_analysis.engine.kernel.fates.not_redelivered import not_redelivered
from spark_analysis.engine.kernel.records import Attempts, Deliveries, Settlements, Terms
from spark_analysis.engine.tables import RunFolder
from tests.rigs.histories.both_judges import Memory, raw_columns
from tests.rigs.histories.by_hand import History
from tests.rigs.runs.run_folders import write_run


def rows_of(history: History, mart: str = "counts") -> set[tuple[object, ...]]:
    facts, rows = history.build()
    names = ("measure", "detail", "windows" if mart == "attributions" else "count")
    found = judge(facts, Memory(raw_columns(rows)))[mart].to_pylist()
    return {
        tuple(row[name] for name in names)
        for row in found
        if row["measure"].startswith("not_redelivered")
    }


def given_out() -> History:
    return History().publish(1, at_ms=100).confirm(1).deliver(1, at_ms=110, tag=5)


def test_an_ended_connection_needs_a_redelivery() -> None:
    assert rows_of(given_out()) == set()
    assert rows_of(given_out().client_event("lost", at_ms=200)) == {("not_redelivered", "", 1)}


@pytest.mark.parametrize(("at_ms", "not_redelivered"), [(109, False), (110, True)])
def test_a_connection_that_had_ended_before_gave_nothing_out(
    at_ms: float, not_redelivered: bool
) -> None:
    assert bool(rows_of(given_out().client_event("closed", at_ms=at_ms))) is not_redelivered


def test_only_acknowledgements_of_the_same_connection_before_its_end_count() -> None:
    def ended() -> History:
        return given_out().client_event("lost", at_ms=200)

    forgotten = {("not_redelivered", "", 1)}
    elsewhere = ended().acknowledge(1, 4, at_ms=150).acknowledge(5, at_ms=150, connection=2)
    assert rows_of(elsewhere) == forgotten
    assert rows_of(ended().acknowledge(1, 5, at_ms=200)) == set()
    at_the_end = {("not_redelivered_unknown", "acknowledged_at_the_end", 1)}
    assert rows_of(ended().acknowledge(1, 5, at_ms=1_200)) == at_the_end
    assert rows_of(ended().acknowledge(1, 5, at_ms=1_200.000_001)) == forgotten


def test_a_redelivered_message_is_not_missing() -> None:
    again = given_out().client_event("lost", at_ms=200).deliver(1, at_ms=300, connection=2)
    assert rows_of(again) == set()


def test_a_copy_that_was_acknowledged_before_is_enough() -> None:
    first = given_out().acknowledge(5, at_ms=120).deliver(1, at_ms=130, tag=6)
    assert rows_of(first.client_event("lost", at_ms=200)) == set()


def test_windows_that_were_over_before_are_not_charged_with_it() -> None:
    history = given_out().window(50, over_ms=100).window(60, over_ms=110).window(900, over_ms=950)
    lost = history.client_event("lost", at_ms=200)
    assert rows_of(lost, "attributions") == {("not_redelivered", "", "2,3")}


def test_columns_of_deliveries_are_read_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = given_out().client_event("lost", at_ms=200).publish(2, at_ms=120).confirm(2)
    history.deliver(2, at_ms=130, tag=6).acknowledge(6, at_ms=300).deliver(2, at_ms=400, tag=7)
    facts, rows = history.deliver(1, at_ms=500, tag=8).client_event("lost", at_ms=600).build()
    folder = RunFolder(write_run(tmp_path, facts, rows), large=0)
    monkeypatch.setattr(folder, "_cache", ColumnCache(limit_bytes=1))
    read: Counter[str] = Counter()
    one = tables._one

    def counted(path: Path, expected: pa.Schema, name: str) -> Column:
        read[f"{path.stem}.{name}"] += 1
        return one(path, expected, name)

    monkeypatch.setattr(tables, "_one", counted)
    known = fold(folder.read(Attempts), folder.read(Settlements), folder.read(Terms), facts.levels)
    arrived = arrivals(folder.read(Deliveries), known, facts.way_numbers)
    read.clear()
    censuses, cases = not_redelivered(known, arrived, facts, folder)
    assert [len(census.queue) for census in censuses] == [2]
    assert [len(each.at_ns) for each in cases] == [2, 0]
    assert {number for name, number in read.items() if "acknowledgements" in name} == {2}
    names = ("consumer", "connection", "received_ns", "tag", "offset")
    assert {name: read[f"deliveries.{name}"] for name in names} == {
        "consumer": 5,
        "connection": 4,
        "received_ns": 6,
        "tag": 2,
        "offset": 1,
    }
