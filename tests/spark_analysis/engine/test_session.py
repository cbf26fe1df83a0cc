"""What worker processes learn from their session."""

import os
import select
import subprocess
from collections.abc import Iterator
from threading import Event
from typing import cast

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from spark_analysis.engine import session

KEPT = {"MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_", "MALLOC_ARENA_MAX"}


LIMIT_S = 10.0


class Stops:
    """What stands in for a session that takes its time to stop."""

    def __init__(self) -> None:
        self.may, self.has = Event(), Event()

    def stop(self) -> None:
        assert self.may.wait(LIMIT_S)
        self.has.set()


def test_a_session_stop_returns_early_and_the_next_session_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, stood = Stops(), list[bool]()
    monkeypatch.setattr(session, "_started", lambda _: stood.append(one.has.is_set()))
    with session.stopped(cast(SparkSession, one)):
        pass
    assert not one.has.is_set()
    one.may.set()
    session.session()
    assert stood == [True]


def test_a_session_in_which_something_failed_is_stopped_at_once() -> None:
    one = Stops()
    one.may.set()
    with pytest.raises(ValueError, match="bad"), session.stopped(cast(SparkSession, one)):
        raise ValueError("bad")
    assert one.has.is_set()


@pytest.mark.slow
def test_an_interrupt_while_java_ends_leaves_no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    java = subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo; exec sleep 60"], stdout=subprocess.PIPE
    )
    assert java.stdout is not None
    java.stdout.readline()  # from now on it ignores SIGTERM
    monkeypatch.setattr(select, "select", interrupted)
    with pytest.raises(KeyboardInterrupt):
        session._end(java.pid)
    assert java.wait(LIMIT_S) == -9


@pytest.mark.slow
def test_worker_processes_keep_the_memory_that_kernels_drop(spark: SparkSession) -> None:
    def reported(_: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch([sorted(os.environ)], ["name"])

    names = {row["name"] for row in spark.range(1).mapInArrow(reported, "name string").collect()}
    assert names >= KEPT
