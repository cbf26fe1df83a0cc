"""What the management API says of a stream, as 3.10.8 and 4.0.5 said it, and what that means."""

from typing import Any

from harness.cluster.port import Roles
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq.queues import agreed
from harness.systems.rabbitmq_stream.queues import stream_queues

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
