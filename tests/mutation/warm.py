"""Tries a mutant in a fork of one process that has everything heavy loaded, answers included.

    python tests/mutation/warm.py serve SOCKET [--spark]     # until it is interrupted
    python tests/mutation/warm.py ask SOCKET JUDGE TEST...   # what Cosmic Ray runs for each mutant

1. A fork loads the code under test afresh, so a mutant in the files is what is tried. Nothing is
   compiled to a file: that of an earlier mutant of the same second and size would pass for it.
2. First JUDGE (`definition`, `kernels` or `nobody`) is held against the answers, then the tests
   run, up to the first objection.
3. A mutant that runs for ever ends by its processor time: a busy machine ends none. Nor does one
   fail Hypothesis here, which looks at no clock and draws the same for every mutant.
4. With `--spark` all forks share one JVM, each over a connection of its own; Python workers are
   never reused, since they would go on with the code of an earlier mutant.
"""

import gc
import json
import os
import resource
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

CPU_SECONDS_MAX = 90
ADDRESS_BYTES_MAX = 16 << 30
MUTATED = (
    "spark_analysis.definition",
    "spark_analysis.engine",
    "tests.both_judges",
    "tests.spark_analysis",
)
OPTIONS = ["-x", "-q", "--tb=no", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:warnings"]


def serve(path: str, *, with_spark: bool) -> None:
    sys.path.insert(0, str(Path.cwd()))
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"  # for Spark's workers
    from tests.mutation.answers import answered

    histories = answered()
    if with_spark:
        _start_spark()
    for name in [name for name in sys.modules if name.startswith(MUTATED)]:
        del sys.modules[name]
    gc.freeze()  # else every fork would copy what it only looks through
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        print("warm", flush=True)
        while True:
            asker, _ = listener.accept()
            with asker:
                _answer(asker, histories)


def ask(path: str, tests: list[str]) -> int:
    """0 where all tests passed. Prints the verdict first, and nothing if there is none."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        server.sendall(json.dumps(tests).encode())
        server.shutdown(socket.SHUT_WR)
        answer = server.makefile().read()
    print(answer)
    return 0 if answer.startswith("passed") else 1


def _answer(asker: socket.socket, histories: list[Any]) -> None:
    asked = json.loads(asker.makefile().read())
    with tempfile.TemporaryFile("w+") as words:
        child = os.fork()
        if child == 0:
            _try(asked, histories, words.fileno())
        _, status = os.waitpid(child, 0)
        words.seek(0)
        asker.sendall(f"{_verdict(status)}\n{words.read()[-2_000:]}".encode())


def _verdict(status: int) -> str:
    if os.WIFSIGNALED(status):
        # Killed otherwise is no verdict on a mutant: memory ran out, or somebody was at it.
        signalled = os.WTERMSIG(status)
        return "timed out" if signalled == signal.SIGXCPU else f"lost by signal {signalled}"
    return "passed" if status == 0 else "died"


def _try(asked: list[str], histories: list[Any], words: int) -> None:
    """Tries what stands in the files, in this fork, which ends here: with 0 if nothing objects."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX + 5))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES_MAX, ADDRESS_BYTES_MAX))
    os.dup2(words, 1)
    os.dup2(words, 2)
    judge, *tests = asked
    code = 1
    try:
        code = _objections(judge, tests, histories)
    except BaseException as error:
        print(f"import: {error!r}")
    finally:
        sys.stdout.flush()
        os._exit(code)


def _objections(judge: str, tests: list[str], histories: list[Any]) -> int:
    import pytest
    from hypothesis import HealthCheck, settings

    from tests.mutation.answers import objection

    calm = settings(
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    settings.register_profile("mutants", calm)
    settings.load_profile("mutants")
    _leave_spark_running()
    if judge != "nobody" and (found := objection(judge, histories)):
        print(f"answers: {found}")
        return 1
    for test in tests:
        if code := pytest.main([*OPTIONS, test]):
            return int(code)
    return 0


def _start_spark() -> None:
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--conf spark.python.worker.reuse=false pyspark-shell"
    from spark_analysis.engine.session import session

    # Much of what a fork asked for stays in the JVM: with a heap of 1 GB it stood still after 250.
    session(cores=2, memory="4g").range(1).count()


def _leave_spark_running() -> None:
    """Spark as this fork sees it: another connection to the same JVM, which nobody here stops."""
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    if running is not None:
        client = running.sparkContext._gateway._gateway_client
        # Kept, since its finalizer would end the connection of the process we come from.
        client.inherited = client.thread_connection
        client.thread_connection = threading.local()
        SparkSession.stop = lambda session: None


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["serve", path, *options]:
            serve(path, with_spark="--spark" in options)
        case ["ask", path, *tests]:
            sys.exit(ask(path, tests))
