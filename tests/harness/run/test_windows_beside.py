"""Windows beside others, and windows that are over before a look at their fault can be."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from faults.core.actions import Freeze, Kill
from faults.core.model import Reply
from harness.plan.files.targets import parse_target
from harness.plan.model import RunPlan
from harness.run.core.resolving import NoSuchTarget, resolve_reference
from tests.harness.run.live_runs import run
from tests.rigs.clusters.fault_world import World
from tests.rigs.clusters.simulated_cluster import SimulatedCluster
from tests.rigs.runs.plans import LAYOUT, fault, plan

HOSTS = ("rmq1", "rmq2", "rmq3")


def referring(target: str) -> RunPlan:
    """A kill of the master, and a freeze of what the target means while it is down."""
    of = plan(fault("kill"), fault("freeze", target), lasts_s=1.0)
    first, second = of.schedule.windows
    inside = replace(second, opens_s=0.5, lasts_s=0.2, refers_to=1)
    return replace(of, schedule=replace(of.schedule, windows=(first, inside)))


def test_host_other_than_a_faults_is_first_in_layout_order(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, referring("other than fault 1"), tmp_path)
    (killed,) = (one.host for one in cluster.executor.performed if isinstance(one, Kill))
    (frozen,) = (one.host for one in cluster.executor.performed if isinstance(one, Freeze))
    assert frozen == next(host for host in HOSTS if host != killed)
    assert [window.unverified_reason for window in done.manifest.windows] == ["", ""]


def test_host_of_a_fault_stays_after_a_leadership_change(tmp_path: Path) -> None:
    cluster = SimulatedCluster(LAYOUT)
    done = run(cluster, referring("host of fault 1"), tmp_path)
    (killed,) = (one.host for one in cluster.executor.performed if isinstance(one, Kill))
    assert f"means {killed}, where fault 1" in done.manifest.not_begun[0].unverified_reason


def test_reference_to_an_unopened_fault_means_no_host() -> None:
    target = parse_target("host of fault 1")
    assert resolve_reference(target, "rmq2", HOSTS) == "rmq2"
    with pytest.raises(NoSuchTarget, match="fault 1 never began"):
        resolve_reference(target, "", HOSTS)
    with pytest.raises(NoSuchTarget, match="rmq1 is the only host"):
        resolve_reference(parse_target("other than fault 1"), "rmq1", ("rmq1",))


def test_short_fault_keeps_its_length_despite_a_longer_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(self: World, host: str, peer: str, wait_s: float | None = None) -> Reply:
        await asyncio.sleep(2.5)
        return Reply(False, 2.5, "silent for 2.5 s")

    monkeypatch.setattr(World, "reach", slow)
    done = run(SimulatedCluster(LAYOUT), plan(fault("partition"), lasts_s=0.3), tmp_path)
    (window,) = done.facts.windows
    assert window.ended_ns is not None
    assert window.ended_ns - window.origin_ns < 0.6e9
    assert not window.verified
    assert "shorter than a check" in window.unverified_reason
