"""Spark somewhere else than in our own process: a cluster with a master, and spark-submit."""

import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from harness.run_folder.manifest import SEALED
from spark_analysis.engine.java import java_home
from spark_analysis.engine.tasks import MANY_ROWS
from tests.rigs.histories.by_hand import History
from tests.rigs.runs.judged_runs import manifest_of
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.run_folders import write_run
from tests.rigs.runs.stored import stored
from tests.rigs.spark.standalone import LOOPBACK, Standalone, standalone

pytestmark = [pytest.mark.slow, pytest.mark.engine, pytest.mark.long]

ROOT = Path(__file__).parents[2]
RUNS, MESSAGES = 32, 2_000
TASKS = 8  # on two cores
LIMIT_S = 240.0
LOOK_S = 0.02
ON_TWO = (
    *("--conf", "spark.executor.memory=512m", "--conf", f"spark.driver.host={LOOPBACK}"),
    *("--conf", "spark.executor.cores=1"),
)
Rows = Counter[tuple[object, ...]]


def experiment(folder: Path) -> Path:
    """Many runs, in which every tenth message was lost."""
    names = [f"run-{number:02}" for number in range(RUNS)]
    stored(folder, [(name, CELL) for name in names])
    history = History(run=names[0]).flow(range(MESSAGES), from_ms=0, every_ms=5)
    lost = [row for row in history.rows["deliveries"] if row["sequence"] % 10]  # type: ignore[operator]
    words = dict(zip(("scenario", "system", "layout", "client"), CELL, strict=True))
    for name in names:
        facts = replace(history.facts, run=name, **words)
        write_run(folder / "runs" / name, facts, {**history.rows, "deliveries": lost})
        replace(manifest_of(facts, phase=SEALED), facts=facts.to_json()).save(
            folder / "runs" / name
        )
    return folder


def analysing(folder: Path | str, *words: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "harness", "analyse", str(folder), *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def submitting(folder: Path, *words: str) -> "subprocess.Popen[bytes]":
    """The same by spark-submit, which has these words."""
    submit = Path(sys.executable).with_name("spark-submit")
    command = [str(submit), *words, "examples/spark/mqproof.py", "analyse", str(folder)]
    environment = os.environ | {
        "JAVA_HOME": str(java_home(os.environ)),
        "PYSPARK_PYTHON": sys.executable,
    }
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def said(process: "subprocess.Popen[bytes]") -> str:
    """All that it said, once it has ended well: with a promise that is broken."""
    out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1, out.decode()
    return out.decode()


def rows(folder: Path) -> dict[str, Rows]:
    """Every mart of an experiment, whose rows have no order."""
    found = {}
    for mart in sorted((folder / "marts").iterdir()):
        table = pq.read_table(mart)
        found[mart.name] = Counter(
            zip(*(map(str, column.to_pylist()) for column in table.columns), strict=True)
        )
    return found


def begun(folder: Path) -> int:
    """How many tasks have written what they found so far."""
    return max(len([*(folder / "marts" / name).glob("part-*")]) for name in MANY_ROWS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return experiment(tmp_path_factory.mktemp("elsewhere") / "e")


@pytest.fixture(scope="module")
def here(folder: Path) -> dict[str, Rows]:
    """The marts as this machine alone makes them."""
    said(analysing(folder))
    return rows(folder)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    with standalone(tmp_path_factory.mktemp("cluster"), workers=2) as found:
        yield found


@pytest.mark.nightly  # the next one shows as much, and more
def test_a_cluster_makes_the_marts_that_this_machine_makes(
    folder: Path, here: dict[str, Rows], cluster: Standalone
) -> None:
    said(analysing(folder, "--master", cluster.master, *ON_TWO))
    assert all(one.executors for one in cluster.workers)
    assert rows(folder) == here


def test_a_killed_worker_changes_no_mart_of_spark_submit(
    folder: Path, here: dict[str, Rows], cluster: Standalone
) -> None:
    worker = cluster.workers[0]
    shutil.rmtree(folder / "marts")  # of the test before
    before = len(worker.executors)
    process = submitting(folder, "--master", cluster.master, *ON_TWO)
    deadline = time.monotonic() + LIMIT_S
    while not begun(folder) or len(worker.executors) == before:
        assert time.monotonic() < deadline, "no task has begun on this worker"
        with pytest.raises(subprocess.TimeoutExpired):  # it has not ended meanwhile
            process.wait(LOOK_S)
    worker.kill()
    assert begun(folder) < TASKS
    said(process)
    assert rows(folder) == here


@pytest.mark.nightly  # The test above shows where a cluster runs the job.
def test_spark_submit_runs_it_on_the_requested_master(folder: Path, here: dict[str, Rows]) -> None:
    said(submitting(folder, "--master", "local[1]"))
    assert rows(folder) == here


@pytest.mark.nightly  # engine/test_store.py tests what is copied.
def test_an_experiment_in_a_store_is_judged_like_local_ones(
    folder: Path, here: dict[str, Rows], tmp_path: Path
) -> None:
    output = said(analysing(folder.as_uri(), "--results", str(tmp_path)))
    assert f"bring {folder.as_uri()}" in output
    assert rows(tmp_path / folder.name) == here
