"""Streams on real nodes: a leader is killed under load, and every replica is audited."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.plan.clients.requirements import chosen_client
from harness.systems.catalogue import load_layout, load_system
from harness.workers.clients.amqp_stream import STREAM
from spark_analysis.schema import tables
from spark_analysis.schema.words import Via
from tests.docker.conftest import Play
from tests.docker.whole_runs import counts, run
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan

pytestmark = pytest.mark.docker

SYSTEM, HOSTS = "rabbitmq-stream", ("rqs1", "rqs2", "rqs3")


@pytest.fixture(scope="module")
def three(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    layout = load_layout(SYSTEM, "three@T=10")
    cluster = play(ComposeDeployment(equip).up(layout, experiment_folder, print))
    try:
        yield cluster
    finally:
        play(cluster.down())


def test_a_leader_kill_loses_and_repeats_no_confirmed_message(
    three: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    of = replace(
        plan(fault("kill"), lasts_s=8, name="stream-kill"),
        system=load_system(SYSTEM),
        layout=three.layout,
        client=chosen_client("pika-stream"),
    )
    # A look at a stream reads it: two looks and the silence between them take seconds.
    of = replace(of, schedule=replace(of.schedule, drain_limit_s=30.0))
    done = play(run(three, of, experiment_folder))
    (window,) = done.manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    found = counts(done)
    assert found["state"] > 500
    assert not {"lost", "stranded", "loss_unknown", "unreachable", "duplicated"} & found.keys()
    (end,) = done.manifest.queues
    assert (end.drained, end.unreadable) == (True, ())
    read = Counter[tuple[int, str]]()
    for folder in (done.folder / "logs").iterdir():
        for row in read_rows(folder, tables.DELIVERIES):
            read[row["via"], row["broker"]] += 1
    delivered = read[Via.LOAD, STREAM] + read[Via.DRAIN, STREAM]
    assert {read[Via.AUDIT, host] for host in HOSTS} == {delivered}
