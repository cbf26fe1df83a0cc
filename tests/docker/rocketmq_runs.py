"""RocketMQ that stands in containers, a master's fault under one client's load, and the verdict.

Nothing is played that a user could not ask for: a cell that is not applicable is no run.
"""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.clients.rocketmq import CLIENTS
from harness.plan.model import Layout, RunPlan
from harness.systems.catalogue import load_layout, load_system
from tests.docker.conftest import require_docker
from tests.docker.whole_runs import Done, counts
from tests.rigs.runs.plans import fault, plan

SYSTEM = "rocketmq-2m2s"
UP_LIMIT_S = 600.0
DRAIN_LIMIT_S = 60.0  # who drains starts a JVM, and a group its share of the queues
PLAY_LIMIT_S = 400.0  # an action, its proof, its undo and that it is gone


def standing(play: Callable[..., Any], folder: Path, layout: str) -> Iterator[ComposeCluster]:
    """For fixtures; skips, or fails, where there is no Docker."""
    require_docker(SYSTEM)
    deployment = ComposeDeployment(equip)
    up: Awaitable[ComposeCluster] = deployment.up(load_layout(SYSTEM, layout), folder, print)
    made = play(up, UP_LIMIT_S)
    try:
        yield made
    finally:
        play(made.down())


def of(cluster: ComposeCluster, client: str, kind: str) -> RunPlan:
    return planned(cluster.layout, client, kind)


def planned(layout: Layout, client: str, kind: str) -> RunPlan:
    system = replace(load_system(SYSTEM), clients=tuple(one.name for one in CLIENTS))
    made = plan(fault(kind, "rkt1"), lasts_s=8, name=f"real-{kind}-{client}".replace(".", "-"))
    assert obstacles(made.scenario, system, layout, chosen_client(client), made.deployment) == []
    schedule = replace(made.schedule, drain_limit_s=DRAIN_LIMIT_S)
    return replace(
        made, system=system, layout=layout, client=chosen_client(client), schedule=schedule
    )


def judged(done: Done) -> None:
    """Whole, without a doubt, and nothing that was confirmed is lost."""
    (window,) = done.manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert [queue.undrained_reason for queue in done.manifest.queues] == [""]
    assert [doubt for doubt in done.findings.doubts if doubt.scope != "availability"] == []
    assert counts(done)["state"] > 500
    assert not {"lost", "stranded", "unexpected", "corrupt", "loss_unknown"} & counts(done).keys()
    assert {worker.exit_code for worker in done.manifest.workers} == {0}
    assert all(worker.log_closed for worker in done.manifest.workers)
