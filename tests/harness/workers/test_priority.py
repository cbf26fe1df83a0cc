"""Real time for workers: for paced loads alone, told, and given back by who never sleeps."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.workers.priority import REAL_TIME
from harness.workers.protocol import Role
from harness.workers.session import _scheduled
from tests.harness.workers.rig import Process, config
from tests.tiny_amqp import TinyBroker

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
BUSY = """
import os, sys, time
from harness.workers.priority import ask_for_real_time
said, until = ask_for_real_time(), time.monotonic() + 5
before = os.sched_getscheduler(0)
while os.sched_getscheduler(0) == before and time.monotonic() < until:
    pass
print(said, before, os.sched_getscheduler(0), sep="\\n")
"""


def scheduled(tmp_path: Path, role: Role, **rest: Any) -> tuple[str, int]:
    """What a worker said of its scheduling, and what the kernel says."""

    async def story() -> tuple[str, int]:
        async with TinyBroker() as broker:
            worker = await Process.spawn(config(role, tmp_path, broker, **rest))
            policy = os.sched_getscheduler(worker.process.pid) & ~os.SCHED_RESET_ON_FORK
            said = str(worker.heard[-1]["scheduling"])
            worker.say(do="close")
            await worker.hear("closed")
            await worker.process.wait()
        return said, policy

    return asyncio.run(story())


@pytest.mark.parametrize("role", [Role.PUBLISHER, Role.CONSUMER])
def test_what_a_worker_of_a_paced_load_says_is_what_the_kernel_does(
    tmp_path: Path, role: Role
) -> None:
    said, policy = scheduled(tmp_path, role, rate=100.0)
    assert (said == REAL_TIME) == (policy == os.SCHED_RR)
    assert said == REAL_TIME or said.startswith("as others: ")


def test_one_as_fast_as_it_goes_never_asks(tmp_path: Path) -> None:
    ours = os.sched_getscheduler(0)
    assert scheduled(tmp_path, Role.PUBLISHER, rate=None) == ("", ours)


def test_who_never_sleeps_gives_it_back() -> None:
    said, before, after = subprocess.run(
        [sys.executable, "-c", BUSY], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")[:3]
    if said != REAL_TIME:
        pytest.skip(f"this machine schedules no worker in real time: {said}")
    assert int(before) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR
    assert int(after) & ~os.SCHED_RESET_ON_FORK == os.SCHED_OTHER


def test_a_library_with_threads_of_its_own_is_not_put_behind_our_loop(tmp_path: Path) -> None:
    settings = config(Role.PUBLISHER, tmp_path, client="rocketmq-java-5.3.3", rate=10.0)
    assert _scheduled(settings).startswith("as others")
    assert os.sched_getscheduler(0) != os.SCHED_RR
