"""Operators' deeds on nodes of the reference in containers: its command line is reached beside a
node that runs, and instead of one that is down."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cluster.orders import AddNode, ForceBoot, ForgetNode, ResetNode, WipeNode
from harness.cluster.port import DeployError
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.systems.catalogue import load_layout
from tests.docker.conftest import Play
from tests.docker.test_operations import SERVES_LIMIT_S, carry_out, down, members, up

pytestmark = [pytest.mark.docker, pytest.mark.nightly]

THREE = {"ref1", "ref2", "ref3"}
FOUR = {*THREE, "ref4"}


@pytest.fixture
def fresh(play: Play, tmp_path: Path) -> Iterator[ComposeCluster]:
    layout = load_layout("reference-mirrored", "all-automatic-spare@T=10")
    cluster = play(ComposeDeployment(equip).up(layout, tmp_path, print))
    try:
        yield cluster
    finally:
        play(cluster.down())


def test_nodes_join_leave_and_are_forgotten_and_lose_their_disks(
    fresh: ComposeCluster, play: Play
) -> None:
    assert play(members(fresh, "ref4", {"ref4"})) == {"ref4"}
    play(carry_out(fresh, AddNode("ref4", "ref1")))
    assert play(members(fresh, "ref2", FOUR)) == FOUR
    play(carry_out(fresh, ResetNode("ref2")))
    assert play(members(fresh, "ref1", FOUR)) == FOUR
    assert play(fresh.health(SERVES_LIMIT_S)).clean
    with pytest.raises(DeployError, match="that is for a node that is down"):
        play(carry_out(fresh, ForceBoot("ref1")))
    play(down(fresh, "ref4"))
    play(carry_out(fresh, ForgetNode("ref4", "ref1", offline=False)))
    assert play(members(fresh, "ref1", THREE)) == THREE
    play(down(fresh, "ref1", "ref2", "ref3"))
    play(carry_out(fresh, WipeNode("ref3"), ForgetNode("ref3", "ref2", offline=True)))
    play(up(fresh, "ref2"))
    assert play(members(fresh, "ref2", {"ref1", "ref2"})) == {"ref1", "ref2"}
    play(up(fresh, "ref1", "ref3"))
    assert play(members(fresh, "ref2", THREE)) == THREE
    play(down(fresh, "ref1", "ref2", "ref3"))
    play(carry_out(fresh, ForceBoot("ref1")))
    play(up(fresh, "ref1"))
