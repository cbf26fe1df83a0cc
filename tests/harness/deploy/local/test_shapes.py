"""Cuts of five reference nodes: the shapes that three hosts cannot tell from others.

What is independent of executor and witness: plain sockets on each of the twenty ways.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from faults.core.actions import both_ways
from faults.core.mechanisms import LOCAL
from faults.kinds import mechanism
from faults.kinds.network.partition import PartitionOptions
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.plan.layouts.layout_values import Host
from tests.rigs.clusters.local import GONE_S, HELD_S, UNMIRRORED, armed, silent
from tests.rigs.machine.loops import within

pytestmark = pytest.mark.slow

HOSTS = tuple(f"ref{number}" for number in range(1, 6))
FIVE = replace(UNMIRRORED, hosts=tuple(Host(name, name, ("broker",)) for name in HOSTS))
LIMIT_S = 240.0  # five nodes on a machine that is busy
APART: dict[str, list[tuple[str, tuple[str, ...]]]] = {  # seen from ref2; who does not reach whom
    "halves": [("ref2", ("ref3", "ref4", "ref5")), ("ref1", ("ref3", "ref4", "ref5"))],
    "ring": [("ref2", ("ref3", "ref4")), ("ref1", ("ref4", "ref5")), ("ref3", ("ref5",))],
    "bridge": [("ref1", ("ref4", "ref5")), ("ref3", ("ref4", "ref5"))],
}


@within(LIMIT_S)
async def test_five_nodes_split_into_halves_ring_and_bridge_and_rejoin(
    tmp_path: Path,
) -> None:
    cluster = await LocalDeployment(equip).up(FIVE, tmp_path, lambda _: None)
    try:
        for shape, apart in APART.items():
            fault = armed(cluster, "partition", "ref2", options=PartitionOptions(shape=shape))
            assert fault.mechanism == mechanism("partition", LOCAL)
            await prepare(fault, cluster.witness)
            await perform_all(cluster.executor, fault.actions)
            holding = await held(fault, cluster.witness, HELD_S)
            closed = await silent(cluster)
            await perform_all(cluster.executor, fault.undo)
            leaving = await gone(fault, cluster.witness, GONE_S)
            await cluster.witness.dismiss(fault)
            assert closed == {way for host, peers in apart for way in both_ways(host, peers)}
            assert holding.ok, holding.doubt
            assert leaving.ok, leaving.doubt
            assert await silent(cluster) == set()
    finally:
        await cluster.down()
