"""Topology files of systems: which may be named in one, and which are not met so."""

from dataclasses import replace

import pytest

from harness.cluster.port import DeployError
from harness.plan.problems import PlanError
from harness.systems import topologies
from harness.systems.registry import OURS, SystemRegistry
from harness.systems.topologies import foreign_of, read_topology
from tests.rigs.clusters.topologies import HEAD, text, topology

NAMED = HEAD.replace("reference-mirrored", "rocketmq-controller")


def test_topology_cannot_name_a_system_without_external_clusters() -> None:
    with pytest.raises(PlanError) as error:
        read_topology("mine", text(head=NAMED), ("rocketmq-controller", "reference-mirrored"))
    why = "mqproof plays 'rocketmq-controller' only on clusters that it starts itself"
    assert why in str(error.value)
    assert "valid: reference-mirrored" in str(error.value)


def test_a_removed_system_is_reported_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = topology()
    changed = replace(OURS["reference-mirrored"], foreign=None)
    for systems in ({}, {changed.name: changed}):
        monkeypatch.setattr(
            topologies, "registry", lambda have=systems: SystemRegistry(have, {}, {})
        )
        with pytest.raises(DeployError, match="reference-mirrored cannot be met as brokers that"):
            foreign_of(found)
