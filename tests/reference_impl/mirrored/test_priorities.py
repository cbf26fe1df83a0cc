"""Queues whose more important messages go first, and their mirrors."""

import pytest

from tests.reference_impl.mirrored.bench import Bench
from tests.reference_impl.mirrored.clusters import AUTOMATIC, Cluster
from tests.reference_impl.mirrored.fake_channels import Publish
from tests.reference_impl.mirrored.queues import check_copies
from tests.reference_impl.mirrored.test_limits import numbers

PRIORITIES = {"x-max-priority": 5}


def test_the_highest_goes_first_and_of_one_priority_the_oldest() -> None:
    bench = Bench(arguments=PRIORITIES)
    for priority in (0, 3, 5, 3, 0):
        bench.publish(1, priority=priority)
    assert numbers(bench) == [3, 2, 4, 1, 5]


def test_above_the_highest_none_counts() -> None:
    bench = Bench(arguments=PRIORITIES)
    for priority in (5, 200):
        bench.publish(1, priority=priority)
    assert numbers(bench) == [1, 2]


def test_a_queue_without_priorities_passes_them_over() -> None:
    bench = Bench()
    for priority in (0, 3):
        bench.publish(1, priority=priority)
    assert numbers(bench) == [1, 2]


def test_a_requeued_message_returns_to_the_head_of_its_priority() -> None:
    bench = Bench(arguments=PRIORITIES)
    for priority in (1, 1, 4):
        bench.publish(1, priority=priority)
    assert bench.get().number == 3
    first = bench.get()
    assert first.number == 1
    bench.give_back(first.number)
    bench.publish(1, priority=2)
    assert numbers(bench) == [4, 1, 2]


def test_a_full_priority_queue_drops_its_most_important_head() -> None:
    bench = Bench(arguments={**PRIORITIES, "x-max-length": 2})
    for priority in (1, 4, 0):
        bench.publish(1, priority=priority)
    assert numbers(bench) == [1, 3]


@pytest.mark.parametrize("seed", range(3))
def test_a_promoted_mirror_keeps_the_priority_order(seed: int) -> None:
    cluster = Cluster(seed=seed, arguments=PRIORITIES, **AUTOMATIC)
    for priority in (0, 5, 0, 5):
        cluster.nodes.send(cluster.publisher.pid, Publish(2, priority=priority))
    cluster.nodes.settle(500)
    check_copies(cluster.nodes)
    cluster.kill("a")
    check_copies(cluster.nodes)
    assert cluster.held() == list(range(1, 9))
