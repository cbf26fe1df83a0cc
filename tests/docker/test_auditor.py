"""RabbitMQ that left behind our back, and does not come back, is started for the audit."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from faults.executors.project import Project
from harness.deploy.compose.cluster import ComposeCluster
from harness.run.core.view import LiveCounts
from spark_analysis.schema.facts import Cause
from tests.docker.conftest import Play
from tests.docker.whole_runs import counts, run
from tests.rigs.runs.plans import plan

pytestmark = pytest.mark.docker

KILLED = {
    "a signal": "killed from outside: signal 9 (SIGKILL)",
    "the engine": "ended by somebody, through the engine: signal 9 (SIGKILL)",
}
GONE_AFTER_S = 12.0  # it takes RabbitMQ some seconds to leave


@pytest.mark.parametrize(
    ("word", "found", "back_limit_s"),
    [
        pytest.param(
            *("shutdown", "its process has ended with exit code 0", 60.0),
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            *("stop_app", "its process runs, but RabbitMQ in it has stopped", 5.0),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_broker_that_ended_by_itself_starts_once_and_is_read(
    cluster: ComposeCluster,
    play: Play,
    experiment_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    found: str,
    back_limit_s: float,
) -> None:
    """Start the broker once for the audit and read every queue of it."""
    monkeypatch.setattr("harness.run.operations.auditor.BACK_LIMIT_S", back_limit_s)
    (process,) = Project(cluster.client, cluster.project).processes("rmq2")
    commands: list[asyncio.Future[object]] = []

    def leave(view: LiveCounts) -> bool:
        if view.phase == "settle" and not commands:
            loop = asyncio.get_running_loop()
            commands.append(loop.run_in_executor(None, process.exec_run, ["rabbitmqctl", word]))
        return False

    of = plan(name=f"audited-{word}")
    of = replace(of, schedule=replace(of.schedule, settle_s=GONE_AFTER_S))
    done = play(run(cluster, of, experiment_folder, leave))
    (record,) = done.manifest.audit_starts
    assert (record.place, record.found, record.left) == ("rmq2", found, "")
    assert record.answered_ns is not None, record.detail
    assert "mirror of orders" in record.detail
    assert [(end.drained, end.unreadable) for end in done.manifest.queues] == [(True, ())]
    # Status 0 says nothing of who asked it to end; within its process nothing has ended.
    ends = [(one.place, one.cause) for one in done.manifest.process_ends]
    assert ends == ([("rmq2", Cause.UNKNOWN)] if word == "shutdown" else [])
    assert done.manifest.competing_leaders == []
    assert not {"lost", "stranded", "unreachable", "loss_unknown"} & counts(done).keys()


@pytest.mark.parametrize("by", ["a signal", pytest.param("the engine", marks=pytest.mark.nightly)])
def test_killed_broker_is_recorded_with_its_exit_and_cause(
    cluster: ComposeCluster, play: Play, experiment_folder: Path, by: str
) -> None:
    (process,) = Project(cluster.client, cluster.project).processes("rmq2")
    killed: list[int] = []

    def kill(view: LiveCounts) -> bool:
        if view.phase == "settle" and not killed:
            killed.append(int(process.attrs["State"]["Pid"]))
            if by == "a signal":
                os.kill(killed[0], signal.SIGKILL)
            else:
                process.kill()
        return False

    done = play(run(cluster, plan(name=f"killed-by-{by[-6:]}"), experiment_folder, kill))
    (end,) = done.manifest.process_ends
    assert (end.place, end.cause) == ("rmq2", Cause.OUTSIDE)
    assert end.detail == KILLED[by]
    (record,) = done.manifest.audit_starts
    assert record.answered_ns is not None, record.detail
    assert end.until_ns is not None
    assert done.manifest.load_ended_ns is not None
    assert done.manifest.load_ended_ns < end.at_ns < end.until_ns
