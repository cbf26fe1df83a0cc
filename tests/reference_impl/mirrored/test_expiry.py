"""Messages that live for so long and no longer: at the head alone, and alike in every copy."""

from typing import Any

import pytest

from reference_impl.protocol.queues import Look, Looked
from tests.reference_impl.mirrored.bench import Bench
from tests.reference_impl.mirrored.clusters import AUTOMATIC, Cluster
from tests.reference_impl.mirrored.fake_channels import Publish
from tests.reference_impl.mirrored.queues import check_copies
from tests.reference_impl.mirrored.test_limits import numbers

TTL = {"x-message-ttl": 1_000}


def ready(bench: Bench) -> int:
    looked = bench.ask(Look)
    assert isinstance(looked, Looked)
    return looked.ready


def test_an_expired_message_is_gone_without_a_request() -> None:
    bench = Bench(arguments=TTL)
    bench.publish(3)
    bench.cluster.settle(400)
    assert ready(bench) == 3
    bench.cluster.settle(1_000)
    assert ready(bench) == 0
    assert set(bench.one.outcomes.values()) == {"ack"}


def test_the_smaller_of_the_messages_word_and_the_queues_counts() -> None:
    bench = Bench(arguments=TTL)
    bench.publish(1, lives_ms=100_000)
    bench.cluster.settle(1_500)
    assert ready(bench) == 0
    bench.publish(1, lives_ms=200)
    bench.cluster.settle(500)
    assert ready(bench) == 0


def test_an_expired_message_stays_until_it_reaches_the_head() -> None:
    bench = Bench()
    bench.publish(1)
    bench.publish(1, lives_ms=100)
    bench.publish(1)
    bench.cluster.settle(1_000)
    assert ready(bench) == 3
    assert numbers(bench) == [1, 3]


def test_a_message_of_no_ttl_needs_a_waiting_consumer() -> None:
    bench = Bench()
    bench.publish(1, lives_ms=0)
    assert ready(bench) == 0
    one = bench.subscribe()
    bench.publish(1, lives_ms=0)
    assert len(one.seen) == 1


def test_an_expired_message_is_not_requeued() -> None:
    bench = Bench(arguments=TTL)
    bench.publish(2)
    first = bench.get()
    bench.cluster.settle(2_000)
    bench.give_back(first.number)
    assert ready(bench) == 0


def test_an_expiry_timer_is_reset_when_the_head_changes() -> None:
    bench = Bench()
    bench.publish(1, lives_ms=1_000)
    bench.publish(1, lives_ms=9_000)
    assert len(numbers(bench)) == 2
    bench.publish(1, lives_ms=2_000)
    bench.cluster.settle(3_000)
    assert ready(bench) == 0


@pytest.mark.parametrize("arguments", [TTL, {}])
@pytest.mark.parametrize("seed", range(3))
def test_a_promoted_mirror_expires_what_its_master_would_have(
    arguments: dict[str, Any], seed: int
) -> None:
    cluster = Cluster(seed=seed, arguments=arguments, **AUTOMATIC)
    cluster.nodes.send(cluster.publisher.pid, Publish(5, lives_ms=1_000))
    cluster.nodes.settle(300)
    cluster.kill("a")
    check_copies(cluster.nodes)
    cluster.nodes.settle(3_000)
    assert cluster.held() == []
    check_copies(cluster.nodes)
