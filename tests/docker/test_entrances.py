"""Clients behind a pair of balancers after a kill of one: who answers where they dial."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.core.model import Proof
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from harness.cluster.polling import until
from harness.deploy import labels
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq.core.service_ports import AMQP_HEADER
from tests.docker.conftest import Play, what_is_wrong
from tests.docker.whole_runs import counts, run
from tests.rigs.clusters.fault_world import compiled_fault
from tests.rigs.runs.plans import fault, plan

GREETING = AMQP_HEADER.greets.arguments

pytestmark = pytest.mark.docker

FIRST, SECOND = "balancer1", "balancer2"
RUN = replace(plan(), name="entrance-test")
TAKEOVER_S = 10.0
GONE_LIMIT_S = 60.0
LIVES = 5  # a stale number of a process met another one in one of three or so


@pytest.fixture(scope="module")
def balanced(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    layout = load_layout("rabbitmq-mirrored", "all-automatic-haproxy-pair@T=60")
    cluster = play(ComposeDeployment(equip).up(layout, experiment_folder, print))
    try:
        yield cluster
    finally:
        play(cluster.down())


def balancer(cluster: ComposeCluster, name: str) -> Any:
    marks = {labels.PROJECT: cluster.project, labels.ROLE: labels.ROLE_PROCESS, labels.HOST: name}
    words = [f"{label}={value}" for label, value in marks.items()]
    (found,) = cluster.client.containers.list(all=True, filters={"label": words})
    return found


def holds(cluster: ComposeCluster, name: str) -> bool:
    """Whether a balancer has the address that floats, by its own kernel's word."""
    network = ".".join(cluster.layout.hosts[0].address.split(".")[:3])
    found = balancer(cluster, name)
    if found.status != "running":
        return False
    return f"{network}.112" in found.exec_run(["ip", "-4", "addr"]).output.decode()


async def let_in(cluster: ComposeCluster, proxy: str) -> bool:
    host, port = cluster.dial(proxy)
    said = await cluster.agent.call("greet", 2.0, host=host, port=port, **GREETING)
    return bool(said["answered"])


def test_worker_has_one_link_through_the_first_balancer(
    balanced: ComposeCluster, play: Play
) -> None:
    (link,) = play(balanced.link(RUN, "publisher-1"))
    try:
        assert link.host == "balancer"
        assert play(let_in(balanced, link.proxy))
        assert (holds(balanced, FIRST), holds(balanced, SECOND)) == (True, False)
        assert play(balanced.entered()) == (FIRST,)
    finally:
        play(balanced.unlink(RUN))


def test_other_balancer_serves_clients_and_returns_the_address(
    balanced: ComposeCluster, play: Play
) -> None:
    """Take over the address when one balancer is killed, and give it back later."""
    (link,) = play(balanced.link(RUN, "publisher-1"))
    hosts = (*(host.name for host in balanced.layout.hosts), FIRST)
    fault = compiled_fault("kill", FIRST, hosts, role="balancer", run=RUN.name)

    async def moved(to: str) -> bool:
        other = SECOND if to == FIRST else FIRST
        held_by = holds(balanced, to), holds(balanced, other)
        return held_by == (True, False) and await balanced.entered() == (to,)

    async def story() -> tuple[Proof, Proof, tuple[bool, bool]]:
        await prepare(fault, balanced.witness)
        try:
            await perform_all(balanced.executor, fault.actions)
            held_ = await held(fault, balanced.witness)
            away = await until(lambda: moved(SECOND), bool, TAKEOVER_S)
            open_ = await until(lambda: let_in(balanced, link.proxy), bool, TAKEOVER_S)
        finally:
            await perform_all(balanced.executor, fault.undo)
        left = await gone(fault, balanced.witness, GONE_LIMIT_S)
        assert await until(lambda: moved(FIRST), bool, TAKEOVER_S)
        assert await until(lambda: let_in(balanced, link.proxy), bool, TAKEOVER_S)
        return held_, left, (away, open_)

    try:
        held_, left, taken_over = play(story())
    finally:
        play(balanced.unlink(RUN))
    assert held_.ok, held_.doubt
    assert left.ok, left.doubt
    assert taken_over == (True, True)
    assert play(what_is_wrong(balanced)) == ()


def test_killed_balancer_recovers_however_its_processes_are_numbered(
    balanced: ComposeCluster, play: Play
) -> None:
    async def ready() -> bool:
        return not (await balanced.health(5.0)).doubts

    for _ in range(LIVES):
        balancer(balanced, SECOND).kill()
        balancer(balanced, SECOND).start()
        assert play(until(ready, bool, 30.0))


def test_a_dead_balancer_leaves_no_clean_cluster(balanced: ComposeCluster, play: Play) -> None:
    balancer(balanced, SECOND).kill()
    try:
        health = play(balanced.health(5.0))
    finally:
        balancer(balanced, SECOND).start()
    assert not health.clean
    assert "balancer2: no broker answers behind it" in health.doubts
    assert play(until(lambda: balanced.health(5.0), lambda found: found.clean, 30.0)).clean


@pytest.mark.nightly
def test_run_continues_through_the_other_balancer_after_a_kill(
    balanced: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    kill = fault("kill", "active balancer")
    of = replace(plan(kill, lasts_s=15, name="active-balancer"), layout=balanced.layout)
    done = play(run(balanced, of, experiment_folder))
    (window,) = done.manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert done.manifest.state["windows"]["1"]["fault_target_role"] == "balancer"
    assert [one.places for one in done.manifest.targets] == [FIRST]
    assert not {"lost", "stranded", "loss_unknown"} & counts(done).keys()
    (again,) = (
        row for row in done.findings.stages if (row.stage, row.window) == ("first_success", 1)
    )
    assert again.reached
    assert again.after_ns < 15_000_000_000, "the other one had let clients in by then"
