"""One Spark session for all tests of a worker. conftest.py imports this late: it takes long."""

import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.analyse import marts, sessions
from spark_analysis.engine.archive import archive
from spark_analysis.engine.java import java_home
from spark_analysis.engine.session import session
from spark_analysis.engine.session import stop as stop_session
from spark_analysis.schema.place import Place
from tests.rigs.runs.reports import CELL
from tests.rigs.runs.sealed_runs import sealed
from tests.rigs.runs.stored import stored

ROOT = Path(__file__).parents[3]
LIMIT_S = 300
OF_STORES = (("spark.hadoop.mqproof.test", "<&>"),)  # test_store.py looks for it


def start() -> SparkSession:
    """Return the session that runs in this process, or a new one."""
    keep_classes()
    return session(Place("local[2]", OF_STORES))


def stop(spark: SparkSession) -> None:
    stop_session(spark, whole=True)


def lend(spark: SparkSession, patch: pytest.MonkeyPatch) -> None:
    """Let `analyse` in this process use the session, which it then does not stop."""
    patch.setattr(sessions, "session", lambda _: spark)
    patch.setattr(marts, "stopped", nullcontext)


def keep_classes() -> None:
    """Analyse a small run if this machine has no class archive yet.

    A session of many tests would write it at its end, and every JVM until then would start in
    twice the time.
    """
    found = archive(os.environ, java_home(os.environ))
    if found is None or found.is_there:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = stored(Path(name) / "small", [("one", CELL)])
        sealed(folder / "runs" / "one")
        command = [sys.executable, "-m", "harness", "analyse", str(folder)]
        subprocess.run(command, cwd=ROOT, timeout=LIMIT_S, capture_output=True, check=False)
