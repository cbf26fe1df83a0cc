"""The verdict of a run whose worker died by kill -9 at a random moment is right."""

import asyncio
import os
import signal
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.run_folder.manifest import Manifest, WorkerRecord
from harness.run_folder.seal import HARNESS, LOGS, seal
from harness.workers.protocol import Role, WorkerConfig
from spark_analysis.files.log import LogWriter
from spark_analysis.schema.facts import Facts, QueueEnd
from spark_analysis.schema.findings import Findings
from tests.oracle.judge import judge
from tests.rigs.brokers.tiny_amqp import TinyBroker
from tests.rigs.runs.plans import plan
from tests.rigs.runs.run_folders import rows_of
from tests.rigs.workers.rig import Process, config, until

pytestmark = pytest.mark.slow

NAMES = {Role.PUBLISHER: "publisher-1", Role.CONSUMER: "consumer-1", Role.DRAINER: "drain-orders"}
HARMFUL = {"lost", "unexpected", "corrupt", "refused_but_delivered", "stranded"}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    victim=st.sampled_from([Role.PUBLISHER, Role.CONSUMER]),
    published=st.integers(1, 1_500),
    acknowledge=st.sampled_from([0, 10]),
)
def test_worker_killed_at_a_random_moment_causes_no_false_verdict(
    victim: Role, published: int, acknowledge: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found, sent = asyncio.run(_run(Path(folder), victim, published, acknowledge))
        counts = {row.measure: row.count for row in found.counts}
        assert not HARMFUL & counts.keys(), counts
        states = sum(row.count for row in found.counts if row.measure == "state")
        assert states >= sent, "every send that left is in the log"
        reasons = {doubt.reason for doubt in found.doubts}
        assert f"{victim.value}_log" in reasons


async def _run(
    folder: Path, victim: Role, published: int, acknowledge: int
) -> tuple[Findings, int]:
    """One small run with a death in it; its findings, and how many messages left."""
    origin_ns = time.monotonic_ns()
    async with TinyBroker() as broker:
        configs = {
            role: _config(role, folder, broker, origin_ns, acknowledge)
            for role in (Role.PUBLISHER, Role.CONSUMER, Role.DRAINER)
        }
        load = {
            role: await Process.spawn(configs[role]) for role in (Role.CONSUMER, Role.PUBLISHER)
        }
        for worker in load.values():
            worker.say(do="start", at_ns=0)
        await until(lambda: len(broker.published) >= published)
        os.kill(load[victim].process.pid, signal.SIGKILL)
        for role, worker in load.items():
            if role is not victim:
                worker.say(do="close")
            await worker.exit_code()
        await until(lambda: not broker.connections)
        drainer = await Process.spawn(configs[Role.DRAINER])
        drained = await drainer.hear("drained")
        drainer.say(do="close")
        await drainer.exit_code()
        return _judged(folder, drained, origin_ns), len(set(broker.published))


def _config(
    role: Role, folder: Path, broker: TinyBroker, origin_ns: int, acknowledge: int
) -> WorkerConfig:
    own = config(role, folder, broker, rate=None, confirm_window=50, acknowledge=acknowledge)
    log = str(folder / LOGS / NAMES[role])
    number = list(NAMES).index(role) + 1
    its = {"log": log, "run": plan(rate=None).name, "number": number}
    return replace(own, **its, origin_ns=origin_ns, quiet_s=0.3, limit_s=8.0)


def _judged(folder: Path, drained: dict[str, object], origin_ns: int) -> Findings:
    manifest = Manifest.of(plan(rate=None))
    manifest.load_started_ns, manifest.load_ended_ns = 0, time.monotonic_ns() - origin_ns
    manifest.workers = [
        WorkerRecord(NAMES[role], number, role.value) for number, role in enumerate(NAMES, 1)
    ]
    doubt = "" if drained["complete"] else str(drained["doubt"])
    manifest.queues = [QueueEnd("orders", True, not doubt, doubt, ())]
    manifest.save(folder)
    LogWriter(folder / LOGS / HARNESS).close()
    sealed = seal(folder)
    assert sealed.facts is not None
    return judge(Facts.from_json(sealed.facts), rows_of(folder))
