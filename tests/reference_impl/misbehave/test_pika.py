"""A misbehaving cluster looks healthy to pika, and what it admits is what went wrong.

Real processes; the publisher is a SelectConnection that does not wait between publishes, readers
are BlockingConnections.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pika
import pytest

from reference_impl.misbehave.kinds import Kind, Misbehaviour
from reference_impl.misbehave.lines import TruthLine
from reference_impl.misbehave.truth import HELD, REDELIVERED
from tests.reference_impl.management import Management
from tests.reference_impl.nodes import Nodes, until

pytestmark = pytest.mark.slow

QUEUE = "orders"
COUNT = 200
PERSISTENT = pika.BasicProperties(delivery_mode=2)
LIMIT_S = 20.0


@contextmanager
def cluster(folder: Path, kind: Kind, share: float = 0.1, count: int = 2) -> Iterator[Nodes]:
    misbehave = Misbehaviour(kind, str(folder / "truth.jsonl"), share, seed=5)
    with Nodes(folder, count, misbehave=misbehave) as nodes:
        management = Management(nodes.addresses["ref1"])
        management.policy("ha", f"^{QUEUE}$", ha_mode="all", ha_sync_mode="automatic")
        with blocking(nodes, "ref1") as connection:
            connection.channel().queue_declare(QUEUE, durable=True)
        until(lambda: len(management.synchronised(QUEUE)) == count - 1)
        yield nodes


def blocking(nodes: Nodes, name: str) -> pika.BlockingConnection:
    return pika.BlockingConnection(pika.ConnectionParameters(nodes.addresses[name]))


def body(number: int) -> bytes:
    return b"%06d-payload" % number


def number_of(octets: bytes) -> int:
    return int(octets[:6])


def truth(folder: Path, kind: str) -> list[TruthLine]:
    """What all nodes of the cluster admitted of that kind."""
    lines = (folder / "truth.jsonl").read_bytes().splitlines()
    read = [msgspec.json.decode(line, type=TruthLine) for line in lines]
    return [line for line in read if line.kind == kind]


def admitted(folder: Path, kind: str) -> list[int]:
    return [number_of(line.head) for line in truth(folder, kind)]


class Publisher:
    """Publishes COUNT messages without a pause, and closes when all are confirmed."""

    def __init__(self, nodes: Nodes, name: str) -> None:
        self.acked = 0
        self.nacked = 0
        self.trouble = ""
        self.connection = pika.SelectConnection(
            pika.ConnectionParameters(nodes.addresses[name]),
            on_open_callback=lambda c: c.channel(on_open_callback=self.opened),
            on_close_callback=self.closed,
        )

    def run(self) -> None:
        loop = self.connection.ioloop
        loop.call_later(LIMIT_S, loop.stop)
        loop.start()

    def opened(self, channel: pika.channel.Channel) -> None:
        channel.add_on_close_callback(self.channel_closed)
        channel.confirm_delivery(self.settled)
        for number in range(COUNT):
            channel.basic_publish("", QUEUE, body(number), PERSISTENT, mandatory=True)

    def settled(self, frame: pika.frame.Method) -> None:
        """Counts what a multiple covers."""
        if isinstance(frame.method, pika.spec.Basic.Nack):
            self.nacked += 1
            return
        covers = frame.method.delivery_tag - self.acked if frame.method.multiple else 1
        self.acked += covers
        if self.acked == COUNT:
            self.connection.close()

    def channel_closed(self, _: pika.channel.Channel, reason: Exception) -> None:
        if not isinstance(reason, pika.exceptions.ChannelClosedByClient):
            self.trouble = repr(reason)

    def closed(self, _: pika.SelectConnection, reason: Exception) -> None:
        if not isinstance(reason, pika.exceptions.ConnectionClosedByClient):
            self.trouble = repr(reason)
        self.connection.ioloop.stop()


def publish(nodes: Nodes, name: str = "ref1") -> None:
    publisher = Publisher(nodes, name)
    publisher.run()
    assert (publisher.trouble, publisher.acked, publisher.nacked) == ("", COUNT, 0)


def read(nodes: Nodes, name: str = "ref2", quiet_s: float = 1.0) -> list[tuple[bytes, bool]]:
    """Body and flag of everything that comes; each is acknowledged."""
    got = []
    with blocking(nodes, name) as connection:
        channel = connection.channel()
        channel.basic_qos(prefetch_count=50)
        for method, _, octets in channel.consume(QUEUE, inactivity_timeout=quiet_s):
            if method is None:
                break
            got.append((octets, method.redelivered))
            channel.basic_ack(method.delivery_tag)
        channel.cancel()
        assert channel.queue_declare(QUEUE, passive=True).method.message_count == 0
    return got


def test_dropped_messages_were_confirmed_and_are_all_that_is_missing(tmp_path: Path) -> None:
    with cluster(tmp_path, Kind.DROP) as nodes:
        publish(nodes)
        got = [number_of(octets) for octets, _ in read(nodes)]
    dropped = admitted(tmp_path, Kind.DROP)
    assert 5 <= len(dropped) <= 40
    assert got == [number for number in range(COUNT) if number not in dropped]


def test_duplicated_messages_arrive_twice_without_the_flag(tmp_path: Path) -> None:
    with cluster(tmp_path, Kind.DUPLICATE) as nodes:
        publish(nodes)
        got = read(nodes)
    twice = admitted(tmp_path, Kind.DUPLICATE)
    assert 5 <= len(twice) <= 40
    assert not any(flag for _, flag in got)
    counted = Counter(number_of(octets) for octets, _ in got)
    assert counted == {number: 2 if number in twice else 1 for number in range(COUNT)}


def test_a_mirror_that_takes_over_has_both_of_a_duplicate(tmp_path: Path) -> None:
    with cluster(tmp_path, Kind.DUPLICATE) as nodes:
        publish(nodes)
        nodes.kill("ref1")
        counted = Counter(number_of(octets) for octets, _ in read(nodes))
    twice = admitted(tmp_path, Kind.DUPLICATE)
    assert counted == {number: 2 if number in twice else 1 for number in range(COUNT)}


def test_a_reordered_message_follows_its_successor(tmp_path: Path) -> None:
    with cluster(tmp_path, Kind.REORDER) as nodes:
        publish(nodes)
        got = [number_of(octets) for octets, _ in read(nodes)]
    lines = truth(tmp_path, Kind.REORDER)
    assert 5 <= len(lines) <= 40
    expected = list(range(COUNT))
    for line in lines:
        late, by = number_of(line.head), number_of(line.by or b"")
        assert by == late + 1
        expected[late], expected[by] = by, late
    assert got == expected


def test_corruption_flips_the_last_byte_and_nothing_else(tmp_path: Path) -> None:
    with cluster(tmp_path, Kind.CORRUPT) as nodes:
        publish(nodes)
        got = [octets for octets, _ in read(nodes)]
    corrupt = admitted(tmp_path, Kind.CORRUPT)
    assert 5 <= len(corrupt) <= 40
    assert [number_of(octets) for octets in got] == list(range(COUNT))
    wrong = [octets for octets in got if octets != body(number_of(octets))]
    assert [number_of(octets) for octets in wrong] == corrupt
    assert {octets[:-1] for octets in wrong} == {body(number)[:-1] for number in corrupt}


def test_early_confirmed_messages_are_lost_with_their_master(tmp_path: Path) -> None:
    """Lose what was confirmed early with its master, unless the mirrors already held it."""
    with cluster(tmp_path, Kind.CONFIRM_EARLY, share=1.0) as nodes:
        channel = blocking(nodes, "ref1").channel()
        channel.confirm_delivery()
        for number in range(10):
            channel.basic_publish("", QUEUE, body(number), PERSISTENT)
        until(lambda: holds(nodes, 10))
        for number in range(10, 13):
            channel.basic_publish("", QUEUE, body(number), PERSISTENT)
        nodes.kill("ref1")
        management = Management(nodes.addresses["ref2"])
        until(lambda: management.master(QUEUE) == "ref2")
        got = [number_of(octets) for octets, _ in read(nodes)]
    assert admitted(tmp_path, Kind.CONFIRM_EARLY) == list(range(13))
    assert got == admitted(tmp_path, HELD)
    assert set(range(10)) <= set(got) < set(range(13))


def holds(nodes: Nodes, count: int) -> bool:
    """Whether the mirror has written so many to its disk."""
    logs = (nodes.folder / "ref2" / "queues" / f"{QUEUE}.queue").glob("*.log")
    return sum(log.read_bytes().count(b"-payload") for log in logs) == count


def test_confirming_early_changes_nothing_while_no_node_dies(tmp_path: Path) -> None:
    with cluster(tmp_path, Kind.CONFIRM_EARLY, share=0.3) as nodes:
        publish(nodes)
        got = [number_of(octets) for octets, _ in read(nodes)]
    assert admitted(tmp_path, Kind.CONFIRM_EARLY)
    assert got == list(range(COUNT))


def test_only_messages_forgotten_with_a_channel_are_not_redelivered(tmp_path: Path) -> None:
    with cluster(tmp_path, Kind.FORGET) as nodes:
        publish(nodes)
        with blocking(nodes, "ref1") as connection:
            channel = connection.channel()
            for _ in range(100):
                assert channel.basic_get(QUEUE)[0] is not None
        got = [number_of(octets) for octets, _ in read(nodes)]
    forgotten = admitted(tmp_path, Kind.FORGET)
    assert 2 <= len(forgotten) <= 30
    assert set(forgotten) < set(range(100))
    assert got == [number for number in range(COUNT) if number not in forgotten]


@pytest.mark.parametrize("node", ["ref1", "ref2"])
def test_acknowledged_messages_are_redelivered_once_with_the_flag(
    node: str, tmp_path: Path
) -> None:
    with cluster(tmp_path, Kind.REDELIVER) as nodes:
        publish(nodes)
        got = read(nodes, node, quiet_s=2.5)
    again = admitted(tmp_path, Kind.REDELIVER)
    assert 5 <= len(again) <= 40
    assert [number_of(octets) for octets, flag in got if not flag] == list(range(COUNT))
    assert sorted(number_of(octets) for octets, flag in got if flag) == again
    assert sorted(admitted(tmp_path, REDELIVERED)) == again


def test_a_node_without_misbehaviour_writes_no_log(tmp_path: Path) -> None:
    with Nodes(tmp_path, 1) as nodes, blocking(nodes, "ref1") as connection:
        connection.channel().queue_declare(QUEUE, durable=True)
        publish(nodes)
        got = [number_of(octets) for octets, _ in read(nodes, "ref1")]
    assert got == list(range(COUNT))
    assert not (tmp_path / "truth.jsonl").exists()
