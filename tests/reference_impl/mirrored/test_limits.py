"""How long a queue may be, and that its mirrors are never longer."""

from typing import Any

import pytest

from reference_impl.mirrored.limits import limits
from reference_impl.protocol.queues import Got
from tests.reference_impl.mirrored.bench import Bench, number_of
from tests.reference_impl.mirrored.clusters import AUTOMATIC, Cluster
from tests.reference_impl.mirrored.fake_channels import Publish
from tests.reference_impl.mirrored.queues import check_copies

LENGTH = {"x-max-length": 3}
REJECTS = {**LENGTH, "x-overflow": "reject-publish"}


def numbers(bench: Bench) -> list[int]:
    """What can be got, in order; all of it is gone then."""
    found = []
    while isinstance(got := bench.get(no_ack=True), Got) and got.message is not None:
        found.append(number_of(got))
    return found


def test_without_room_the_oldest_go() -> None:
    bench = Bench(arguments=LENGTH)
    bench.publish(5)
    assert list(bench.one.outcomes.values()) == ["ack"] * 5
    assert numbers(bench) == [3, 4, 5]


def test_unacknowledged_messages_do_not_count_against_the_limit() -> None:
    bench = Bench(arguments=LENGTH)
    bench.publish(3)
    first = bench.get()
    bench.publish(1)
    bench.give_back(first.number)
    assert numbers(bench) == [2, 3, 4]


def test_octets_of_bodies_are_counted_too() -> None:
    bench = Bench(arguments={"x-max-length-bytes": 0})
    bench.publish(2)
    assert numbers(bench) == []
    of_one = len(bench.one.published[0])
    some = Bench(arguments={"x-max-length-bytes": 2 * of_one})
    some.publish(3)
    assert numbers(some) == [2, 3]


def test_a_queue_that_rejects_takes_nothing_more_and_says_so() -> None:
    bench = Bench(arguments=REJECTS)
    bench.publish(5)
    outcomes = [bench.one.outcomes[identity] for identity in bench.one.published]
    assert outcomes == ["ack"] * 3 + ["nack"] * 2
    assert numbers(bench) == [1, 2, 3]
    bench.publish(1)
    assert numbers(bench) == [6]


def test_a_consumer_makes_room() -> None:
    bench = Bench(arguments=REJECTS)
    bench.subscribe(no_ack=True)
    bench.publish(20)
    assert set(bench.one.outcomes.values()) == {"ack"}


@pytest.mark.parametrize("arguments", [LENGTH, REJECTS])
@pytest.mark.parametrize("seed", range(3))
def test_mirrors_match_their_master_and_keep_the_limit_after_promotion(
    arguments: dict[str, Any], seed: int
) -> None:
    cluster = Cluster(seed=seed, arguments=arguments, **AUTOMATIC)
    cluster.publish(10)
    check_copies(cluster.nodes)
    kept = [1, 2, 3] if arguments is REJECTS else [8, 9, 10]
    assert cluster.held() == kept
    cluster.kill("a")
    check_copies(cluster.nodes)
    assert cluster.held() == kept
    cluster.publish(2)
    assert cluster.held() == ([1, 2, 3] if arguments is REJECTS else [10, 11, 12])
    check_copies(cluster.nodes)


def test_a_master_killed_under_flood_leaves_at_most_the_limit() -> None:
    cluster = Cluster(arguments=LENGTH, **AUTOMATIC)
    cluster.nodes.send(cluster.publisher.pid, Publish(40))
    cluster.nodes.run(60)
    cluster.kill("a")
    assert cluster.held() == [38, 39, 40]
    check_copies(cluster.nodes)


def test_a_queue_without_such_arguments_has_no_limits() -> None:
    assert limits({"x-overflow": "reject-publish"}) is None
