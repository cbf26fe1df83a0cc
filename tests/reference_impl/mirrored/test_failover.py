"""What a mirrored queue keeps and loses: RabbitMQ's measured cases (docs/behaviour/rabbitmq.md
6.1)."""

from random import Random
from typing import Any

import pytest

from reference_impl.process import CRASH
from reference_impl.protocol.queues import (
    Ack,
    CancelSync,
    DeleteRecord,
    Done,
    Synchronise,
)
from tests.reference_impl.mirrored.bench import number_of
from tests.reference_impl.mirrored.clusters import ALL, AUTOMATIC, Cluster, run_until
from tests.reference_impl.mirrored.fake_channels import Ask, Publish, Subscribe
from tests.reference_impl.mirrored.queues import (
    channel,
    check_copies,
    copies,
    declare,
    record,
)
from tests.reference_impl.mirrored.simulated_nodes import SimulatedCluster

# --- who takes over, and what is lost (items 32 to 37, 42)


@pytest.mark.parametrize("seed", range(5))
def test_killing_the_master_loses_nothing_with_a_synchronised_oldest_mirror(seed: int) -> None:
    cluster = Cluster(seed=seed, **AUTOMATIC)
    cluster.nodes.send(cluster.publisher.pid, Publish(40))
    cluster.nodes.run(60)
    cluster.kill("a")
    assert cluster.held() == list(range(1, 41))
    assert cluster.outcomes() == ["ack"] * 40
    check_copies(cluster.nodes)


def test_the_oldest_mirror_is_promoted_before_a_younger_synchronised_one() -> None:
    cluster = Cluster(**ALL)
    oldest, youngest = cluster.mirrors
    cluster.unsynchronise(oldest, youngest)
    cluster.send_to_master(Synchronise())
    cluster.kill(youngest)
    cluster.start(youngest)  # it is the younger one now, and behind
    assert cluster.mirrors == [oldest, youngest]
    cluster.send_to_master(CancelSync())
    cluster.kill(oldest)
    cluster.start(oldest)
    assert (cluster.mirrors, cluster.synchronised) == ([youngest, oldest], set())
    _synchronise_only(cluster, oldest, youngest)
    cluster.kill("a")
    assert cluster.master == youngest
    assert cluster.held() == []
    assert cluster.mirrors == [oldest]
    check_copies(cluster.nodes)


def _synchronise_only(cluster: Cluster, wanted: str, other: str) -> None:
    """As if the other had joined only after the synchronisation had begun."""
    copy: Any = copies(cluster.nodes)[other]
    depth, copy._following.depth.delta = copy._following.depth.delta, 0  # so it declines
    cluster.send_to_master(Synchronise())
    copy._following.depth.delta = depth
    assert cluster.synchronised == {wanted}


def test_an_unsynchronised_mirror_that_takes_over_has_lost_the_backlog() -> None:
    cluster = Cluster("ab", **ALL)
    cluster.unsynchronise("b", backlog=50)
    cluster.kill("a")
    assert (cluster.master, cluster.held()) == ("b", [])


def test_a_promoted_mirrors_messages_are_redelivered_but_newer_ones_not() -> None:
    cluster = Cluster("ab", **AUTOMATIC)
    cluster.publish(5)
    cluster.kill("a")
    cluster.publish(1)
    consumer = channel(cluster.nodes, "b")
    cluster.nodes.send(consumer.pid, Subscribe())
    cluster.nodes.settle()
    assert [seen.redelivered for seen in consumer.seen] == [True] * 5 + [False]


def test_unacknowledged_messages_come_first_in_order_after_a_failover() -> None:
    cluster = Cluster(**AUTOMATIC)
    cluster.publish(8)
    consumer = channel(cluster.nodes, "c")
    cluster.nodes.send(consumer.pid, Subscribe(prefetch=3, hold=9))
    cluster.nodes.settle()
    cluster.kill("a")
    seen = [number_of(seen.identity) for seen in consumer.seen]
    assert seen == [1, 2, 3, 1, 2, 3]
    assert all(seen.redelivered for seen in consumer.seen[3:])


def test_an_old_number_is_acknowledged_at_the_new_master() -> None:
    cluster = Cluster(**AUTOMATIC)
    cluster.publish(3)
    consumer = channel(cluster.nodes, "c")
    cluster.nodes.send(consumer.pid, Subscribe(prefetch=3, hold=9))
    cluster.nodes.settle()
    number = consumer.held[1][1]
    cluster.kill("a")
    cluster.send_to_master(Ack(consumer.pid, (number,)))
    assert cluster.held() == [1, 3]
    cluster.send_to_master(Ack(consumer.pid, (number,)))
    check_copies(cluster.nodes)


