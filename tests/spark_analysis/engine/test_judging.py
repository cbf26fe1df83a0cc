"""Several threads judge a run as one does, which test_agreement.py compares with the oracle.

1. The tests force threads on histories of all sizes; by default small runs use one.
2. Independent kernels end in any order, so every history is a race of its own.
"""

import gc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine import judge as judge_module
from spark_analysis.engine import parts
from spark_analysis.engine.judge import FAILED, WRITTEN_MARTS, judge_folder
from spark_analysis.engine.judge import judge as judge_by_kernels
from spark_analysis.engine.kernel.events import publishes
from spark_analysis.engine.kernel.fates import order
from spark_analysis.engine.kernel.times import consumption, stretches
from spark_analysis.engine.tables import RunFolder
from spark_analysis.engine.tasks import judge_runs
from spark_analysis.engine.threads import Threads
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.findings import MARTS
from tests.rigs.generated.histories import Rows
from tests.rigs.histories.both_judges import Memory, raw_columns
from tests.rigs.histories.by_hand import History
from tests.rigs.histories.fixed import few_histories
from tests.rigs.runs.run_folders import write_run

THREADS = 3


@pytest.mark.slow
def test_several_threads_find_what_one_thread_finds() -> None:
    for facts, rows in few_histories():
        records = Memory(raw_columns(rows))
        alone, shared = (judge_by_kernels(facts, records, threads) for threads in (1, THREADS))
        assert alone.keys() == shared.keys()
        for name in alone:
            if name in MARTS:
                assert _counted(alone[name]) == _counted(shared[name]), f"{facts.run}: {name}"
            else:
                assert alone[name].equals(shared[name]), f"{facts.run}: {name}"


def test_large_columns_are_made_once_and_freed_before_judging_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The numbers of those who ask are right: neither too few, nor too many."""
    made: list[str] = []

    def recorded(name: str, make: Callable[..., object]) -> Callable[..., object]:
        def making(*arguments: object) -> object:
            made.append(f"{name} {arguments[0]}" if name == "course_of" else name)
            return make(*arguments)

        return making

    def ordering(*arguments: object) -> object:
        made.append(f"{_held()} held")
        return in_order(*arguments)  # type: ignore[arg-type]

    for module, name in (
        (stretches, "course_of"),
        (publishes, "publishes"),
        (consumption, "given"),
    ):
        monkeypatch.setattr(module, name, recorded(name, getattr(module, name)))
    in_order, before = order.order, _held()
    monkeypatch.setattr(order, "order", ordering)
    facts, rows = one_message()
    judge_by_kernels(facts, Memory(raw_columns(rows)))
    courses = [f"course_of {kind}" for kind in stretches.KINDS]
    assert sorted(made) == sorted(["publishes", "given", *courses, f"{before} held"])


def _held() -> int:
    gc.collect()
    large = (stretches.Course, publishes.Publishes, consumption.Given)
    return sum(type(one) in large for one in gc.get_objects())


def test_an_unjudgeable_run_has_the_same_reason_for_all_readers(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", *one_message())
    (folder / "raw" / "deliveries.parquet").write_bytes(b"PAR1 and no more")
    alone, shared = (
        dict(judge_folder(folder, None, threads, 0, 1 << 30)) for threads in (1, THREADS)
    )
    assert alone == shared
    assert set(shared) == {"doubts", FAILED}


def test_extra_threads_are_for_runs_with_large_footers(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run", *one_message())
    assert RunFolder(folder).size == 2
    (folder / "raw" / "attempts.parquet").write_bytes(b"PAR1 and no more")
    (folder / "raw" / "deliveries.parquet").unlink()
    assert RunFolder(folder).size == 0


@pytest.mark.parametrize(("memory", "threads"), [(2 * 131, 1), (2 * 132, 2), (1 << 20, THREADS)])
def test_a_run_has_as_many_threads_as_memory_allows(
    memory: int, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded: list[int] = []

    def counting(number: int) -> Threads:
        recorded.append(number)
        return Threads(number)

    monkeypatch.setattr(judge_module, "Threads", counting)
    folder = write_run(tmp_path / "run", *one_message())  # of two rows
    assert FAILED not in dict(judge_folder(folder, None, THREADS, 0, memory))
    assert recorded == [threads]


@pytest.mark.slow
def test_a_single_run_uses_all_cores_of_its_task(spark: SparkSession, tmp_path: Path) -> None:
    """All that is seen of it is that its marts are the same."""
    folder, marts = write_run(tmp_path / "run", *one_message()), tmp_path / "marts"
    parts.clear(marts, list(WRITTEN_MARTS))
    recorded = [judge_runs(spark, [str(folder)], str(marts), shared_from=rows) for rows in (0, 9)]
    assert recorded[0] == recorded[1]
    assert recorded[0]["counts"].num_rows == 4
    assert pq.read_table(marts / "seconds").num_rows == 1


def one_message() -> tuple[Facts, Rows]:
    return History(run="run").publish(0).confirm(0).deliver(0).build()


def _counted(table: pa.Table) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())
