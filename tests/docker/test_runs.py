"""Runs on a real cluster, sharing one boot: faults, lies, deaths of the harness, interrupts."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.executors.nothing import NothingExecutor
from harness.cleanup.guardian import LOG
from harness.cluster.polling import until
from harness.deploy.compose.cluster import ComposeCluster
from harness.run_folder.seal import seal
from spark_analysis.files.log import is_closed
from spark_analysis.schema.tables import RESOURCES
from tests.docker.conftest import Play, SharedCluster
from tests.docker.looks import in_force, workers_running
from tests.docker.whole_runs import ON_DIRECT_LINKS, counts, mostly_nightly, run
from tests.rigs.clusters.fault_world import REAL_OPTIONS_OF
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan

pytestmark = pytest.mark.docker

KINDS = list(ON_DIRECT_LINKS)  # those on proxied ones: test_peer_links.py
OVER_AT_ONCE = {"close", "client_crash"}  # they leave nothing that heal could undo
STANDING = [kind for kind in KINDS if kind not in OVER_AT_ONCE]
# Of kinds that differ by words alone one run stands for all, but nightly. (Each kind's lie is seen
# through on a real cluster in test_faults.py, and in a whole run in run/test_live_run.py.)
SEEN_THROUGH = {"kill", "partition"}
EACH_UNDO = {"hang", "partition", "alarm"}
EACH_END = {"kill", "reboot", "hang", "partition", "client_freeze"}
ROOT = Path(__file__).parents[2]


@pytest.fixture
def clean(cluster: ComposeCluster, shared: SharedCluster, play: Play) -> Iterator[ComposeCluster]:
    """The shared cluster, clean before and after."""
    yield cluster
    assert play(shared.left_clean()) == ()


@pytest.mark.parametrize("kind", mostly_nightly(KINDS, EACH_END))
def test_fault_is_verified_undone_and_loses_no_confirmed_message(
    clean: ComposeCluster, play: Play, experiment_folder: Path, kind: str
) -> None:
    of = plan(fault(kind, options=REAL_OPTIONS_OF[kind]), lasts_s=8, name=f"real-{kind}")
    done = play(run(clean, of, experiment_folder))
    (window,) = done.manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert [doubt for doubt in done.findings.doubts if doubt.scope != "availability"] == []
    # Where all clients died, no publisher was there meanwhile.
    assert counts(done)["state"] > (50 if kind == "client_crash" else 500)
    assert not {"lost", "stranded", "unexpected", "corrupt", "loss_unknown"} & counts(done).keys()
    ends = {worker.exit_code for worker in done.manifest.workers if not worker.log_whole}
    assert ends == {0}, "all but clients that were killed on purpose"


def test_run_records_resources_of_every_host_and_second(
    clean: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    done = play(run(clean, plan(fault("hang"), lasts_s=10, name="res"), experiment_folder))
    rows = list(read_rows(done.folder / "logs" / "harness", RESOURCES))
    hosts = {str(row["host"]) for row in rows}
    assert hosts >= {"rmq1", "rmq2", "rmq3"}
    times = [row["at_ns"] for row in rows if isinstance(row["at_ns"], int)]
    seconds = (max(times) - min(times)) / 1e9
    assert len(rows) >= 0.9 * seconds * len(hosts)


@pytest.mark.parametrize("kind", mostly_nightly(KINDS, SEEN_THROUGH))
def test_an_executor_that_does_nothing_makes_the_run_unknown(
    clean: ComposeCluster, play: Play, experiment_folder: Path, kind: str
) -> None:
    real = clean.executor
    clean.executor = NothingExecutor()
    try:
        of = plan(fault(kind, options=REAL_OPTIONS_OF[kind]), lasts_s=4, name=f"lie-{kind}")
        done = play(run(clean, of, experiment_folder))
    finally:
        clean.executor = real
    assert ("run", "fault") in [(doubt.scope, doubt.reason) for doubt in done.findings.doubts]


def test_interrupt_in_a_fault_seals_the_run_and_undoes_it(
    clean: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    of = plan(fault("partition"), lasts_s=600, name="interrupted")
    done = play(run(clean, of, experiment_folder, lambda view: bool(view.armed)))
    assert done.manifest.interrupted
    assert done.manifest.phase == "sealed"
    assert all(worker.log_closed for worker in done.manifest.workers)
    assert not play(in_force(clean))


@pytest.mark.parametrize("kind", mostly_nightly(STANDING, EACH_UNDO))
def test_harness_killed_in_a_fault_heals_within_10_s(
    clean: ComposeCluster, play: Play, experiment_folder: Path, kind: str
) -> None:
    """Heal the fault and stop the workers within 10 s of `kill -9`."""
    name = f"killed-{kind}-{time.monotonic_ns()}"  # a repetition needs a folder of its own
    harness = _attach(clean, experiment_folder, kind, name)
    try:
        assert harness.stdout is not None
        line = harness.stdout.readline()
        assert line == b"armed\n", harness.communicate()
        seen = until(lambda: in_force(clean), bool, 15.0)  # what comes and goes may be away
        assert play(seen), "otherwise the test shows nothing"
        assert workers_running(clean)
    finally:
        with contextlib.suppress(ProcessLookupError):
            harness.send_signal(signal.SIGKILL)
        harness.wait()
    died = time.monotonic()
    left = play(_left_of(clean, died + 10.0))
    assert not left, [*left, (experiment_folder / LOG).read_text()]
    folder = experiment_folder / "runs" / name
    for worker in ("publisher-1", "consumer-1"):
        assert is_closed(folder / "logs" / worker), "workers stop by themselves and close"
    manifest = seal(folder)
    assert manifest.facts is not None
    assert manifest.facts["clock_problem"] == "the harness ended in phase 'windows'"
    play(clean.broker.connections("mqproof.", True))
    play(clean.broker.delete("mqproof."))


def _attach(
    cluster: ComposeCluster, experiment: Path, kind: str, name: str
) -> "subprocess.Popen[bytes]":
    network = cluster.layout.hosts[0].address.rpartition(".")[0]
    script = Path(__file__).with_name("attached.py")
    words = [sys.executable, str(script), cluster.project, network, str(experiment), kind, name]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(words, stdout=subprocess.PIPE, env=environment)


async def _left_of(cluster: ComposeCluster, until_s: float) -> list[str]:
    """What the last look that began before `until_s` (monotonic) found; empty if all is healed."""
    left = ["nothing was looked at"]
    while left and (begun := time.monotonic()) < until_s:
        found = await in_force(cluster) + await asyncio.to_thread(workers_running, cluster)
        took = time.monotonic() - begun
        left = found and [
            *found,
            f"a look took {took:.1f} s, {until_s - begun:.1f} s before the limit",
        ]
        await asyncio.sleep(0.1)
    return left