@pytest.mark.parametrize("seed", range(5))
def test_the_new_master_enqueues_messages_that_only_channels_sent(seed: int) -> None:
    cluster = Cluster(seed=seed, **AUTOMATIC)
    master = cluster.nodes.nodes["a"]
    cluster.nodes.send(cluster.publisher.pid, Publish(5))
    run_until(cluster, lambda: not cluster.nodes.nodes["c"].has_work())
    assert cluster.held() == [] or master.has_work()
    cluster.kill("a")
    assert cluster.held() == [1, 2, 3, 4, 5]
    assert cluster.outcomes() == ["ack"] * 5


def test_masters_may_fall_one_after_the_other() -> None:
    cluster = Cluster("abcdef", **AUTOMATIC)
    cluster.nodes.send(cluster.publisher.pid, Publish(30))
    for name in "abcd":
        cluster.nodes.run(15)
        cluster.nodes.kill(name)
    cluster.nodes.settle()
    assert cluster.held() == list(range(1, 31))
    assert cluster.outcomes() == ["ack"] * 30
    check_copies(cluster.nodes)


def test_one_crashed_replica_makes_a_nack_of_its_publishes() -> None:
    cluster = Cluster("ab", **AUTOMATIC)
    cluster.nodes.nodes["b"].frozen = True
    cluster.nodes.send(cluster.publisher.pid, Publish(1))
    cluster.nodes.nodes["b"].frozen = False
    publisher_node = cluster.nodes.nodes["b"]
    while not cluster.publisher.open:
        publisher_node.step()
    mirror = copies(cluster.nodes)["b"]._replica.pid
    publisher_node.end(mirror, CRASH)
    cluster.nodes.settle()
    assert cluster.outcomes() == ["nack"]
    assert cluster.synchronised == {"b"}  # another one, by now


# --- graceful stops (items 43, 45, 46)


def test_a_stopping_master_transfers_to_a_synchronised_mirror() -> None:
    cluster = Cluster(**AUTOMATIC)
    cluster.publish(5)
    cluster.stop("a")
    assert cluster.master == "b"
    assert cluster.held() == [1, 2, 3, 4, 5]


def test_a_stopping_master_without_synchronised_mirrors_stops_its_mirrors() -> None:
    cluster = Cluster(**ALL)
    cluster.unsynchronise("b", "c", backlog=50)
    cluster.stop("a")
    assert (cluster.master, cluster.mirrors, cluster.record.home) == (None, [], "a")
    cluster.publish(1)
    assert cluster.outcomes()[-1] == "nack"
    cluster.start("a")
    assert cluster.master == "a"
    assert cluster.held() == list(range(1, 51))
    assert set(cluster.mirrors) == {"b", "c"}


def test_a_stopping_master_transfers_an_empty_queue_if_policy_allows() -> None:
    cluster = Cluster("ab", ha_promote_on_shutdown="always", **ALL)
    cluster.unsynchronise("b", backlog=50)
    cluster.stop("a")
    assert (cluster.master, cluster.held()) == ("b", [])


def test_the_promotion_policy_is_read_at_every_takeover() -> None:
    cluster = Cluster(
        "ab", ha_promote_on_shutdown="always", ha_promote_on_failure="when-synced", **ALL
    )
    cluster.unsynchronise("b", backlog=10)
    cluster.stop("a")
    assert cluster.master is None
    cluster.start("a")
    assert cluster.held() == list(range(1, 11))


def test_two_restarts_without_synchronisation_lose_everything() -> None:
    cluster = Cluster(ha_mode="exactly", ha_params=2, ha_promote_on_shutdown="always")
    cluster.publish(10)
    first, second = "a", cluster.mirrors[0]
    for name in (first, second):
        cluster.stop(name)
        cluster.start(name)
    assert cluster.held() == []


# --- refused promotion (item 44)


def test_a_single_mirror_that_refuses_leaves_publishers_with_a_nack() -> None:
    cluster = Cluster("ab", ha_promote_on_failure="when-synced", **ALL)
    cluster.unsynchronise("b", backlog=10)
    cluster.kill("a")
    cluster.publish(1)
    assert (cluster.master, cluster.outcomes()[-1]) == (None, "nack")
    cluster.start("a")
    assert cluster.held() == list(range(1, 11))


