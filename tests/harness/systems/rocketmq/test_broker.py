"""RocketMQ's Broker port over servers whose answers are tables."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from harness.cluster.agent import AgentLost
from harness.cluster.port import DeployError, Roles
from harness.systems.catalogue import load_layout
from harness.systems.registry import OURS
from harness.systems.rocketmq import broker as rocketmq
from harness.systems.rocketmq.api import RocketApi
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core import cluster_state
from harness.systems.rocketmq_2m2s import FixedRoles
from harness.workers.remoting.requests import Code
from tests.rigs.machine.loops import in_a_loop
from tests.rigs.rocketmq.in_memory import FakeRocket
from tests.rigs.rocketmq.systems import broker_of

QUEUE = "mqproof.r1.orders"
TOPIC = "mqproof_r1_orders"
NOW = 0.0


def stood(layout: str = "colocated") -> tuple[FakeRocket, RocketBroker]:
    made = FakeRocket(load_layout("rocketmq-2m2s", layout))
    addresses = {host.name: host.name for host in made.layout.hosts}
    return made, broker_of(made.layout, made, addresses)


@in_a_loop
async def test_cluster_is_clean_if_brokers_show_and_slaves_caught_up() -> None:
    for layout in ("colocated", "separated", "one-group"):
        _, broker = stood(layout)
        health = await broker.health(NOW)
        assert health.clean, health.doubts


@in_a_loop
async def test_each_doubt_names_the_server_and_what_it_lacks() -> None:
    made, broker = stood()
    made.hidden.add(("rkt2", "broker-a-1"))
    made.dead.add("rkt1 name-server")
    made.ends[made.server("broker-b-1")] = 400
    health = await broker.health(NOW)
    assert not health.clean
    assert health.doubts == (
        "name-server of rkt1 does not answer",
        "name-server of rkt2 does not list rkt3:10931 as slave 1 of broker-a",
        "broker-b-1 of rkt4 is 600 bytes behind its master",
    )


@in_a_loop
async def test_broker_outside_the_layout_is_a_caveat() -> None:
    made, broker = stood("one-group")
    stranger = stood("colocated")[0].server("broker-b-0")
    made.strangers.append(stranger)
    assert (await broker.health(NOW)).doubts == tuple(
        f"name-server of {host} lists rkt2:10921 as the master of broker-b, which is not in the "
        "layout"
        for host in ("rkt3", "rkt4")
    )


@in_a_loop
async def test_declared_topic_lies_on_all_groups_with_its_placed_master() -> None:
    made, broker = stood()
    await broker.declare(QUEUE, True, "rkt2")
    assert {one.process for one in made.brokers if TOPIC in made.topics[one]} == {
        *("broker-a-0", "broker-a-1", "broker-b-0"),
        "broker-b-1",
    }
    assert await broker.roles(QUEUE) == Roles("rkt2", ("rkt4",), ("rkt4",))
    assert await broker.masters(QUEUE) == {"rkt2": True, "rkt4": False}


@in_a_loop
async def test_slave_host_means_its_group_and_others_the_first() -> None:
    _, broker = stood("separated")
    for host, master in (("rkt4", "rkt2"), ("rkt6", "rkt1")):
        await broker.declare(QUEUE, True, host)
        assert (await broker.roles(QUEUE)).master == master


@pytest.mark.parametrize(("name", "limit_s"), [("colocated", 45), ("colocated-v5", 95)])
@in_a_loop
async def test_topic_partly_missing_on_a_slave_is_not_declared(
    name: str, limit_s: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def at_the_end(look: Callable[[], Awaitable[Any]], _: object, __: float) -> Any:
        return await look()

    monkeypatch.setattr(rocketmq, "until", at_the_end)
    made, broker = stood(name)
    made.dead.add("rkt3 broker-a-1")
    message = f"is still missing on broker-a-1 of rkt3 after {limit_s} s"
    with pytest.raises(DeployError, match=message):
        await broker.declare(QUEUE, True, "rkt1")


@in_a_loop
async def test_load_begins_when_each_slave_has_reported_to_its_master() -> None:
    """Before that a SYNC_MASTER confirms nothing, and clients send again what it has stored."""
    made, broker = stood()
    slow, quick = made.server("broker-a-0"), made.server("broker-b-0")
    made.unreported[slow] = 2
    await broker.declare(QUEUE, True, "rkt1")
    assert [server for server, _ in made.sent].count(slow) == 3
    assert {server for server, _ in made.sent} == {slow, quick}
    assert TOPIC not in {topic for _, topic in made.sent}


@in_a_loop
async def test_slave_that_never_reports_delays_but_does_not_block_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rocketmq, "REPORTED_LIMIT_S", 0.0)
    made, broker = stood()
    made.unreported[made.server("broker-a-0")] = 9
    await broker.declare(QUEUE, True, "rkt1")
    assert made.unreported[made.server("broker-a-0")] == 8


@in_a_loop
async def test_a_dead_master_owns_nothing_and_no_slave_replaces_it() -> None:
    made, broker = stood()
    await broker.declare(QUEUE, True, "rkt1")
    made.dead |= {"rkt1 name-server", "rkt1 broker-a-0"}
    assert await broker.roles(QUEUE) == Roles(None, ("rkt3",), ())
    assert await broker.masters(QUEUE) == {"rkt1": None, "rkt3": False}


@in_a_loop
async def test_isolated_name_servers_gaps_are_filled_by_another() -> None:
    made, broker = stood()
    await broker.declare(QUEUE, True, "rkt1")
    made.hidden |= {("rkt2", "broker-a-0"), ("rkt2", "broker-a-1")}
    assert await broker.roles(QUEUE) == Roles("rkt1", ("rkt3",), ("rkt3",))
    made.dead.add("rkt1 name-server")
    assert await broker.roles(QUEUE) == Roles(None, (), ())
    made.dead.add("rkt2 name-server")
    with pytest.raises(DeployError, match="no name server reports who holds topic"):
        await broker.roles(QUEUE)


@in_a_loop
async def test_lagging_slave_is_an_unsynchronised_mirror(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rocketmq, "CATCH_UP_LIMIT_S", 0.0)
    made, broker = stood()
    await broker.declare(QUEUE, True, "rkt1")
    made.ends[made.server("broker-a-1")] = 999
    assert await broker.roles(QUEUE) == Roles("rkt1", ("rkt3",), ())


@pytest.mark.parametrize("slaves_take_orders", [True, False])  # 4.9.7's do, 5.3.3's do not
@in_a_loop
async def test_a_runs_topics_and_groups_go_and_others_stay(slaves_take_orders: bool) -> None:
    made, broker = stood()
    made.slaves_take_orders = slaves_take_orders
    await broker.declare(QUEUE, True, "rkt1")
    await broker.declare("mqproof.r10.orders", True, "rkt1")
    left = {"mqproof_r10_orders", "SELF_TEST_TOPIC"}
    for one in made.brokers:
        made.topics[one].add(f"%RETRY%{TOPIC}_readers")
        made.groups[one] |= {f"{TOPIC}_readers", "mqproof_r10_orders_readers"}
    await broker.delete("mqproof.r1.")
    for one in made.brokers:
        if one.id == 0 or slaves_take_orders:
            assert made.topics[one] == left
            assert made.groups[one] == {"TOOLS_CONSUMER", "mqproof_r10_orders_readers"}
    assert set(made.deleted_routes) == {
        (host, name) for host in ("rkt1", "rkt2") for name in (TOPIC, f"%RETRY%{TOPIC}_readers")
    }
    await broker.delete("mqproof.r1.")


def test_the_brokers_own_reply_topic_is_no_queue_of_a_run() -> None:
    names = {"mqproof_REPLY_TOPIC", "mqproof_r1_orders", "%RETRY%mqproof_r1_g", "TBW102"}
    assert cluster_state.of_runs(names, "mqproof_") == ("%RETRY%mqproof_r1_g", "mqproof_r1_orders")


@in_a_loop
async def test_connections_are_worker_names_listed_by_any_master() -> None:
    made, broker = stood()
    await broker.declare(QUEUE, True, "rkt1")
    listed = {
        ("broker-a-0", "writers"): ["mqproof.r1.publisher-1"],
        ("broker-b-0", "writers"): ["mqproof.r1.publisher-1"],
        ("broker-b-0", "writers_2"): ["mqproof.r1.publisher-2"],  # of transactions
        ("broker-a-0", "readers"): ["mqproof.r1.consumer-1", "somebody"],
        ("broker-a-1", "readers"): ["mqproof.r1.ghost"],  # who left while the slave stood still
    }
    for (process, whose), names in listed.items():
        made.clients[made.server(process), f"{TOPIC}_{whose}"] = names
    assert await broker.connections("mqproof.r1.", close=False) == (
        *("mqproof.r1.consumer-1", "mqproof.r1.publisher-1"),
        "mqproof.r1.publisher-2",
    )
    made.clients[made.server("broker-a-0"), f"{TOPIC}_readers"] = ["mqproof.r1.consumer-2"]
    still = await broker.connections("mqproof.r1.", close=True)
    assert still == ("mqproof.r1.consumer-2",), "a producer holds nothing back"
    made.dead.add("rkt1 broker-a-0")  # its slave's word counts then
    assert "mqproof.r1.ghost" in await broker.connections("mqproof.r1.", close=False)
    made.clients.clear()
    assert await broker.connections("mqproof.r1.", close=True) == ()


@pytest.mark.parametrize(
    "code",
    [Code.GET_ALL_SUBSCRIPTION_GROUPS, Code.GET_CONSUMER_CONNECTIONS, Code.GET_ALL_PRODUCERS],
)
@pytest.mark.parametrize(
    ("answer", "reason"), [(None, "does not answer"), ("[]", "gave no answer that can be read")]
)
@in_a_loop
async def test_a_broker_without_a_plain_answer_has_connections_unknown(
    code: Code, answer: str | None, reason: str
) -> None:
    made, broker = stood()
    await broker.declare(QUEUE, True, "rkt1")
    made.spoilt[code] = answer
    with pytest.raises(DeployError, match=reason):
        await broker.connections("mqproof.r1.", close=False)


@pytest.mark.parametrize("answer", [None, "[]"])
@in_a_loop
async def test_topics_are_deleted_though_their_groups_are_unknown(answer: str | None) -> None:
    made, broker = stood()
    await broker.declare(QUEUE, True, "rkt1")
    made.spoilt[Code.GET_ALL_SUBSCRIPTION_GROUPS] = answer
    await broker.delete("mqproof.r1.")
    assert not any(TOPIC in made.topics[one] for one in made.brokers)
    assert {name for _, name in made.deleted_routes} == {TOPIC}


@in_a_loop
async def test_host_is_listed_if_answering_name_servers_show_its_brokers() -> None:
    made, broker = stood()
    assert await broker.listed("rkt1")
    made.hidden.add(("rkt2", "broker-a-0"))
    assert not await broker.listed("rkt1")
    made.dead.add("rkt2 name-server")
    assert await broker.listed("rkt1")
    assert not await broker.listed("rkt2")  # its own name server is to answer, too


@in_a_loop
async def test_a_host_greets_when_all_its_processes_do() -> None:
    made, broker = stood()
    assert await broker.greets("rkt1")
    made.dead.add("rkt1 name-server")
    assert not await broker.greets("rkt1")
    assert await broker.greets("rkt3")


@in_a_loop
async def test_missing_agent_is_not_mistaken_for_silent_servers() -> None:
    class Gone(FakeRocket):
        async def call(
            self, _name: str, /, timeout_s: float, **_arguments: object
        ) -> dict[str, object]:
            raise AgentLost(f"the agent's process ended, {timeout_s:g} s or not")

    made, _ = stood()
    gone = Gone(made.layout)
    broker = broker_of(made.layout, gone, {host.name: host.name for host in made.layout.hosts})
    with pytest.raises(AgentLost):
        await broker.health(NOW)


@in_a_loop
async def test_the_servers_report_their_version() -> None:
    _, broker = stood()
    assert await broker.versions() == {OURS["rocketmq-2m2s"].versioned_as: "4.9.7"}


@in_a_loop
async def test_a_process_lists_itself_and_a_name_server_its_brokers() -> None:
    made, broker = stood()
    made.hidden.add(
        ("rkt1", "broker-b-0")
    )  # it was started just now, and hears of them one by one
    assert await broker.listed("rkt1/broker-a-0")
    assert not await broker.listed("rkt2/broker-b-0")
    assert not await broker.listed("rkt1/name-server")
    assert await broker.listed("rkt2/name-server")
    made.hidden.add(("rkt2", "broker-b-0"))  # it is down: no name server shows it
    assert await broker.listed("rkt1/name-server")


@in_a_loop
async def test_name_servers_without_brokers_have_not_recovered() -> None:
    made, broker = stood()
    made.hidden |= {(host, one.process) for host in ("rkt1", "rkt2") for one in made.brokers}
    assert not await broker.listed("rkt1/name-server")
    assert not await broker.listed("rkt2/name-server")


@in_a_loop
async def test_promoted_slave_is_master_and_the_old_one_its_slave() -> None:
    made, _ = stood("one-group")
    addresses = {host.name: host.name for host in made.layout.hosts}
    leading = FixedRoles(made.layout)
    broker = RocketBroker(made.layout, RocketApi(made, addresses), leading)
    with pytest.raises(DeployError, match="rkt3 has no slave of broker-a"):
        leading.slave_on("broker-a", "rkt3")
    master, slave = leading.slave_on("broker-a", "rkt2")
    assert (master.process, slave.process) == ("broker-a-0", "broker-a-1")
    leading.promote(master, slave)
    doubts = " ".join((await broker.health(NOW)).doubts)  # these still are what they were
    assert "does not list rkt2:10921 as the master of broker-a" in doubts
    assert "does not list rkt1:10911 as slave 1 of broker-a" in doubts


@pytest.mark.parametrize(
    "client",
    [
        "10.0.0.9@mqproof.r1.publisher-1",  # of Java
        "217-10.0.0.9@mqproof.r1.publisher-1",  # of librocketmq 1
        "10.0.0.9@217#mqproof.r1.publisher-1",  # of librocketmq 2
        "mqproof.r1.publisher-1",  # of our own
    ],
)
def test_client_is_known_by_its_given_name_despite_library_suffixes(
    client: str,
) -> None:
    listed = [{"clientId": client}]
    named = ("mqproof.r1.publisher-1",)
    assert cluster_state.producers(json.dumps({"data": {"g": listed}}).encode()) == named
    assert cluster_state.consumers(json.dumps({"connectionSet": listed}).encode()) == named
