"""Policies at work on queues that are there, and how queues come and go."""

from random import Random
from typing import Any

from reference_impl.process import SHUTDOWN
from reference_impl.protocol.queues import Delete, Synchronise
from tests.reference_impl.mirrored.clusters import ALL, AUTOMATIC, Cluster
from tests.reference_impl.mirrored.fake_channels import Ask, Publish
from tests.reference_impl.mirrored.queues import (
    channel,
    check_copies,
    copies,
    declare,
    record,
    start_queue,
)
from tests.reference_impl.mirrored.simulated_nodes import DeletePolicyForTests, SimulatedCluster

# --- policies at work (items 3, 6, 7, 13)


def test_a_lost_mirror_is_replaced_where_a_number_is_wanted() -> None:
    cluster = Cluster(ha_mode="exactly", ha_params=2)
    (mirror,) = cluster.mirrors
    other = ({"b", "c"} - {mirror}).pop()
    cluster.publish(3)
    if other == "c":
        cluster.publisher = channel(cluster.nodes, "a")
    cluster.kill(mirror)
    assert (cluster.mirrors, cluster.synchronised) == ([other], set())


def test_a_number_shrinks_to_the_oldest_mirrors_and_grows_again() -> None:
    cluster = Cluster(ha_mode="exactly", ha_params=3)
    oldest = cluster.mirrors[0]
    cluster.policy(ha_mode="exactly", ha_params=2)
    assert cluster.mirrors == [oldest]
    assert set(copies(cluster.nodes)) == {"a", oldest}
    cluster.policy(ha_mode="exactly", ha_params=5)
    assert set(cluster.mirrors) == {"b", "c"}


def test_a_queue_gains_and_loses_mirrors_with_its_policy() -> None:
    cluster = Cluster()
    cluster.publish(3)
    assert cluster.mirrors == []
    cluster.policy(**AUTOMATIC)
    assert cluster.synchronised == {"b", "c"}
    cluster.nodes.command(DeletePolicyForTests("p"))
    cluster.nodes.settle()
    assert (cluster.mirrors, set(copies(cluster.nodes))) == ([], {"a"})
    assert cluster.held() == [1, 2, 3]


def test_an_excluded_master_stays_until_a_listed_mirror_is_synchronised() -> None:
    cluster = Cluster("abcd", ha_mode="nodes", ha_params=["a", "b"])
    cluster.unsynchronise("b", backlog=5)
    cluster.policy(ha_mode="nodes", ha_params=["c", "d"])
    assert (cluster.master, set(cluster.mirrors)) == ("a", {"c", "d"})
    cluster.send_to_master(Synchronise())
    assert cluster.master in ("c", "d")
    assert {cluster.master, *cluster.mirrors} == {"c", "d"}
    assert cluster.held() == [1, 2, 3, 4, 5]


def test_an_excluded_master_leaves_when_a_mirror_is_synchronised() -> None:
    cluster = Cluster("abcd", ha_mode="nodes", ha_params=["a", "b"])
    cluster.publish(5)
    cluster.policy(ha_mode="nodes", ha_params=["c", "d"])
    assert (cluster.master, set(cluster.mirrors)) == ("b", {"c", "d"})
    cluster.send_to_master(Synchronise())
    assert {cluster.master, *cluster.mirrors} == {"c", "d"}
    assert cluster.held() == [1, 2, 3, 4, 5]


def test_a_policy_that_changes_under_traffic_loses_nothing() -> None:
    cluster = Cluster("abcd", **AUTOMATIC)
    policies = [{"ha_mode": "nodes", "ha_params": list("ab"), "ha_sync_mode": "automatic"}, {}]
    for number in range(6):
        cluster.nodes.send(cluster.publisher.pid, Publish(5))
        cluster.nodes.put_policy("p", **[AUTOMATIC, *policies][number % 3])
        cluster.nodes.run(40)
    cluster.nodes.settle()
    assert cluster.held() == list(range(1, 31))
    assert set(cluster.outcomes()) == {"ack"}


# --- deleting and declaring


def test_a_deleted_queues_mirrors_end_and_it_can_be_redeclared() -> None:
    cluster = Cluster(**ALL)
    for _ in range(5):
        cluster.publish(2)
        asking = Ask(lambda pid, request: Delete(pid, request, False, False))
        cluster.nodes.send(cluster.publisher.pid, asking)
        while record(cluster.nodes) is not None:
            assert cluster.nodes.step()
        declare(cluster.nodes, "b")
    cluster.nodes.settle()
    assert (cluster.master, set(cluster.mirrors)) == ("b", {"a", "c"})
    assert cluster.held() == []
    check_copies(cluster.nodes)


def test_a_queue_may_start_on_another_node_than_declared() -> None:
    nodes = SimulatedCluster(Random(1), ("a", "b", "c"))
    for number in range(6):
        declare(nodes, "c", name=f"q{number}", arguments={"x-queue-master-locator": "min-masters"})
    homes = [queue.home for queue in nodes.nodes["a"].tables.queues.values()]
    assert sorted(homes) == ["a", "a", "b", "b", "c", "c"]


def test_two_that_declare_the_same_queue_get_one() -> None:
    nodes = SimulatedCluster(Random(5), ("a", "b"))
    for name in ("a", "b"):
        declare(nodes, name)
    nodes.settle()
    assert set(copies(nodes)) == {"a"}


def test_a_declaration_survives_the_node_that_was_chosen_for_it() -> None:
    nodes = SimulatedCluster(Random(1), ("a", "b"))
    one = channel(nodes, "b")
    wish = {"arguments": {"x-queue-master-locator": "min-masters"}}
    nodes.send(one.pid, Ask(lambda pid, it: start_queue(pid, it, **wish), supervisor=True))
    while not any(link for key, link in nodes.links.items() if key[2] == "a"):
        assert nodes.step()
    nodes.kill("a")
    nodes.settle()
    now = record(nodes)
    assert now is not None and now.home == "b"
    assert len(one.answers) == 1


def test_channels_know_the_reasons_of_ends() -> None:
    cluster = Cluster("ab", **AUTOMATIC)
    mirror = copies(cluster.nodes)["b"]._replica.pid
    ends: list[str] = []
    end = cluster.nodes.nodes["b"].end

    def noting(pid: Any, reason: str) -> None:
        if pid == mirror:
            ends.append(reason)
        end(pid, reason)

    cluster.nodes.nodes["b"].end = noting  # type: ignore[method-assign]
    cluster.policy()
    assert ends == [SHUTDOWN]
