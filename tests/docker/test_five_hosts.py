"""Cuts of five real brokers: the shapes that three hosts cannot tell from others.

What is independent of executor and witness: what epmd of each host answers to a question from
inside each other broker's own container.
"""

import asyncio
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest

from faults.core.model import Proof
from faults.core.shapes import Way
from faults.kinds.network.partition import PartitionOptions
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.systems.catalogue import load_layout
from tests.docker.conftest import Play, what_is_wrong
from tests.docker.looks import epmd_answers, in_force
from tests.rigs.clusters.fault_world import compiled_fault

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

HOSTS = tuple(f"rmq{number}" for number in range(1, 6))
GONE_LIMIT_S = 60.0
APART = {  # seen from rmq2; pairs that do not reach each other
    "halves": "23 24 25 13 14 15",
    "ring": "23 24 14 15 35",
    "bridge": "14 15 34 35",
}


@pytest.fixture(scope="module")
def five(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    """At T=60 no node notices a short cut."""
    layout = load_layout("rabbitmq-mirrored", "all-automatic-5@T=60")
    cluster = play(ComposeDeployment(equip).up(layout, experiment_folder, print))
    try:
        yield cluster
    finally:
        play(cluster.down())


async def silent(cluster: ComposeCluster) -> set[Way]:
    ways = list(permutations(HOSTS, 2))
    answers = (asyncio.to_thread(epmd_answers, cluster, *way) for way in ways)
    heard = await asyncio.gather(*answers)
    return {way for way, found in zip(ways, heard, strict=True) if not found}


@pytest.mark.parametrize("shape", APART)
def test_five_brokers_are_partitioned_exactly_as_the_shape_says(
    five: ComposeCluster, play: Play, shape: str
) -> None:
    assert play(what_is_wrong(five)) == ()
    how = five.executor.mechanism("partition")
    fault = compiled_fault(
        "partition",
        "rmq2",
        HOSTS,
        run="five-hosts",
        mechanism=how,
        options=PartitionOptions(shape=shape),
    )

    async def story() -> tuple[Proof, set[Way], Proof]:
        await prepare(fault, five.witness)
        try:
            await perform_all(five.executor, fault.actions)
            holds, closed = await held(fault, five.witness), await silent(five)
        finally:
            await perform_all(five.executor, fault.undo)
        left = await gone(fault, five.witness, GONE_LIMIT_S)
        await five.witness.dismiss(fault)
        return holds, closed, left

    holds, closed, left = play(story())
    pairs = [(f"rmq{pair[0]}", f"rmq{pair[1]}") for pair in APART[shape].split()]
    assert closed == {*pairs, *((b, a) for a, b in pairs)}
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt
    assert play(silent(five)) == set()
    assert not play(in_force(five))
    assert play(what_is_wrong(five)) == ()
