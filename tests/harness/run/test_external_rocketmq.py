"""A whole run on a RocketMQ cluster of somebody's, with real workers, judged by the oracle."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy.external.site import noted
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.topology import Topology
from harness.plan.model import RunPlan
from harness.run_folder.manifest import Manifest
from harness.run_folder.seal import seal
from harness.systems.catalogue import load_system
from harness.systems.topologies import layout_of
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.tables import FAULTS, PROBES
from tests.oracle.judge import judge
from tests.rigs.clusters import external_rocketmq as rig
from tests.rigs.clusters.external import performed
from tests.rigs.clusters.external_rocketmq import RocketOwner
from tests.rigs.clusters.topologies import START
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = pytest.mark.slow

LONGER_THAN_A_LOOK_S = 6.0


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RocketOwner]:
    with rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        yield found


@pytest.fixture
def group(tmp_path: Path) -> Iterator[RocketOwner]:
    with rig.standing(tmp_path / "group", rig.GROUP) as found:
        yield found


def played(kind: str, topology: Topology) -> RunPlan:
    of = plan(fault(kind, "master of orders"), lasts_s=LONGER_THAN_A_LOOK_S)
    return replace(
        of,
        system=load_system(topology.system),
        layout=layout_of(topology),
        deployment="external",
        client=chosen_client("rocketmq-python-4.9.8"),
    )


def sealed(of: RunPlan, folder: Path) -> tuple[Manifest, dict[str, int], set[str]]:
    """Perform the run; return its manifest, the counts, and the mechanisms of its faults."""
    asyncio.run(asyncio.wait_for(performed(of, folder), 240))
    own = folder / "runs" / of.name
    manifest = seal(own)
    assert manifest.failure == ""
    assert manifest.facts is not None
    counted = {
        row.measure: row.count
        for row in judge(Facts.from_json(manifest.facts), rows_of(own)).counts
    }
    faults = list(read_rows(own / "logs" / "harness", FAULTS))
    assert [row["ok"] for row in faults if row["event"] in ("verified", "gone")] == [1, 1]
    return manifest, counted, {str(row["mechanism"]) for row in faults}


def test_a_master_killed_by_its_owner_loses_nothing(owner: RocketOwner, tmp_path: Path) -> None:
    of = played("kill", owner.topology(START))
    manifest, counted, mechanisms = sealed(of, tmp_path)
    assert mechanisms == {"command"}
    assert "lost" not in counted
    assert counted["state"] > 0
    log = tmp_path / "runs" / of.name / "broker_logs" / "commands.jsonl"
    steps = [json.loads(line)["step"] for line in log.read_text().splitlines()]
    assert steps.index("do") < steps.index("undo")
    assert [end.unreadable for end in manifest.queues] == [()]
    assert noted() == ()
    assert [name for name in owner.topics_and_groups() if "mqproof" in name] == []


def test_a_hanging_link_to_a_master_is_verified(owner: RocketOwner, tmp_path: Path) -> None:
    of = played("hang", owner.topology(START))
    _, counted, mechanisms = sealed(of, tmp_path)
    assert mechanisms == {"proxy"}
    assert "lost" not in counted


def test_a_group_elects_a_leader_when_its_owner_kills_one(
    group: RocketOwner, tmp_path: Path
) -> None:
    of = played("kill", group.topology(START))
    manifest, counted, _ = sealed(of, tmp_path)
    assert "lost" not in counted
    assert manifest.state["elects_by_majority"] is True
    probes = tmp_path / "runs" / of.name / "logs"
    assert {row["kind"] for row in read_rows(probes / "prober-orders", PROBES)} >= {"leader"}
    assert [name for name in group.topics_and_groups() if "mqproof" in name] == []
