"""RocketMQ elects a master in containers: a whole run through its crash, looked at all along."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.plan.clients.requirements import chosen_client
from harness.plan.model import RunPlan, Schedule, Window
from harness.systems.catalogue import load_layout, load_system
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.views import LEADER, NOTHING_BEFORE
from tests.docker.conftest import Play, require_docker
from tests.docker.rocketmq_runs import UP_LIMIT_S, judged
from tests.docker.whole_runs import Done, run
from tests.oracle.views import views
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

RUN_LIMIT_S, CLEAN_LIMIT_S = 300.0, 120.0
BASELINE_S, LASTS_S, RECOVERY_S, SETTLE_S, DRAIN_LIMIT_S = 4.0, 25.0, 6.0, 5.0, 60.0
TARGET = "master of orders"


# Every commit sees elections of all of them without containers.
SYSTEMS = ("rocketmq-dledger", "rocketmq-controller", "reference-dledger", "reference-ctgmq")


@pytest.fixture(scope="module", params=SYSTEMS)
def cluster(
    request: pytest.FixtureRequest, play: Play, experiment_folder: Path
) -> Iterator[ComposeCluster]:
    require_docker(request.param)
    layout = load_layout(request.param, "colocated@compressed")
    began = time.monotonic()
    made = play(ComposeDeployment(equip).up(layout, experiment_folder, print), UP_LIMIT_S)
    print(f"{request.param} stands after {time.monotonic() - began:.1f} s")
    try:
        yield made
    finally:
        play(made.down())


def of(cluster: ComposeCluster) -> RunPlan:
    system = load_system(cluster.layout.system)
    window = Window(1, fault("kill", TARGET), BASELINE_S, LASTS_S)
    return replace(
        plan(fault("kill", TARGET), name=f"elects-{system.name}"),
        system=system,
        layout=cluster.layout,
        client=chosen_client(system.clients[0]),
        schedule=Schedule(BASELINE_S, (window,), RECOVERY_S, SETTLE_S, DRAIN_LIMIT_S),
    )


def test_new_master_is_elected_without_loss_and_recorded(
    cluster: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    done = play(run(cluster, of(cluster), experiment_folder), RUN_LIMIT_S)
    judged(done)
    state: dict[str, Any] = done.manifest.state["windows"]["1"]
    assert state["promoted_mirror_rank"] is not None, state
    _looked_at_who_leads(done)
    assert play(cluster.health(CLEAN_LIMIT_S)).clean


def _looked_at_who_leads(done: Done) -> None:
    """Every voter was asked twice a second, and those that lived told of a new master."""
    assert done.manifest.facts is not None
    found = views(Facts.from_json(done.manifest.facts), rows_of(done.folder))
    leaders = [one for one in found.queries if one.kind == LEADER]
    assert len(leaders) == 3, found.queries
    (window,) = done.manifest.windows
    changes = [
        one
        for one in found.changes
        if one.kind == LEADER and one.shown and one.after_ns != NOTHING_BEFORE
    ]
    for one in sorted(changes, key=lambda one: one.by_ns):
        print(f"+{(one.by_ns - window.origin_ns) / 1e9:.2f} s: {one.name_server} {one.what}")
    elected = [
        one for one in changes if one.by_ns > window.origin_ns and "no broker" not in one.what
    ]
    assert any("leads" in one.what or "is master" in one.what for one in elected)
