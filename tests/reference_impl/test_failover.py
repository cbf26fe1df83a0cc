"""The measured anchors of RabbitMQ 3.10 (docs/behaviour/rabbitmq.md 6.1), on three processes of
the reference.

Each test says what content survives which end of a node; times are the business of real runs.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pika
import pytest

from tests.reference_impl.management import Management
from tests.reference_impl.nodes import Nodes, until

pytestmark = pytest.mark.slow

QUEUE = "orders"
NAMES = ("ref1", "ref2", "ref3")


@contextmanager
def cluster(folder: Path, count: int = 3, **policy: object) -> Iterator[Nodes]:
    with Nodes(folder, count) as nodes:
        Management(nodes.addresses["ref1"]).policy("ha", f"^{QUEUE}$", **policy)
        yield nodes


def connect(nodes: Nodes, name: str) -> pika.BlockingConnection:
    return pika.BlockingConnection(pika.ConnectionParameters(nodes.addresses[name]))


def fill(nodes: Nodes, name: str, count: int, mode: int = 2, first: int = 0) -> None:
    """Confirmed messages, numbered, through that node; the queue's master is where it is new."""
    with connect(nodes, name) as connection:
        channel = connection.channel()
        channel.queue_declare(QUEUE, durable=True)
        channel.confirm_delivery()
        properties = pika.BasicProperties(delivery_mode=mode)
        for number in range(first, first + count):
            channel.basic_publish("", QUEUE, b"%d" % number, properties, mandatory=True)


def read(nodes: Nodes, name: str) -> list[tuple[int, bool]]:
    """Number and redelivered flag of everything that is left."""
    got: list[tuple[int, bool]] = []
    with connect(nodes, name) as connection:
        channel = connection.channel()
        while True:
            method, _, body = channel.basic_get(QUEUE, auto_ack=True)
            if method is None:
                return got
            got.append((int(body), method.redelivered))


def synchronised(nodes: Nodes, name: str, mirrors: int) -> Callable[[], bool]:
    api = Management(nodes.addresses[name])
    return lambda: len(api.synchronised(QUEUE)) == mirrors


def test_a_killed_master_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    with cluster(tmp_path, ha_mode="all", ha_sync_mode="automatic") as nodes:
        fill(nodes, "ref1", 100)
        nodes.kill("ref1")
        fill(nodes, "ref2", 5, first=100)
        got = read(nodes, "ref3")
    assert [number for number, _ in got] == list(range(105))
    # Everything that a mirror held counts as delivered before; what came after does not (item 37).
    assert [flag for _, flag in got] == [True] * 100 + [False] * 5


def test_the_oldest_mirror_takes_over_though_it_is_not_synchronised(tmp_path: Path) -> None:
    with cluster(tmp_path, ha_mode="all", ha_sync_mode="manual") as nodes:
        fill(nodes, "ref1", 50)
        api = Management(nodes.addresses["ref1"])
        oldest, youngest = api.mirrors(QUEUE)
        nodes.kill(oldest)
        until(lambda: api.mirrors(QUEUE) == [youngest])
        nodes.start(oldest)
        until(lambda: api.mirrors(QUEUE) == [youngest, oldest])
        nodes.kill(youngest)
        until(lambda: api.mirrors(QUEUE) == [oldest])
        nodes.start(youngest)
        until(lambda: api.mirrors(QUEUE) == [oldest, youngest])
        assert api.synchronised(QUEUE) == set()
        nodes.kill("ref1")
        other = Management(nodes.addresses[youngest])
        until(lambda: other.master(QUEUE) == oldest)
        assert read(nodes, youngest) == []


def test_a_synchronised_mirror_keeps_what_an_operator_had_synchronised(tmp_path: Path) -> None:
    with cluster(tmp_path, 2, ha_mode="all", ha_sync_mode="manual") as nodes:
        fill(nodes, "ref1", 50)
        api = Management(nodes.addresses["ref1"])
        nodes.kill("ref2")
        nodes.start("ref2")
        until(lambda: api.mirrors(QUEUE) == ["ref2"])
        assert api.synchronised(QUEUE) == set()
        api.synchronise(QUEUE)
        until(synchronised(nodes, "ref1", 1))
        nodes.kill("ref1")
        assert [number for number, _ in until(lambda: read(nodes, "ref2"))] == list(range(50))


def test_an_unsynchronised_mirror_becomes_synchronised_as_the_backlog_is_consumed(
    tmp_path: Path,
) -> None:
    with cluster(tmp_path, 2, ha_mode="all", ha_sync_mode="manual") as nodes:
        fill(nodes, "ref1", 20)
        api = Management(nodes.addresses["ref1"])
        nodes.kill("ref2")
        nodes.start("ref2")
        until(lambda: api.mirrors(QUEUE) == ["ref2"])
        assert api.synchronised(QUEUE) == set()
        assert len(read(nodes, "ref1")) == 20
        until(synchronised(nodes, "ref1", 1))


