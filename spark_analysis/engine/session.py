"""The only place that builds a SparkSession.

1. Local mode listens on loopback only, shows no UI and no progress, and says nothing by
   itself: what went wrong is told by who asked it (failing.py).
2. Tasks are minutes at most and their results small: few shuffle partitions, a plain collector.
3. Worker processes import this very package, from a checkout as from an installed wheel.
4. A start that is broken off leaves no Java: it would not notice by then that its parent is gone.
"""

import os
import select
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pyspark.sql import SparkSession

import spark_analysis
from spark_analysis.engine.failing import SPARK_ERRORS, SparkFailed, sentence
from spark_analysis.engine.java import java_home
from spark_analysis.schema.failed import os_reason

_LOOPBACK = "127.0.0.1"
_SHUFFLE_PARTITIONS = 1  # histories are never shuffled, and all else is small
_ENDING_S = 5.0
_PROC = Path("/proc")


def session(cores: int | None = None, memory: str = "1g") -> SparkSession:
    """A local session on so many cores; all there are where it is not said. Raises SparkFailed."""
    before = _children()
    try:
        return _started(cores, memory)
    except BaseException:
        for pid in _children() - before:
            _end(pid)
        raise


def _started(cores: int | None, memory: str) -> SparkSession:
    try:
        _prepare_environment()
        builder = SparkSession.builder.appName("mqproof").master(f"local[{cores or '*'}]")
        for key, value in _settings(memory).items():
            builder = builder.config(key, value)
        return builder.getOrCreate()
    except SPARK_ERRORS as error:
        raise SparkFailed(f"Spark did not start: {sentence(error)}") from error
    except OSError as error:  # its files, or Java's
        reason = os_reason(error, Path(tempfile.gettempdir()))
        raise SparkFailed(f"Spark did not start: {reason}") from error


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


@contextmanager
def stopped(spark: SparkSession) -> Iterator[SparkSession]:
    """Stops the session at the end, if its JVM is still there to be told."""
    try:
        yield spark
    finally:
        with suppress(*SPARK_ERRORS):
            spark.stop()


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
