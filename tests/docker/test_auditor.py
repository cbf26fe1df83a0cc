"""RabbitMQ that left behind our back, and does not come back, is started for the audit."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from faults.executors.project import Project
from harness.deploy.compose_cluster import ComposeCluster
from harness.run.view import View
from tests.docker.conftest import Play
from tests.docker.whole_runs import counts, run
from tests.plans import plan

pytestmark = pytest.mark.docker

GONE_AFTER_S = 12.0  # it takes RabbitMQ some seconds to leave


@pytest.mark.parametrize(
    ("word", "found", "back_limit_s"),
    [
        ("shutdown", "its process has ended with exit code 0", 60.0),
        ("stop_app", "its process runs, but RabbitMQ in it has stopped", 5.0),
    ],
)
def test_a_broker_that_left_by_itself_is_started_once_and_every_place_is_read(
    cluster: ComposeCluster,
    play: Play,
    experiment_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    found: str,
    back_limit_s: float,
) -> None:
    monkeypatch.setattr("harness.run.auditor.BACK_LIMIT_S", back_limit_s)
    (process,) = Project(cluster.client, cluster.project).processes("rmq2")
    told: list[asyncio.Future[object]] = []

    def leave(view: View) -> bool:
        if view.phase == "settle" and not told:
            loop = asyncio.get_running_loop()
            told.append(loop.run_in_executor(None, process.exec_run, ["rabbitmqctl", word]))
        return False

    of = plan(name=f"audited-{word}")
    of = replace(of, schedule=replace(of.schedule, settle_s=GONE_AFTER_S))
    done = play(run(cluster, of, experiment_folder, leave))
    (record,) = done.manifest.audit_starts
    assert (record.place, record.found, record.left) == ("rmq2", found, "")
    assert record.answered_ns is not None, record.detail
    assert "mirror of orders" in record.detail
    assert [(end.drained, end.unreadable) for end in done.manifest.queues] == [(True, ())]
    assert done.manifest.rivals == []
    assert not {"lost", "stranded", "unreachable", "loss_unknown"} & counts(done).keys()
