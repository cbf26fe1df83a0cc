"""Real time for workers: for paced loads alone, told, and given back by who never sleeps."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.workers.priority import BEHIND, REAL_TIME
from harness.workers.protocol import Role
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.workers.rig import Process, config

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
def test_reported_worker_priority_under_paced_load_matches_the_kernel(
    tmp_path: Path, role: Role
) -> None:
    said, policy = scheduled(tmp_path, role, rate=100.0)
    assert (said == REAL_TIME) == (policy == os.SCHED_RR)
    assert said == REAL_TIME or said.startswith("normal priority (")


def test_an_unpaced_publisher_needs_no_priority(tmp_path: Path) -> None:
    ours = os.sched_getscheduler(0)
    assert scheduled(tmp_path, Role.PUBLISHER, rate=None) == ("", ours)


def test_sleepless_thread_gives_its_priority_back() -> None:
    said, before, after = subprocess.run(
        [sys.executable, "-c", BUSY], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")[:3]
    if said != REAL_TIME:
        pytest.skip(f"this machine schedules no worker in real time: {said}")
    assert int(before) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR
    assert int(after) & ~os.SCHED_RESET_ON_FORK == os.SCHED_OTHER


LIBRARY = """
import os, sys, threading, time
from pathlib import Path
from harness.workers.priority import ask_for_every_thread
ended = threading.Event()

def start(name):
    thread = threading.Thread(target=ended.wait)
    thread.start()
    Path(f"/proc/self/task/{thread.native_id}/comm").write_text(name)
    return thread.native_id

worker, compiler = start("NettyClientSele"), start("C1 CompilerThre")
print(ask_for_every_thread())
heir = start("AsyncSenderExec")
for thread in (os.getpid(), worker, heir, compiler):
    print(os.sched_getscheduler(thread), os.getpriority(os.PRIO_PROCESS, thread))
ended.set()
"""


def test_library_threads_are_prioritised_and_jvm_compilers_deprioritised() -> None:
    said, *threads = subprocess.run(
        [sys.executable, "-c", LIBRARY], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    *others, (compilers_policy, compilers_nice) = [map(int, line.split()) for line in threads]
    ours = os.sched_getscheduler(0)
    assert compilers_policy == ours
    assert compilers_nice == BEHIND
    for policy, nice in others:
        assert policy == (os.SCHED_RR if said == REAL_TIME else ours)
        assert nice == 0


def test_one_sleepless_library_thread_makes_all_drop_their_priority() -> None:
    busy = BUSY.replace("ask_for_real_time", "ask_for_every_thread")
    said, before, after = subprocess.run(
        [sys.executable, "-c", busy], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\n")[:3]
    if said != REAL_TIME:
        pytest.skip(f"this machine schedules no worker in real time: {said}")
    assert (int(before), int(after)) == (os.SCHED_RR, os.SCHED_OTHER)