def test_a_stopped_master_without_synchronised_mirror_is_awaited(tmp_path: Path) -> None:
    with cluster(tmp_path, 2, ha_mode="all", ha_sync_mode="manual") as nodes:
        fill(nodes, "ref1", 50)
        nodes.kill("ref2")
        nodes.start("ref2")
        api = Management(nodes.addresses["ref1"])
        until(lambda: api.mirrors(QUEUE) == ["ref2"])
        assert nodes.stop("ref1") == 0
        with connect(nodes, "ref2") as connection:
            channel = connection.channel()
            channel.confirm_delivery()
            with pytest.raises(pika.exceptions.NackError):
                channel.basic_publish("", QUEUE, b"nowhere to go")
        nodes.start("ref1")
        assert [number for number, _ in read(nodes, "ref2")] == list(range(50))


def test_a_killed_master_without_a_synchronised_mirror_loses_its_backlog(tmp_path: Path) -> None:
    with cluster(tmp_path, 2, ha_mode="all", ha_sync_mode="manual") as nodes:
        fill(nodes, "ref1", 50)
        nodes.kill("ref2")
        nodes.start("ref2")
        api = Management(nodes.addresses["ref1"])
        until(lambda: api.mirrors(QUEUE) == ["ref2"])
        fill(nodes, "ref1", 5, first=50)
        nodes.kill("ref1")
        assert [number for number, _ in until(lambda: read(nodes, "ref2"))] == list(range(50, 55))


def test_a_killed_cluster_keeps_what_was_persistent_and_nothing_else(tmp_path: Path) -> None:
    with cluster(tmp_path, ha_mode="all", ha_sync_mode="automatic") as nodes:
        fill(nodes, "ref1", 30)
        fill(nodes, "ref1", 10, mode=1, first=30)
        for name in NAMES:
            nodes.kill(name)
        for name in reversed(NAMES):
            nodes.launch(name)
        for name in NAMES:
            nodes.await_ready(name)
        until(lambda: Management(nodes.addresses["ref2"]).queue(QUEUE).get("state") == "running")
        assert [number for number, _ in read(nodes, "ref2")] == list(range(30))


def test_a_consumer_continues_at_the_new_master_without_notice(tmp_path: Path) -> None:
    with cluster(tmp_path, ha_mode="all", ha_sync_mode="automatic") as nodes:
        fill(nodes, "ref1", 10)
        with connect(nodes, "ref2") as connection:
            channel = connection.channel()
            deliveries = channel.consume(QUEUE, inactivity_timeout=10)
            before = [int(next(deliveries)[2]) for _ in range(10)]
            nodes.kill("ref1")
            after = [next(deliveries) for _ in range(10)]
            assert [int(body) for _, _, body in after] == before == list(range(10))
            assert all(method.redelivered for method, _, _ in after)
            # The channel lived on: a tag from before the failover is still taken (item 40).
            channel.basic_ack(1)
            channel.queue_declare(QUEUE, passive=True)


def test_a_consumer_with_the_failover_argument_is_cancelled_at_failover(tmp_path: Path) -> None:
    with cluster(tmp_path, ha_mode="all", ha_sync_mode="automatic") as nodes:
        fill(nodes, "ref1", 1)
        cancelled: list[str] = []
        with connect(nodes, "ref2") as connection:
            channel = connection.channel()
            channel.add_on_cancel_callback(
                lambda frame: cancelled.append(frame.method.consumer_tag)
            )
            arguments = {"x-cancel-on-ha-failover": True}
            tag = channel.basic_consume(QUEUE, lambda *_: None, arguments=arguments)
            connection.process_data_events(1)
            nodes.kill("ref1")
            until(lambda: connection.process_data_events(0.05) or cancelled)
        assert cancelled == [tag]


def test_a_minority_pauses_and_comes_back(tmp_path: Path) -> None:
    with Nodes(tmp_path, net_ticktime_s=1.0, partition_handling="pause_minority") as nodes:
        with connect(nodes, "ref1") as connection:
            nodes.freeze("ref2")
            nodes.freeze("ref3")
            with pytest.raises(pika.exceptions.AMQPConnectionError):
                until(lambda: connection.process_data_events(0.1))
        with pytest.raises(pika.exceptions.AMQPConnectionError):
            connect(nodes, "ref1")
        nodes.thaw("ref2")
        nodes.thaw("ref3")
        until(lambda: _opens(nodes, "ref1"))


def _opens(nodes: Nodes, name: str) -> bool:
    try:
        connect(nodes, name).close()
    except pika.exceptions.AMQPConnectionError:
        return False
    return True
