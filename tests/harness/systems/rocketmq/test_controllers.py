"""Who is master, by the word of the controllers' leader, and who of them that is."""

from typing import Any

import pytest

from harness.cluster.port import DeployError, Roles
from harness.systems.catalogue import load_layout
from harness.systems.rocketmq.broker import RocketBroker
from tests.rigs.machine.loops import in_a_loop
from tests.rigs.rocketmq.in_memory import FakeRocket
from tests.rigs.rocketmq.systems import broker_of

QUEUE, TOPIC = "mqproof.r1.orders", "mqproof_r1_orders"
NOW = 0.0
AT = {"broker-a-0": "rkc1:10911", "broker-a-1": "rkc2:10921"}


def state(master: str, in_sync: tuple[str, ...] = tuple(AT)) -> dict[str, Any]:
    """A group's state: the broker-a-0 was given the id 1, the broker-a-1 the id 2."""
    said = [{"brokerAddress": at, "brokerId": n} for n, at in enumerate(AT.values(), 1)]
    inside = [one for one in said if one["brokerAddress"] in [AT[word] for word in in_sync]]
    return {
        "masterAddress": AT.get(master),
        "masterEpoch": 1,
        "syncStateSetEpoch": 2,
        "inSyncReplicas": inside,
        "notInSyncReplicas": [one for one in said if one not in inside],
    }


def stood(master: str = "broker-a-0", leader: str = "rkc4") -> tuple[FakeRocket, RocketBroker]:
    made = FakeRocket(load_layout("rocketmq-controller", "separated@compressed"))
    name_servers = [made.server("name-server", host) for host in ("rkc3", "rkc4", "rkc5")]
    for one in name_servers:
        made.controllers[one] = ("n1", one.host == leader)
    for one in made.brokers:
        made.ids[one] = 0 if one.process == master else one.id + 1
        made.topics[one].add(TOPIC)
    made.states["broker-a"] = state(master)
    addresses = {host.name: host.name for host in made.layout.hosts}
    return made, broker_of(made.layout, made, addresses)


@in_a_loop
async def test_any_master_makes_a_clean_cluster_with_the_other_mirroring() -> None:
    for master, roles in (
        ("broker-a-0", Roles("rkc1", ("rkc2",), ("rkc2",))),
        ("broker-a-1", Roles("rkc2", ("rkc1",), ("rkc1",))),
    ):
        _, broker = stood(master)
        health = await broker.health(NOW)
        assert health.clean, health.doubts
        assert await broker.roles(QUEUE) == roles


@in_a_loop
async def test_slave_outside_the_sync_state_set_is_an_unsynchronised_mirror() -> None:
    made, broker = stood()
    made.states["broker-a"] = state("broker-a-0", ("broker-a-0",))
    assert await broker.roles(QUEUE) == Roles("rkc1", ("rkc2",), ())
    assert (await broker.health(NOW)).doubts == ("broker-a-1 of rkc2 is not in the SyncStateSet",)


@in_a_loop
async def test_a_controller_that_stalled_is_not_queried_as_leader() -> None:
    made, broker = stood()
    made.controllers[made.server("name-server", "rkc3")] = ("n0", True)
    assert (await broker.roles(QUEUE)).master == "rkc1"


@in_a_loop
async def test_without_a_leading_controller_the_master_is_unknown() -> None:
    made, broker = stood()
    for one in made.controllers:
        made.controllers[one] = ("", False)
    assert (await broker.roles(QUEUE)).master is None
    assert "no controller leads" in (await broker.health(NOW)).doubts
    with pytest.raises(DeployError, match="no leader in broker-a"):
        await broker.declare(QUEUE, True, "rkc1")


@in_a_loop
async def test_group_without_live_master_or_in_sync_slave_has_none() -> None:
    made, broker = stood()
    made.states["broker-a"] = state("", ("broker-a-0",))
    made.dead.add("rkc1 broker-a-0")
    assert (await broker.roles(QUEUE)).master is None


@in_a_loop
async def test_a_controller_that_does_not_answer_is_a_doubt() -> None:
    made, broker = stood()
    made.dead.add("rkc5 name-server")
    assert "the controller of rkc5 does not answer" in (await broker.health(NOW)).doubts
