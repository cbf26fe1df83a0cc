"""A run that cannot be judged says so, and costs no other run its verdict."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine import parts
from spark_analysis.engine.failing import MartsUnwritten
from spark_analysis.engine.judge import FAILED, WRITTEN_MARTS, judge_folder
from spark_analysis.engine.pipeline import analyse
from spark_analysis.engine.tasks import judge_runs
from spark_analysis.files.failed import OURS
from spark_analysis.schema.arrow import row_schema
from spark_analysis.schema.comparison import Comparison
from spark_analysis.schema.facts import Promise
from spark_analysis.schema.findings import MARTS
from spark_analysis.schema.question import Question
from tests.rigs.histories.by_hand import History
from tests.rigs.machine.dying import Dying
from tests.rigs.runs.run_folders import write_run

pytestmark = pytest.mark.slow


COUNTED = "seconds", "steady_state"  # one row a run, in its steady state


def test_a_whole_run_has_all_marts(tmp_path: Path) -> None:
    found = dict(judge_folder(sound_run(tmp_path)))
    assert found["counts"].to_pylist() == [
        count("operations", ""),
        count("state", "acknowledged"),
        count("confirmed", "replicated"),
        count("in_order", ""),
    ]
    assert len(found["doubts"]) == 0


def test_a_run_without_records_is_judged_by_its_facts(tmp_path: Path) -> None:
    facts, _ = History(run="calm").build()
    found = dict(judge_folder(write_run(tmp_path / "calm", facts, {})))
    assert len(found["counts"]) == 0
    assert [row["queue"] for row in found["availability"].to_pylist()] == [""]


def spoil_manifest(folder: Path) -> None:
    (folder / "manifest.json").write_text("{")


def lose_facts(folder: Path) -> None:
    (folder / "manifest.json").write_text('{"facts": null}')


def mistype_facts(folder: Path) -> None:
    document = json.loads((folder / "manifest.json").read_text())
    document["facts"]["deadline_ns"] = "1 s"
    (folder / "manifest.json").write_text(json.dumps(document))


def skip_a_window(folder: Path) -> None:
    document = json.loads((folder / "manifest.json").read_text())
    (window,) = History().window(5).facts.to_json()["windows"]
    document["facts"]["windows"] = [{**window, "number": 2}]
    (folder / "manifest.json").write_text(json.dumps(document))


def spoil_attempts(folder: Path) -> None:
    (folder / "raw" / "attempts.parquet").write_bytes(b"PAR1 and no more")


def lose_attempts(folder: Path) -> None:
    (folder / "raw" / "attempts.parquet").unlink()


def repeat_attempts(folder: Path) -> None:
    change(folder, "attempts", lambda table: pa.concat_tables([table, table]))


def lose_a_column(folder: Path) -> None:
    change(folder, "attempts", lambda table: table.drop_columns(["sent_ns"]))


def mistype_a_column(folder: Path) -> None:
    floats = pa.array([1.0], pa.float64())
    change(folder, "settlements", lambda table: set_column(table, "settled_ns", floats))


def empty_a_column(folder: Path) -> None:
    nothing = pa.array([None], pa.int64())
    change(folder, "settlements", lambda table: set_column(table, "settled_ns", nothing))


def invent_an_outcome(folder: Path) -> None:
    change(
        folder,
        "settlements",
        lambda table: set_column(table, "outcome", pa.array([9], pa.uint8())),
    )


SPOILERS = [
    spoil_manifest,
    lose_facts,
    mistype_facts,
    skip_a_window,
    spoil_attempts,
    lose_attempts,
    repeat_attempts,
    lose_a_column,
    mistype_a_column,
    empty_a_column,
    invent_an_outcome,
]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_records_that_break_their_schema_are_one_doubt(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    folder = sound_run(tmp_path)
    spoil(folder)
    found = dict(judge_folder(folder))
    assert set(found) == {"doubts", FAILED}
    (doubt,), (why,) = found["doubts"].to_pylist(), found[FAILED].to_pylist()
    assert (why["run"], why["trace"]) == ("sound", "")
    assert str(folder) in why["reason"]
    assert (doubt["run"], doubt["scope"], doubt["reason"]) == ("sound", "run", "records")


def test_a_spoiled_run_leaves_the_others_their_verdicts(
    spark: SparkSession, tmp_path: Path
) -> None:
    sound, spoiled = sound_run(tmp_path), sound_run(tmp_path / "spoiled")
    lose_facts(spoiled.rename(tmp_path / "spoilt"))
    folders = [str(tmp_path / name) for name in (sound.name, "spoilt", "missing")]
    failures = analyse(spark, folders, str(tmp_path / "marts"))
    assert {(one.run, one.trace) for one in failures} == {("spoilt", ""), ("missing", "")}
    assert all(str(tmp_path / one.run / "manifest.json") in one.reason for one in failures)
    assert pq.read_table(tmp_path / "marts" / "counts").num_rows == 4
    doubts = pq.read_table(tmp_path / "marts" / "doubts").to_pylist()
    assert sorted((doubt["run"], doubt["reason"]) for doubt in doubts) == [
        ("missing", "records"),
        ("spoilt", "records"),
    ]


def test_an_internal_error_in_one_run_keeps_the_other_verdicts(
    spark: SparkSession, tmp_path: Path
) -> None:
    runs = [run_with_fault(tmp_path, f"run {number}") for number in range(3)]
    nonsense = Question(promises=(cast(Promise, None),))
    options = [Question(), nonsense, Question()]
    (why,) = analyse(spark, [str(run) for run in runs], str(tmp_path / "marts"), options)
    assert why.run == "run 1"
    assert why.reason.startswith(f"{runs[1]}: {OURS}: AttributeError")
    assert "Traceback" in why.trace
    assert runs_of(tmp_path / "marts") == {"run 0": 1, "run 2": 1}


def test_a_run_that_kills_its_task_costs_no_other_verdict(
    spark: SparkSession, tmp_path: Path
) -> None:
    runs = [run_with_fault(tmp_path, f"run {number}") for number in range(20)]
    options = [Question(promises=Dying((1,)) if n == 11 else ()) for n in range(len(runs))]
    (why,) = analyse(spark, [str(run) for run in runs], str(tmp_path / "marts"), options)
    assert (why.run, why.trace) == ("run 11", "")
    assert why.reason == f"{runs[11]}: a worker process of Spark died (was it killed?)"
    assert runs_of(tmp_path / "marts") == {f"run {n}": 1 for n in range(20) if n != 11}


@pytest.mark.parametrize("name", ["seconds", "counts", "comparison"])
def test_marts_that_cannot_be_written_are_reported_with_their_place(
    name: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a task writes them, or this process."""
    marts = tmp_path / "marts"
    monkeypatch.setattr(parts, "clear", lambda *_: None)
    for each in (*WRITTEN_MARTS, "comparison"):
        (marts / each).mkdir(parents=True)
    (marts / name).rmdir()
    (marts / name).write_text("in the way")
    with pytest.raises(MartsUnwritten, match=f"{marts / name}/.*: Not a directory"):
        analyse(spark, [str(sound_run(tmp_path))], str(marts))


