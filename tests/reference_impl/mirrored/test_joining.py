"""How mirrors come to a queue and become synchronised (items 5, 25 to 28)."""

from random import Random
from typing import Any

from reference_impl.metadata.records import replicas
from reference_impl.protocol.queues import (
    Ack,
    CancelSync,
    Get,
    Got,
    Synchronise,
)
from tests.reference_impl.mirrored.clusters import ALL, AUTOMATIC, Cluster, run_until
from tests.reference_impl.mirrored.fake_channels import Ask, FakeChannel, Publish
from tests.reference_impl.mirrored.queues import (
    channel,
    check_copies,
    copies,
    declare,
    record,
)
from tests.reference_impl.mirrored.simulated_nodes import SimulatedCluster

# --- joining (items 5, 25, 26)


def test_a_declaration_is_answered_when_the_mirrors_are_there() -> None:
    nodes = SimulatedCluster(Random(3), ("a", "b", "c"))
    nodes.put_policy("p", **ALL)
    declare(nodes, "b")
    now = record(nodes)
    assert now is not None
    assert {pid.node for pid in replicas(now)} == {"a", "b", "c"}


def test_mirrors_of_an_empty_queue_are_synchronised_at_once() -> None:
    cluster = Cluster(**ALL)
    assert cluster.synchronised == {"b", "c"}


def test_a_returning_mirror_starts_empty_as_the_youngest() -> None:
    cluster = Cluster(**ALL)
    first, last = cluster.mirrors
    cluster.publish(5)
    cluster.kill(first)
    cluster.start(first)
    assert cluster.mirrors == [last, first]
    assert cluster.held(first) == []
    assert cluster.synchronised == {last}


def test_a_mirror_is_synchronised_by_what_is_consumed() -> None:
    cluster = Cluster("ab", **ALL)
    cluster.unsynchronise("b", backlog=3)
    cluster.publish(2)
    consumer = channel(cluster.nodes, "a")
    for left in (2, 1):
        _get(cluster, consumer)
        assert cluster.synchronised == set(), left
    got = [_get(cluster, consumer)]
    cluster.nodes.settle()
    assert cluster.synchronised == set()  # the last of the old ones is not acknowledged
    cluster.send_to_master(Ack(consumer.pid, (1, 2, got[0])))
    assert cluster.synchronised == {"b"}
    check_copies(cluster.nodes)


def _get(cluster: Cluster, one: FakeChannel) -> int:
    one.answers.clear()
    cluster.nodes.send(one.pid, Ask(lambda pid, request: Get(pid, request, False)))
    cluster.nodes.settle(100)
    (got,) = one.answers
    assert isinstance(got, Got)
    return got.number


# --- synchronising (items 27, 28)


def test_an_operator_has_a_mirror_synchronised() -> None:
    cluster = Cluster("ab", **ALL)
    cluster.unsynchronise("b")
    cluster.send_to_master(Synchronise())
    assert cluster.synchronised == {"b"}
    assert cluster.held("b") == cluster.held("a") == list(range(1, 51))


def test_a_synchronisation_goes_in_batches_and_keeps_what_is_taken() -> None:
    cluster = Cluster("ab", ha_sync_batch_size=7, **ALL)
    cluster.unsynchronise("b", backlog=20)
    consumer = channel(cluster.nodes, "a")
    for _ in range(3):
        _get(cluster, consumer)
    cluster.send_to_master(Synchronise())
    assert cluster.synchronised == {"b"}
    check_copies(cluster.nodes)


def test_publishes_during_a_synchronisation_wait_for_its_end() -> None:
    cluster = Cluster("ab", **ALL)
    cluster.unsynchronise("b", backlog=20)
    cluster.nodes.send(cluster.record.master, Synchronise())
    run_until(cluster, lambda: _is_synchronising(cluster))
    cluster.nodes.send(cluster.publisher.pid, Publish(3))
    cluster.nodes.settle()
    assert cluster.held("a") == cluster.held("b") == list(range(1, 24))
    assert cluster.outcomes() == ["ack"] * 23


def test_a_cancelled_synchronisation_leaves_the_mirror_empty_and_unsynchronised() -> None:
    cluster = Cluster("ab", ha_sync_batch_size=2, **ALL)
    cluster.unsynchronise("b", backlog=20)
    master = cluster.record.master
    cluster.nodes.send(master, Synchronise())
    run_until(cluster, lambda: _is_synchronising(cluster))
    cluster.send_to_master(CancelSync())
    cluster.send_to_master(CancelSync())
    assert cluster.synchronised == set()
    assert cluster.held("b") == []
    cluster.publish(1)
    assert cluster.outcomes()[-1] == "ack"


def test_a_mirror_whose_master_dies_during_synchronisation_is_empty() -> None:
    cluster = Cluster("ab", ha_sync_batch_size=2, **ALL)
    cluster.unsynchronise("b", backlog=20)
    cluster.nodes.send(cluster.record.master, Synchronise())
    run_until(cluster, lambda: _is_synchronising(cluster) and bool(cluster.held("b")))
    cluster.kill("a")
    assert (cluster.master, cluster.held()) == ("b", [])


def test_automatic_synchronisation_needs_no_operator() -> None:
    cluster = Cluster(**AUTOMATIC)
    cluster.publish(5)
    cluster.kill("b")
    cluster.start("b")
    assert cluster.synchronised == {"b", "c"}
    assert cluster.held("b") == [1, 2, 3, 4, 5]


def test_a_change_to_automatic_synchronises_those_that_are_behind() -> None:
    cluster = Cluster("ab", **ALL)
    cluster.unsynchronise("b")
    cluster.policy(**AUTOMATIC)
    assert cluster.synchronised == {"b"}


def _is_synchronising(cluster: Cluster) -> bool:
    mirror: Any = copies(cluster.nodes)["b"]
    return mirror._sync is not None
