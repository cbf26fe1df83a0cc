"""A whole run on somebody's cluster, with real workers, judged by the oracle: no Spark."""

import asyncio
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy.external.site import noted
from harness.plan.layouts.topology import Topology
from harness.plan.model import RunPlan
from harness.run_folder.manifest import Manifest
from harness.run_folder.seal import seal
from harness.systems.topologies import layout_of
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.tables import FAULTS, RESOURCES
from tests.oracle.judge import judge
from tests.rigs.clusters import external as rig
from tests.rigs.clusters.external import Owner, performed
from tests.rigs.clusters.topologies import START
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = pytest.mark.slow

LONGER_THAN_A_LOOK_S = 6.0


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        found.mirror()
        yield found


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")


def freeze(topology: Topology) -> RunPlan:
    of = plan(fault("freeze", "mirror of orders"), lasts_s=LONGER_THAN_A_LOOK_S)
    return replace(of, layout=layout_of(topology), deployment="external")


def test_freeze_by_owner_commands_is_verified_without_loss(owner: Owner, tmp_path: Path) -> None:
    of = freeze(owner.topology(START))
    asyncio.run(asyncio.wait_for(performed(of, tmp_path), 240))
    folder = tmp_path / "runs" / of.name
    manifest = seal(folder)
    assert manifest.failure == ""
    assert manifest.facts is not None
    counted = {
        row.measure: row.count
        for row in judge(Facts.from_json(manifest.facts), rows_of(folder)).counts
    }
    faults = list(read_rows(folder / "logs" / "harness", FAULTS))
    assert {row["mechanism"] for row in faults} == {"command"}
    assert [row["ok"] for row in faults if row["event"] in ("verified", "gone")] == [1, 1]
    assert "lost" not in counted
    assert "loss_unknown" not in counted
    assert counted["state"] > 0
    sampled = {row["host"] for row in read_rows(folder / "logs" / "harness", RESOURCES)}
    assert sampled == {"toxiproxy", "workers"}
    commands = (folder / "broker_logs" / "commands.jsonl").read_text().splitlines()
    steps = [json.loads(line)["step"] for line in commands]
    assert {"do", "undo", "verify"} == set(steps)
    assert steps.index("do") < steps.index("undo")
    assert manifest.state["copies"] is None
    assert manifest.state["windows"]["1"]["synchronised_mirrors_at_fault"] == 2
    assert (noted(), owner.names("queues")) == ((), [])


def test_without_a_verify_command_the_run_is_done_and_unknown(
    owner: Owner, tmp_path: Path
) -> None:
    of = freeze(owner.topology(kinds=("freeze",), steps=("do", "undo")))
    asyncio.run(asyncio.wait_for(performed(of, tmp_path), 240))
    manifest = seal(tmp_path / "runs" / of.name)
    (window,) = manifest.windows
    assert (window.verified, window.gone) == (False, True)
    assert "there is no verify command" in window.unverified_reason
    assert manifest.failure == ""


def test_owner_command_starts_a_permanently_lost_node_for_the_audit(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.run.operations.auditor.BACK_LIMIT_S", 1.0)
    of = replace(plan(), layout=layout_of(owner.topology(START)), deployment="external")

    killed: list[int] = []

    def happen(saved: Manifest) -> None:
        """Once, however often the manifest is saved then."""
        if saved.phase == "drain" and not killed:
            killed.append(owner.pid(owner.node_of("gamma")))
            os.kill(killed[0], signal.SIGKILL)

    asyncio.run(asyncio.wait_for(performed(of, tmp_path, happen), 240))
    manifest = seal(tmp_path / "runs" / of.name)
    (record,) = manifest.audit_starts
    assert (record.place, record.found, record.left) == ("gamma", "it does not answer", "")
    assert record.answered_ns is not None, record.detail
    assert [end.unreadable for end in manifest.queues] == [()]
    assert owner.state(owner.node_of("gamma")) != "gone"
