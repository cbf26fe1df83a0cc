"""The only place that builds a SparkSession.

1. Local mode listens on loopback only. In every mode Spark shows no UI and no progress and logs
   nothing; the caller reports failures (failing.py).
2. Tasks are minutes at most and their results small: few shuffle partitions, a plain collector.
3. Worker processes import this very package, from a checkout as from an installed wheel. On other
   machines they need the package and the runs at the same paths (docs/spark.md).
4. An interrupted start stops its Java, which would not notice that its parent has ended.
5. Under spark-submit the JVM runs already; its own settings stay as they are.
6. A finished session stops in the background while the user's work goes on. The next session and
   the end of the process wait for that.
7. A JVM that writes its class archive (archive.py) ends with its session, and the process waits
   for it. Otherwise Java would run for seconds after the command has ended.
"""

import atexit
import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

from pyspark import SparkContext
from pyspark.sql import SparkSession

import spark_analysis
from spark_analysis.engine.archive import Archive, archive
from spark_analysis.engine.failing import SPARK_ERRORS, SparkFailed, is_worth_logging, sentence
from spark_analysis.engine.java import java_home
from spark_analysis.engine.jvm import Jvm, jvm_options
from spark_analysis.files.failed import os_reason
from spark_analysis.schema.place import HERE, Place

_LOOPBACK = "127.0.0.1"
_SHUFFLE_PARTITIONS = 1  # histories are never shuffled, and all else is small
_OF_EVERY_SESSION = {
    "spark.sql.shuffle.partitions": str(_SHUFFLE_PARTITIONS),
    "spark.sql.adaptive.enabled": "false",
    # Plans are for small tables, and used once: to compile them takes longer than they do.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    # Kernels make and drop large arrays all the time. What glibc gives back to the system at once
    # has to be asked for again, and filled with zeros: that was half of a judge's time. Other C
    # libraries pass over these words.
    "spark.executorEnv.MALLOC_MMAP_MAX_": "0",
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(1 << 40),
    "spark.executorEnv.MALLOC_ARENA_MAX": "1",
}
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # what spark-submit tells the program that it starts
_ENDING_S = 5.0
_ARCHIVE_S = 60.0
_PROC = Path("/proc")
_stopping: list[Thread] = []  # one at most
_writing: list[tuple[SparkSession, Archive]] = []  # whose JVM writes it when it ends; one at most


def session(where: Place = HERE) -> SparkSession:
    """On all cores of this machine where nothing else is said. Raises SparkFailed."""
    _wait()
    logging.getLogger().addFilter(is_worth_logging)  # once: a logger has a filter only once
    before = _children()
    try:
        return _started(where)
    except BaseException:
        for pid in _children() - before:
            _end(pid)
        raise


def _started(where: Place) -> SparkSession:
    submitted = _SUBMITTED in os.environ
    try:
        kept = None if submitted else _prepare_environment(where)
        try:
            spark = _built(where, submitted, kept)
        except SPARK_ERRORS:
            if kept is None or not kept.is_there or SparkContext._gateway is not None:
                raise
            kept.drop()  # no JVM came up: it may be the file's fault
            kept = _prepare_environment(where)
            spark = _built(where, submitted, kept)
    except SPARK_ERRORS as error:
        raise SparkFailed(f"Spark did not start: {sentence(error)}") from error
    except OSError as error:  # its files, or Java's
        reason = os_reason(error, _temporary_folder())
        raise SparkFailed(f"Spark did not start: {reason}") from error
    if kept is not None and not kept.is_there:
        _writing[:] = [(spark, kept)]
    return spark


