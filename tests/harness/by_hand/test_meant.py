"""Which cluster a fault by hand means: the only one that can suffer it, or the named one."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from faults.core.mechanisms import COMPOSE
from harness.by_hand.choosing import ByHandChoice
from harness.by_hand.meant import meant
from harness.by_hand.starting import RunningByHand
from harness.cluster.port import DeployError, Roles
from harness.plan.one_fault import read_fault
from harness.plan.problems import PlanError
from harness.systems.catalogue import load_layout, load_system

SYSTEMS = ("rabbitmq-mirrored", "reference-mirrored", "rocketmq-2m2s")


def running(name: str, queues: Sequence[str] | None, alias: str = "") -> RunningByHand:
    """A cluster that has these queues; None: no broker answers."""
    system = load_system(name)
    layout = load_layout(name, system.default_layout)

    async def roles(queue: str) -> Roles:
        if queues is None:
            raise DeployError("no broker answers")
        return Roles(layout.hosts[0].name if queue in queues else None, (), None)

    cluster = SimpleNamespace(layout=layout, broker=SimpleNamespace(roles=roles))
    choice = ByHandChoice(system, layout, layout.label, alias)
    described = SimpleNamespace(cluster="mqproof-1")
    made: Any = SimpleNamespace(choice=choice, cluster=cluster, described=described)
    return cast(RunningByHand, made)


def found(
    target: str, *queues: Sequence[str] | None, system: str = "", kind: str = "freeze"
) -> str:
    every = [running(*one) for one in zip(SYSTEMS, queues or ([], [], []), strict=True)]
    fault = read_fault({"kind": kind, "target": target, "lasts": "3 s"})
    return asyncio.run(meant(every, fault, system, COMPOSE)).choice.system.name


def test_a_host_is_of_one_cluster() -> None:
    assert found("rmq1") == "rabbitmq-mirrored"
    assert found("ref1") == "reference-mirrored"


def test_a_queue_is_of_the_cluster_that_has_it() -> None:
    assert found("master of orders", [], ["orders"], None) == "reference-mirrored"


def test_a_fault_that_may_mean_several_clusters_is_refused() -> None:
    every: list[list[list[str]]] = [[["orders"], ["orders"], []], [[], [], []]]
    for queues in every:
        with pytest.raises(PlanError, match="name one by --system"):
            found("master of orders", *queues)
    assert found("master of orders", system="rocketmq-2m2s") == "rocketmq-2m2s"


def test_every_cluster_says_why_it_cannot_suffer_a_fault() -> None:
    with pytest.raises(PlanError) as error:
        found("nohost")
    assert [one.place for one in error.value.problems] == list(SYSTEMS)


def test_of_two_clusters_of_one_system_the_layout_names_one() -> None:
    words = tuple(f"{SYSTEMS[0]}:three{version}" for version in ("", "+4.0.5"))
    every = [running(SYSTEMS[0], [], word) for word in words]
    fault = read_fault({"kind": "freeze", "target": "rmq1", "lasts": "3 s"})
    assert asyncio.run(meant(every, fault, words[1], COMPOSE)) is every[1]
    for system in ("", SYSTEMS[0]):
        with pytest.raises(PlanError) as error:
            asyncio.run(meant(every, fault, system, COMPOSE))
        assert all(word in str(error.value) for word in words)


def test_a_system_that_does_not_run_is_unknown() -> None:
    with pytest.raises(PlanError, match="there is no running cluster 'acme'"):
        found("rmq1", system="acme")


def test_links_to_servers_with_ports_of_their_own_cannot_be_verified() -> None:
    with pytest.raises(PlanError, match="cannot be verified in containers"):
        found("rkt1", system="rocketmq-2m2s", kind="hang")