@pytest.mark.parametrize("seed", range(5))
def test_a_mirrors_refusal_does_not_ack_pending_publishes(seed: int) -> None:
    cluster = Cluster("ab", seed=seed, ha_promote_on_failure="when-synced", **ALL)
    cluster.unsynchronise("b", backlog=10)
    publisher = cluster.publisher = channel(cluster.nodes, "b")
    cluster.publish(5)
    cluster.nodes.kill("a")
    cluster.nodes.send(publisher.pid, Publish(5))
    while not publisher.open:
        cluster.nodes.nodes["b"].step()
    cluster.nodes.settle()
    assert cluster.outcomes() == ["ack"] * 5 + ["nack"] * 5
    cluster.start("a")
    assert cluster.held() == [*range(1, 11), *range(1, 6)]


def test_two_mirrors_that_refuse_promotion_leave_publishers_unanswered() -> None:
    cluster = Cluster(ha_promote_on_failure="when-synced", **ALL)
    cluster.unsynchronise("b", "c", backlog=10)
    publisher = cluster.publisher = channel(cluster.nodes, "b")
    cluster.kill("a")
    cluster.publish(1)
    cluster.nodes.settle(60_000)
    assert cluster.master is None
    assert (len(publisher.open), cluster.outcomes()) == (1, [])
    cluster.start("a")
    assert cluster.outcomes() == ["nack"]
    assert cluster.held() == list(range(1, 11))
    assert set(cluster.mirrors) == {"b", "c"}


def test_a_queue_without_a_master_can_be_forgotten_by_force() -> None:
    cluster = Cluster("ab", ha_promote_on_failure="when-synced", **ALL)
    cluster.unsynchronise("b", backlog=10)
    cluster.kill("a")
    operator = channel(cluster.nodes, "b")
    asking = Ask(lambda pid, request: DeleteRecord(pid, request, "q"), supervisor=True)
    cluster.nodes.send(operator.pid, asking)
    cluster.nodes.settle()
    assert isinstance(operator.answers[-1], Done)
    assert record(cluster.nodes) is None
    cluster.start("a")
    assert record(cluster.nodes) is None


# --- unmirrored queues, and whole clusters (items 1, 14, 47, 50)


def test_an_unmirrored_queue_waits_for_home_and_keeps_persistent_messages() -> None:
    cluster = Cluster()
    cluster.publish(3)
    cluster.publish(2, persistent=False)
    cluster.kill("a")
    assert (cluster.master, cluster.record.home) == (None, "a")
    cluster.start("a")
    assert cluster.held() == [1, 2, 3]


@pytest.mark.parametrize("wish", [{"durable": False}, {"durable": True, "exclusive": True}])
def test_a_transient_or_exclusive_queue_dies_with_its_node(wish: dict[str, bool]) -> None:
    nodes = SimulatedCluster(Random(1), ("a", "b"))
    nodes.put_policy("p", **ALL)
    if wish.pop("exclusive", False):
        declare(nodes, "a", owner=channel(nodes, "a").pid, **wish)
        nodes.settle()
        now = record(nodes)
        assert now is not None and now.mirrors == ()
    else:
        nodes.put_policy("p")
        declare(nodes, "a", **wish)
        nodes.settle()
    nodes.kill("a")
    nodes.settle()
    assert record(nodes) is None
    nodes.start("a")
    nodes.settle()
    assert record(nodes) is None


@pytest.mark.parametrize("seed", range(5))
def test_a_killed_cluster_keeps_what_was_confirmed_and_persistent(seed: int) -> None:
    cluster = Cluster(seed=seed, **AUTOMATIC)
    cluster.publish(30)
    cluster.publish(10, persistent=False)
    assert cluster.outcomes() == ["ack"] * 40
    for name in "abc":
        cluster.nodes.kill(name)
    cluster.start("b", "c", "a")
    assert (cluster.master, cluster.held()) == ("a", list(range(1, 31)))
    check_copies(cluster.nodes)


def test_a_crashed_master_without_mirrors_restarts_on_its_node() -> None:
    cluster = Cluster("a")
    cluster.publish(2)
    cluster.publish(1, persistent=False)
    cluster.nodes.nodes["a"].end(cluster.record.master, CRASH)
    cluster.nodes.settle()
    assert cluster.held() == [1, 2]


def test_a_crashed_masters_mirror_takes_over_and_is_mirrored_again() -> None:
    cluster = Cluster("ab", **AUTOMATIC)
    cluster.publish(3, persistent=False)
    cluster.nodes.nodes["a"].end(cluster.record.master, CRASH)
    cluster.nodes.settle()
    assert (cluster.master, cluster.held()) == ("b", [1, 2, 3])
    assert cluster.synchronised == {"a"}
