"""Runs with slow consumers: who is slow, and how fast deliveries come then."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from harness.plan.clients.amqp_section import AmqpWorkload
from harness.run_folder.seal import seal
from harness.systems.reference_mirrored import COMMAND
from harness.workers.protocol import Role
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.words import Via
from tests.harness.run.live_runs import run
from tests.harness.run.test_local_run import NOT_DELIVERED, performed
from tests.oracle.judge import judge
from tests.rigs.clusters.local import UNMIRRORED
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, plan
from tests.rigs.runs.run_folders import rows_of

EACH_S, PREFETCH = 0.05, 2


def test_only_consumers_of_the_load_are_slow(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    run(cluster, plan(processing_s=EACH_S), tmp_path)
    slow = {one.role: one.processing_s for one in cluster.configured.values()}
    assert slow[Role.CONSUMER] == EACH_S
    assert {slow[role] for role in slow if role is not Role.CONSUMER} == {0.0}
    assert Role.DRAINER in slow


@pytest.mark.slow
@pytest.mark.long
def test_deliveries_of_the_reference_follow_the_processing(tmp_path: Path) -> None:
    """100 messages a second come in, and 20 a second are processed: the drain reads the rest."""
    slow = plan(processing_s=EACH_S, acknowledge=1, amqp=AmqpWorkload(prefetch=PREFETCH))
    of = replace(
        slow,
        layout=UNMIRRORED,
        deployment="local",
        schedule=replace(slow.schedule, baseline_s=3.0, drain_limit_s=30),
    )
    asyncio.run(asyncio.wait_for(performed(of, tmp_path, node=COMMAND), 180))
    folder = tmp_path / "runs" / of.name
    manifest = seal(folder)
    assert manifest.failure == ""
    facts, recorded = Facts.from_json(manifest.facts or {}), rows_of(folder)
    assert manifest.load_ended_ns is not None
    # A close acknowledges what is not processed, so more may come while it lasts.
    received = sorted(
        int(row["received_ns"] or 0)
        for row in recorded["deliveries"]
        if row["via"] == Via.LOAD and int(row["received_ns"] or 0) <= manifest.load_ended_ns
    )
    assert len(received) > 5 * PREFETCH
    took_s = (received[-1] - received[0]) / 1e9
    assert took_s >= (len(received) - PREFETCH) * EACH_S
    assert any(row["via"] == Via.DRAIN for row in recorded["deliveries"])
    counted = {row.measure for row in judge(facts, recorded).counts}
    assert not counted & {*NOT_DELIVERED, "not_redelivered"}
