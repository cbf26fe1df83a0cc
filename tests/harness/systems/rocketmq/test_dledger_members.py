"""Who leads a DLedger group: what its members say, and what a majority of them makes of it."""

import pytest

from harness.cluster.port import DeployError, Roles
from harness.systems.catalogue import load_layout
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core.layout import MASTER_ID
from harness.systems.rocketmq_dledger import Members
from tests.rigs.machine.loops import in_a_loop
from tests.rigs.rocketmq.in_memory import FakeRocket
from tests.rigs.rocketmq.systems import broker_of

QUEUE, TOPIC = "mqproof.r1.orders", "mqproof_r1_orders"
NOW = 0.0


def stood(leader: str = "broker-a-0") -> tuple[FakeRocket, RocketBroker]:
    made = FakeRocket(load_layout("rocketmq-dledger", "separated@compressed"))
    made.leads(made.server(leader))
    for one in made.brokers:
        made.topics[one].add(TOPIC)
    return made, broker_of(made.layout, made, addresses(made))


def addresses(made: FakeRocket) -> dict[str, str]:
    return {host.name: host.name for host in made.layout.hosts}


@in_a_loop
async def test_any_leader_makes_a_clean_cluster_with_followers_as_mirrors() -> None:
    for leader, host, others in (
        ("broker-a-0", "rkd1", ("rkd2", "rkd3")),
        ("broker-a-2", "rkd3", ("rkd1", "rkd2")),
    ):
        _, broker = stood(leader)
        health = await broker.health(NOW)
        assert health.clean, health.doubts
        assert await broker.roles(QUEUE) == Roles(host, others, others)


@in_a_loop
async def test_a_topic_is_made_where_the_group_is_led_from() -> None:
    made, broker = stood("broker-a-1")
    made.slaves_take_orders = False
    await broker.declare(QUEUE, True, "rkd3")
    assert (await broker.roles(QUEUE)).master == "rkd2"


@in_a_loop
async def test_thawed_member_that_believes_it_leads_is_not_the_leader() -> None:
    made, broker = stood("broker-a-1")
    old = made.server("broker-a-0")
    made.follows[old] = "n0"
    assert (await broker.roles(QUEUE)).master == "rkd2"
    assert (await broker.health(NOW)).doubts == ("broker-a-0 of rkd1 follows n0, not n1",)


@in_a_loop
async def test_a_leader_without_a_majority_leads_nothing() -> None:
    made, broker = stood("broker-a-0")
    made.follows[made.server("broker-a-1")] = ""
    made.follows[made.server("broker-a-2")] = ""
    assert (await broker.roles(QUEUE)).master is None
    assert "broker-a has no master" in (await broker.health(NOW)).doubts
    with pytest.raises(DeployError, match="no leader in broker-a"):
        await broker.declare(QUEUE, True, "rkd1")


@in_a_loop
async def test_a_leader_that_one_follower_of_two_follows_leads() -> None:
    made, _ = stood("broker-a-0")
    made.dead.add("rkd2 broker-a-1")
    members = Members(made.layout, RocketApi(made, addresses(made)))
    assert [one.host for one in await members.now() if one.id == MASTER_ID] == ["rkd1"]
    assert await members.doubts() == ("broker-a-1 of rkd2 does not report its leader",)