def test_no_runs_have_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    assert {len(rows) for rows in judge_runs(spark, [], str(tmp_path)).values()} == {0}


def test_every_mart_exists_although_no_run_has_its_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    analyse(spark, [str(tmp_path / "missing")], str(tmp_path / "marts"))
    for name, row in {**WRITTEN_MARTS, "comparison": Comparison}.items():
        found = pq.read_table(tmp_path / "marts" / name)
        assert found.schema.names == row_schema(row).names, name
        assert len(found) == (name == "doubts"), name


def test_judging_again_replaces_the_earlier_marts(spark: SparkSession, tmp_path: Path) -> None:
    runs = [sound_run(tmp_path / str(number), f"run {number}") for number in range(20)]
    marts = tmp_path / "marts"
    analyse(spark, [str(run) for run in runs], str(marts))
    assert runs_of(marts) == {f"run {number}": 1 for number in range(20)}
    (marts / "seconds" / "part-00019.parquet").write_bytes(b"from before")
    for _ in range(2):
        analyse(spark, [str(run) for run in runs[:2]], str(marts))
        assert runs_of(marts) == {"run 0": 1, "run 1": 1}
        assert [path for path in marts.rglob("*") if path.name.startswith(".")] == []


def runs_of(marts: Path) -> dict[str, int]:
    """Of a mart that tasks write, and of one that they hand over."""
    (one, other) = (Counter(pq.read_table(marts / name)["run"].to_pylist()) for name in COUNTED)
    assert one == other
    return dict(one)


def test_a_task_that_fails_leaves_nothing_that_is_read(tmp_path: Path) -> None:
    parts.clear(tmp_path, ["seconds"])
    rows = row_schema(MARTS["seconds"]).empty_table()
    many = pa.Table.from_pylist([second(number) for number in range(1000)], rows.schema)

    def failing() -> None:
        with parts.Parts(tmp_path, 0, 7) as failed:
            for _ in range(parts.BATCH_ROWS // len(many) + 1):
                failed.add("seconds", many)
            assert list((tmp_path / "seconds").iterdir())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        failing()
    assert list((tmp_path / "seconds").iterdir()) == []
    for attempt in (8, 9):
        with parts.Parts(tmp_path, 0, attempt) as again:
            again.add("seconds", rows)
            again.add("seconds", many)
        assert pq.read_table(tmp_path / "seconds").to_pylist() == many.to_pylist()


def second(number: int) -> dict[str, object]:
    counts = dict.fromkeys(("operations", "missed", "confirmed", "delivered"), 1)
    return {"run": "sound", "second": number, **counts}


def sound_run(parent: Path, name: str = "sound") -> Path:
    """One message, confirmed and delivered."""
    return write_run(parent / name, *one_message(name).build())


def run_with_fault(parent: Path, name: str) -> Path:
    """The same before a fault, so that its promises are looked at."""
    return write_run(parent / name, *one_message(name).window(5).build())


def one_message(run: str) -> History:
    return History(run=run).publish(0).confirm(0).deliver(0)


def count(measure: str, detail: str) -> dict[str, object]:
    return {
        "run": "sound",
        "queue": "orders",
        "measure": measure,
        "detail": detail,
        "count": 1,
    }


def set_column(table: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.get_field_index(name), name, values)


def change(folder: Path, name: str, changed: Callable[[pa.Table], pa.Table]) -> None:
    path = folder / "raw" / f"{name}.parquet"
    pq.write_table(changed(pq.read_table(path)), path)
