"""The JVM of a worker: it does not stand still because Python has collected its own garbage."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.rigs.rocketmq.needs import require_java_clients

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[4]
LIMIT_S = 60.0
# What JPype does out of Python's collector.
COLLECTS = """
import sys
import jpype
from harness.workers.clients.rocketmq.java import FLAGS
jpype.startJVM(*(FLAGS if sys.argv[1] == "ours" else FLAGS[:1]), f"-Xlog:gc:file={sys.argv[2]}")
jpype.JClass("java.lang.System").gc()
"""


def collections(whose: str, folder: Path) -> str:
    log = folder / f"{whose}.log"
    command = [sys.executable, "-c", COLLECTS, whose, str(log)]
    subprocess.run(command, cwd=ROOT, check=True, timeout=LIMIT_S)
    return log.read_text()


def test_a_requested_collection_does_not_stop_a_worker(tmp_path: Path) -> None:
    require_java_clients()
    assert "System.gc()" in collections("bare", tmp_path)
    assert "System.gc()" not in collections("ours", tmp_path)
