"""A standalone cluster of Spark from its PyPI package: a master and workers, on loopback alone.

1. Each has a process group of its own: who kills a worker kills its executors, as a machine's end
   does.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pyspark

from spark_analysis.engine.java import java_home
from spark_analysis.engine.jvm import Jvm, jvm_options

LOOPBACK = "127.0.0.1"
READY_S = 180.0
_LOOK_S = 0.1
_HOME = Path(pyspark.__file__).parent
JARS = f"{_HOME}/jars/*"
_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_JOINED = "Successfully registered with master"


@dataclass(frozen=True, slots=True)
class Server:
    """One JVM, what it says, and where its executors run."""

    process: "subprocess.Popen[bytes]"
    log: Path
    folder: Path

    def said(self, pattern: str | re.Pattern[str]) -> str:
        """What it said of this, at the latest in READY_S."""
        ends = time.monotonic() + READY_S
        while time.monotonic() < ends:
            found = re.search(pattern, self.log.read_text(errors="replace"))
            if found:
                return found[found.lastindex or 0]
            with suppress(subprocess.TimeoutExpired):
                code = self.process.wait(_LOOK_S)
                raise AssertionError(f"exit {code}: {self.log.read_text(errors='replace')}")
        raise AssertionError(f"no {pattern}: {self.log.read_text(errors='replace')}")

    @property
    def executors(self) -> list[Path]:
        """Folders of those that it ever had."""
        return [path for path in self.folder.glob("app-*/*") if path.is_dir()]

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@dataclass(frozen=True, slots=True)
class Standalone:
    master: str  # spark://HOST:PORT
    workers: tuple[Server, ...]


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[Standalone]:
    """One core each. All are gone at the end."""
    started: list[Server] = []
    try:
        ports = ["--host", LOOPBACK, "--port", "0", "--webui-port", "0"]
        started.append(_server(folder / "master", "master.Master", ports))
        url = started[0].said(_MASTER)
        for number in range(1, workers + 1):
            own = folder / f"worker-{number}"
            words = [*ports, "--cores", "1", "--memory", "1g", "--work-dir", str(own), url]
            started.append(_server(own, "worker.Worker", words))
        for one in started[1:]:
            one.said(_JOINED)
        yield Standalone(url, tuple(started[1:]))
    finally:
        for one in started:
            one.kill()


def _server(folder: Path, name: str, words: list[str]) -> Server:
    environment = {
        "SPARK_HOME": str(_HOME),
        "SPARK_SCALA_VERSION": "2.13",  # a worker looks for a build of Spark's own sources without
        "SPARK_LOCAL_IP": LOOPBACK,
        "PYSPARK_PYTHON": sys.executable,
    }
    words = ["-cp", JARS, f"org.apache.spark.deploy.{name}", *words]
    return server(folder, words, environment)


def server(folder: Path, words: list[str], environment: Mapping[str, str]) -> Server:
    """Java with these words, in a process group of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "said"
    java = java_home(os.environ) / "bin" / "java"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [str(java), *jvm_options(Jvm.SERVER), *words],
            stdout=said,
            stderr=said,
            env=os.environ | environment,
            start_new_session=True,
        )
    return Server(process, log, folder)
