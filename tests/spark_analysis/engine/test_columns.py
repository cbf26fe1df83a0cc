"""Large tables are read by columns, and are the same tables; of large columns few are held."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spark_analysis.engine.columns import Column, ColumnCache, records
from spark_analysis.engine.judge import judge
from spark_analysis.engine.kernel.records import BadRecords, Deliveries, Settlements, Text
from spark_analysis.engine.tables import RunFolder
from spark_analysis.schema.tables import DELIVERIES
from tests.rigs.histories.by_hand import History
from tests.rigs.histories.fixed import few_histories
from tests.rigs.runs.run_folders import write_run

THREADS, SOME = 3, 5
ALWAYS = 0  # rows from which a table is large


def settlements(columns_read: list[str], cache: ColumnCache) -> Settlements:
    """Return settlements that record each column read in `columns_read`."""

    def read(name: str) -> Column:
        columns_read.append(name)
        return np.arange(10, dtype=np.int64)

    return records(Settlements, read, cache)


def test_a_column_is_read_once_when_needed() -> None:
    columns_read: list[str] = []
    rows = settlements(columns_read, ColumnCache())
    assert columns_read == []
    assert [len(rows.producer), len(rows.producer), len(rows.outcome)] == [10, 10, 10]
    assert columns_read == ["producer", "outcome"]


def test_a_column_unused_for_long_is_dropped_and_read_again() -> None:
    columns_read: list[str] = []
    rows = settlements(columns_read, ColumnCache(limit_bytes=160))  # two columns
    for name in ("producer", "attempt", "producer", "outcome", "producer", "attempt"):
        getattr(rows, name)
    assert columns_read == ["producer", "attempt", "outcome", "attempt"]


def test_a_column_larger_than_the_budget_exists_while_in_use() -> None:
    columns_read: list[str] = []
    rows = settlements(columns_read, ColumnCache(limit_bytes=1))
    assert rows.producer is rows.producer
    assert len(rows.attempt) == 10
    assert columns_read == ["producer", "attempt"]


def test_picking_from_picked_rows_picks_each_column() -> None:
    columns_read: list[str] = []
    rows = settlements(columns_read, ColumnCache())
    odd = rows.pick(np.arange(10) % 2 == 1)
    backwards = odd.pick(np.array([4, 2, 0], np.int32))
    assert columns_read == []
    assert backwards.sequence.tolist() == [9, 5, 1]
    assert odd.sequence.tolist() == [1, 3, 5, 7, 9]
    assert isinstance(backwards, Settlements)


def test_texts_are_picked_and_make_room_as_numbers_do() -> None:
    numbers = np.array([0, 1, 0], np.int32)
    rows = records(Deliveries, lambda name: Text(("", name), numbers), ColumnCache(limit_bytes=12))
    assert rows.pick(np.array([1])).queue == Text(("", "queue"), np.array([1], np.int32))


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, THREADS])
def test_tables_read_by_columns_equal_tables_read_at_once(threads: int, tmp_path: Path) -> None:
    for number, (facts, rows) in enumerate(few_histories()[::SOME]):
        folder = write_run(tmp_path / str(number), facts, rows)
        by_columns = judge(facts, RunFolder(folder, ALWAYS), threads)
        at_once = judge(facts, RunFolder(folder))
        for name, table in at_once.items():
            assert by_columns[name].equals(table), f"{facts.run}: {name}"


@pytest.mark.parametrize("large", [ALWAYS, 1 << 20], ids=["by columns", "at once"])
def test_a_column_with_nulls_is_bad_however_it_is_read(large: int, tmp_path: Path) -> None:
    folder = write_run(
        tmp_path / "run", *History(run="run").publish(0).confirm(0).deliver(0).build()
    )
    path = folder / "raw" / f"{DELIVERIES.name}.parquet"
    marts = pq.read_table(path)
    place = marts.schema.get_field_index("received_ns")
    field = pa.field("received_ns", pa.int64())
    pq.write_table(marts.set_column(place, field, pa.array([None], pa.int64())), path)
    with pytest.raises(BadRecords, match="received_ns has nulls"):
        [
            getattr(RunFolder(folder, large).read(Deliveries), one.name)
            for one in fields(Deliveries)
        ]