def _temporary_folder() -> Path | None:
    """Return where Java and Spark put their files; None: this machine has no such place."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        return None


def _built(where: Place, submitted: bool, kept: Archive | None) -> SparkSession:
    builder = SparkSession.builder.appName("mqproof")
    own_settings = _OF_EVERY_SESSION if submitted else _settings(where, kept)
    for key, value in {**own_settings, **dict(where.settings)}.items():
        builder = builder.config(key, value)
    if where.master or not submitted:
        builder = builder.master(where.master or "local[*]")
    return builder.getOrCreate()


def _children() -> set[int]:
    """JVMs of this process, and who is about to become one; none where there is no /proc."""
    found = set()
    for entry in _PROC.glob("[0-9]*"):
        with suppress(OSError):
            # The second field is the command's name in brackets and may hold blanks and brackets.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == os.getpid() and _is_spark((entry / "cmdline").read_bytes()):
                found.add(int(entry.name))
    return found


def _is_spark(command: bytes) -> bool:
    return b"spark-submit" in command or b"org.apache.spark" in command


def _end(pid: int) -> None:
    """Java removes what it has made in the temporary folder, if it is given the time. An
    interrupt ends the waiting, and Java at once."""
    with suppress(ProcessLookupError):
        descriptor, ended = os.pidfd_open(pid), False
        try:
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
            ended = bool(select.select([descriptor], [], [], _ENDING_S)[0])
        finally:
            with suppress(ProcessLookupError):
                if not ended:
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            os.close(descriptor)


@contextmanager
def stopped(spark: SparkSession) -> Iterator[SparkSession]:
    """Stops the session at the end, if its JVM is still there to be told."""
    try:
        yield spark
    except BaseException:
        stop(spark)
        raise
    thread = Thread(target=stop, args=(spark, True), name="stopping-spark", daemon=True)
    _stopping.append(thread)
    thread.start()


def _wait() -> None:
    while _stopping:
        _stopping.pop().join()


@atexit.register
def _wait_at_the_end() -> None:
    """Unless somebody has no patience left: then its JVM ends with us."""
    with suppress(KeyboardInterrupt):
        _wait()


def stop(spark: SparkSession, whole: bool = False) -> None:
    """`whole`: it did what sessions do, so what its JVM loaded is worth keeping."""
    with suppress(*SPARK_ERRORS):
        spark.stop()
    if _writing and _writing[0][0] is spark and SparkContext._gateway is not None:
        _end_writing(_writing.pop()[1], whole)


def _end_writing(written: Archive, whole: bool) -> None:
    """Ends the JVM; the next session of this process starts one of its own."""
    gateway, SparkContext._gateway, SparkContext._jvm = SparkContext._gateway, None, None
    java = gateway.proc  # type: ignore[union-attr]
    with suppress(*SPARK_ERRORS):
        gateway.shutdown()  # type: ignore[union-attr]
    with suppress(OSError):
        java.stdin.close()
    kept = False
    try:
        if whole:
            with suppress(subprocess.TimeoutExpired):
                kept = java.wait(_ARCHIVE_S) == 0
    finally:  # an interrupt ends the waiting, and Java at once
        if kept:
            written.keep()
        else:
            java.kill()
            java.wait()
            written.drop()


def _prepare_environment(where: Place) -> Archive | None:
    """Set the environment of the launcher and the worker processes, which are children of this
    process. Return the archive that a JVM not started yet reads or writes."""
    home = java_home(os.environ)
    os.environ["JAVA_HOME"] = str(home)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if where.is_here:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = _LOOPBACK
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    return archive(os.environ, home) if SparkContext._gateway is None else None


def _settings(where: Place, kept: Archive | None) -> dict[str, str]:
    package_root = str(Path(spark_analysis.__path__[0]).resolve().parent)
    alone = {"spark.driver.host": _LOOPBACK, "spark.driver.bindAddress": _LOOPBACK}
    return {
        **(alone if where.is_here else {}),
        **_OF_EVERY_SESSION,
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": " ".join(
            (*jvm_options(Jvm.DRIVER), kept.options if kept else "")
        ),
        "spark.executor.extraJavaOptions": " ".join(jvm_options(Jvm.EXECUTOR)),
        "spark.executorEnv.PYTHONPATH": package_root,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
