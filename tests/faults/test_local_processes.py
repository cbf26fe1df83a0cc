"""A process is there until its parent can read how it ended."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from faults.executors import local_processes as processes

pytestmark = pytest.mark.slow

CLUSTER = "mqproof-test-ending"
LIMIT_S = 30.0
# The kernel takes this memory, and the environment with it, before the parent learns of the end.
LARGE = "import sys; held = bytearray(b'x') * (200 << 20); print(flush=True); sys.stdin.read()"


@pytest.fixture
def large() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", LARGE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, processes.CLUSTER: CLUSTER, processes.ROLE: processes.NODE},
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_process_is_listed_until_its_exit_status_is_readable(
    large: "subprocess.Popen[bytes]",
) -> None:
    """Use a large process, which takes long to end."""
    (found,) = processes.of(CLUSTER)
    assert found.pid == large.pid
    found.signal(9)
    ends = time.monotonic() + LIMIT_S
    while processes.of(CLUSTER):
        assert time.monotonic() < ends
    assert large.poll() == -9


def test_a_process_that_waits_for_its_parent_is_gone(large: "subprocess.Popen[bytes]") -> None:
    (found,) = processes.of(CLUSTER)
    found.signal(9)
    os.waitid(os.P_PID, large.pid, os.WEXITED | os.WNOWAIT)
    assert not processes.of(CLUSTER)
