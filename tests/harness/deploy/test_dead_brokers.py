"""Whether a place that does not answer holds no broker any more."""

import asyncio
from types import SimpleNamespace
from typing import cast

from faults.core.actions import Start
from harness.cluster.port import DeadBroker
from harness.deploy.dead_brokers import by_process
from harness.deploy.external.cluster import ExternalCluster
from tests.rigs.clusters.fault_world import World
from tests.rigs.clusters.topologies import FREEZE, command, topology


def test_ended_process_carries_no_broker_and_is_started() -> None:
    found = asyncio.run(by_process(World(dead={"rmq2": 137}), "rmq2"))
    assert found == DeadBroker("its process has ended with exit code 137", (Start("rmq2", 30.0),))


def test_a_process_that_runs_may_hold_one_frozen_or_not() -> None:
    assert asyncio.run(by_process(World(frozen={"rmq2"}), "rmq2")) is None


def owned(commands: str, place: str = "beta") -> DeadBroker | None:
    """What a cluster that is not ours says of a place; nothing of it but its file is asked."""
    site = SimpleNamespace(topology=topology(commands=commands))
    cluster = cast(ExternalCluster, SimpleNamespace(site=site))
    return asyncio.run(ExternalCluster.dead_broker(cluster, place))


def test_foreign_broker_is_started_by_its_owners_command() -> None:
    words = {"do": ["x", "do"], "undo": ["x", "undo"], "verify": ["x", "verify"]}
    kill, stop = command("kill", words), command("stop", words)
    assert owned(FREEZE + kill) == DeadBroker("it does not answer", (Start("beta", after="kill"),))
    assert owned(kill + stop) == DeadBroker("it does not answer", (Start("beta", after="stop"),))


def test_without_a_start_command_a_foreign_broker_stays_down() -> None:
    assert owned(FREEZE) == DeadBroker("it does not answer, and no command starts it", ())
