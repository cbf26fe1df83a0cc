"""The only place that builds a SparkSession.

1. Local mode listens on loopback only, shows no UI and no progress, and says nothing but errors.
2. Tasks are minutes at most and their results small: few shuffle partitions, a plain collector.
3. Worker processes import this very package, from a checkout as from an installed wheel.
4. A start that is broken off leaves no Java: it would not notice by then that its parent is gone.
"""

import os
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path

from pyspark.sql import SparkSession

import spark_analysis
from spark_analysis.engine.java import java_home

_LOOPBACK = "127.0.0.1"
_SHUFFLE_PARTITIONS = 1  # histories are never shuffled, and all else is small
_ENDING_S = 5.0
_PROC = Path("/proc")


def session(cores: int | None = None, memory: str = "1g") -> SparkSession:
    """A local session on so many cores; all there are where it is not said."""
    _prepare_environment()
    builder = SparkSession.builder.appName("mqproof").master(f"local[{cores or '*'}]")
    for key, value in _settings(memory).items():
        builder = builder.config(key, value)
    before = _children()
    try:
        return builder.getOrCreate()
    except BaseException:
        for pid in _children() - before:
            _end(pid)
        raise


def _children() -> set[int]:
    """Of this process; nothing where there is no /proc."""
    found = set()
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            # The second field is the command's name in brackets and may hold blanks and brackets.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            found |= {int(entry.name)} if int(fields[1]) == os.getpid() else set()
    return found


def _end(pid: int) -> None:
    """Java removes what it has made in the temporary folder, if it is given the time."""
    with suppress(ProcessLookupError):
        descriptor = os.pidfd_open(pid)
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
            if not select.select([descriptor], [], [], _ENDING_S)[0]:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        finally:
            os.close(descriptor)


def _prepare_environment() -> None:
    """What the launcher and the worker processes read; they are children of this process."""
    os.environ["JAVA_HOME"] = str(java_home(os.environ))
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = _LOOPBACK


def _settings(memory: str) -> dict[str, str]:
    log = Path(__file__).with_name("log4j2.properties")
    package_root = str(Path(spark_analysis.__path__[0]).resolve().parent)
    return {
        "spark.driver.host": _LOOPBACK,
        "spark.driver.bindAddress": _LOOPBACK,
        "spark.driver.memory": memory,
        # The JVM only moves small marts: a quick start is worth more than its best speed.
        "spark.driver.extraJavaOptions": (
            f"-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile={log.as_uri()}"
        ),
        "spark.executorEnv.PYTHONPATH": package_root,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(_SHUFFLE_PARTITIONS),
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
    }
