"""What the management API says of a stream, as 3.10.8 and 4.0.5 said it, and what that means."""

from typing import Any

import pytest

from harness.cluster.port import Roles
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.core.queues import agreed
from harness.systems.rabbitmq.core.streams import stream_queues
from harness.systems.rabbitmq.held import by_nobody
from tests.rigs.brokers.fake_agent import FakeAgent, Said
from tests.rigs.machine.loops import in_a_loop

PATH = "/api/queues/%2F/mqproof.r1.orders"
THREE = load_layout("rabbitmq-stream", "three")
FIVE = load_layout("rabbitmq-stream", "five")
KIND = stream_queues(THREE)
OLD: dict[str, Any] = {  # 3.10.8, asked without statistics
    "arguments": {"x-queue-type": "stream", "x-initial-cluster-size": 3},
    "durable": True,
    "name": "mqproof.r1.orders",
    "node": "rabbit@rqs2",
    "state": "live",
    "type": "stream",
}
NODES = ["rabbit@rqs1", "rabbit@rqs2", "rabbit@rqs3"]
NEW = OLD | {"leader": "rabbit@rqs2", "members": NODES, "online": NODES, "state": "running"}


def test_the_declaring_node_leads_and_every_host_has_a_replica() -> None:
    assert KIND.arguments(THREE) == {
        "x-queue-type": "stream",
        "x-queue-leader-locator": "client-local",
        "x-initial-cluster-size": 3,
    }
    assert stream_queues(FIVE).arguments(FIVE)["x-initial-cluster-size"] == 5
    assert KIND.mirrors_wanted(THREE, OLD) == 2
    assert KIND.mirrors_wanted(THREE, NEW) == 2


def test_3_10_reports_the_leader_and_the_layout_has_the_followers() -> None:
    assert KIND.roles_of(OLD) == Roles("rqs2", ("rqs1", "rqs3"), None, synchronised_at_least=1)


def nodes(*running: str) -> list[dict[str, Any]]:
    return [{"name": node, "running": node in running} for node in NODES]


@pytest.mark.parametrize(
    ("running", "followers", "least"),
    [
        (("rabbit@rqs1", "rabbit@rqs2", "rabbit@rqs3"), ("rqs1", "rqs3"), 1),
        (("rabbit@rqs2", "rabbit@rqs3"), ("rqs3",), 0),
        (("rabbit@rqs2",), (), 0),
    ],
)
@in_a_loop
async def test_3_10_counts_no_follower_whose_node_is_down(
    running: tuple[str, ...], followers: tuple[str, ...], least: int
) -> None:
    """With one host dead already the next one takes the majority: `failover-to-the-last`."""
    agent = FakeAgent(
        {
            (host, path): (200, body)
            for host in ("rqs1", "rqs2", "rqs3")
            for path, body in ((PATH, OLD), ("/api/nodes", nodes(*running)))
            if f"rabbit@{host}" in running
        }
    )
    addresses = {host.name: host.name for host in THREE.hosts}
    broker = RabbitBroker.on_ports(THREE, agent, addresses, KIND, by_nobody)  # type: ignore[arg-type]
    found = await broker.roles("mqproof.r1.orders")
    assert found == Roles("rqs2", followers, None, synchronised_at_least=least)


@in_a_loop
async def test_a_silent_leader_leaves_the_word_to_others() -> None:
    said: dict[tuple[str, str], Said] = {
        (host, path): (200, body)
        for host in ("rqs1", "rqs3")
        for path, body in ((PATH, OLD), ("/api/nodes", nodes(*NODES[1:])))
    }
    agent = FakeAgent(said)
    addresses = {host.name: host.name for host in THREE.hosts}
    broker = RabbitBroker.on_ports(THREE, agent, addresses, KIND, by_nobody)  # type: ignore[arg-type]
    assert (await broker.roles("mqproof.r1.orders")).mirrors == ("rqs3",)


def test_4_reports_leader_and_online_followers() -> None:
    assert KIND.roles_of(NEW) == Roles("rqs2", ("rqs1", "rqs3"), None, synchronised_at_least=1)
    left = KIND.roles_of(NEW | {"online": ["rabbit@rqs2", "rabbit@rqs3"]})
    assert left == Roles("rqs2", ("rqs3",), None, synchronised_at_least=0)
    assert KIND.roles_of(NEW | {"online": ["rabbit@rqs1", "rabbit@rqs3"]}).master is None


def test_a_stream_that_is_down_has_no_leader() -> None:
    down = OLD | {"state": "down"}
    assert KIND.roles_of(down).master is None
    assert KIND.doubts(THREE, down) == ["mqproof.r1.orders has no leader"]
    assert KIND.doubts(THREE, OLD) == []
    assert KIND.doubts(THREE, NEW | {"online": NODES[:2]}) == [
        "mqproof.r1.orders has 1 of 2 followers"
    ]


def test_a_node_that_was_away_is_outvoted() -> None:
    new = KIND.roles_of(OLD | {"node": "rabbit@rqs1"})
    said = [KIND.roles_of(OLD), new, new]
    assert agreed(said, KIND.agreeing(3)) == new
    assert agreed(said[:2], KIND.agreeing(3)) is None
