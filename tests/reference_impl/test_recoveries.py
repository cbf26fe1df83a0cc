"""Recoveries 3 to 6 of seeds/000 (docs/behaviour/rabbitmq.md items 53 to 56), on processes of the
reference: what operators do by the command line, and what remains of a queue."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pika
import pika.exceptions
import pytest

from reference_impl.__main__ import main
from tests.reference_impl.management import Management
from tests.reference_impl.nodes import Nodes, until

pytestmark = pytest.mark.slow

QUEUE = "orders"
ALL = {"ha_mode": "all", "ha_sync_mode": "automatic"}


@contextmanager
def cluster(folder: Path, count: int = 3, spares: tuple[str, ...] = ()) -> Iterator[Nodes]:
    """Its queue has its master on ref1, a mirror on every other node, and holds 30 messages."""
    with Nodes(folder, count, spares=spares) as nodes:
        Management(nodes.addresses["ref1"]).policy("ha", f"^{QUEUE}$", **ALL)
        with connect(nodes, "ref1") as connection:
            channel = connection.channel()
            channel.queue_declare(QUEUE, durable=True)
            channel.confirm_delivery()
            for number in range(30):
                persistent = pika.BasicProperties(delivery_mode=2)
                channel.basic_publish("", QUEUE, b"%d" % number, persistent)
        api = Management(nodes.addresses["ref1"])
        until(lambda: len(api.synchronised(QUEUE)) == count - len(spares) - 1)
        yield nodes


def connect(nodes: Nodes, name: str) -> pika.BlockingConnection:
    return pika.BlockingConnection(pika.ConnectionParameters(nodes.addresses[name]))


def command(nodes: Nodes, what: str, through: str, *words: str) -> int:
    return main([what, str(nodes.folder / f"{through}.json"), *words])


def left(nodes: Nodes, name: str) -> list[int]:
    got: list[int] = []
    with connect(nodes, name) as connection:
        channel = connection.channel()
        while True:
            method, _, body = channel.basic_get(QUEUE, auto_ack=True)
            if method is None:
                return got
            got.append(int(body))


def members(nodes: Nodes, name: str) -> list[str]:
    listed = Management(nodes.addresses[name]).call("GET", "/api/nodes")
    return [one["name"].removeprefix("rabbit@") for one in listed]


def running(nodes: Nodes, name: str) -> list[str]:
    listed = Management(nodes.addresses[name]).call("GET", "/api/nodes")
    return [one["name"] for one in listed if one["running"]]


def queues(nodes: Nodes, name: str) -> list[str]:
    listed = Management(nodes.addresses[name]).call("GET", "/api/queues/%2F")
    return [one["name"] for one in listed]


def test_recovery_3_who_was_stopped_first_is_lost_and_replaced(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with cluster(tmp_path, 2) as nodes:
        nodes.stop("ref2")
        assert command(nodes, "forget", "ref1", "ref1") == 1
        assert "is running" in capfd.readouterr().err
        assert command(nodes, "forget", "ref1", "ref2") == 0
        assert members(nodes, "ref1") == ["ref1"]
        nodes.launch("ref2")
        assert nodes.processes["ref2"].wait(15) == 1, "its disk returned, but it was forgotten"
        heard = capfd.readouterr().err
        assert "Node ref2 thinks it's clustered with node ref1, but ref1 disagrees" in heard
        assert command(nodes, "wipe", "ref2") == 0
        nodes.start("ref2")
        api = Management(nodes.addresses["ref1"])
        until(lambda: api.synchronised(QUEUE) == {"ref2"})
        assert members(nodes, "ref1") == ["ref1", "ref2"]
        assert left(nodes, "ref2") == list(range(30))


def test_recovery_4_a_mirror_that_was_killed_becomes_the_master(tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as nodes:
        nodes.kill("ref2")
        api = Management(nodes.addresses["ref1"])
        until(lambda: api.mirrors(QUEUE) == [])
        nodes.kill("ref1")
        assert command(nodes, "forget", "ref2", "ref1", "--offline") == 0
        nodes.start("ref2")
        assert left(nodes, "ref2") == list(range(30))


def test_recovery_4_a_properly_stopped_mirror_does_not_take_over(tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as nodes:
        nodes.stop("ref2")
        nodes.stop("ref1")
        assert command(nodes, "forget", "ref2", "ref1", "--offline") == 0
        nodes.start("ref2")
        assert queues(nodes, "ref2") == []


def test_a_running_node_is_not_changed_offline(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with cluster(tmp_path, 2) as nodes:
        for what, *words in (("wipe",), ("force-boot",), ("forget", "ref2", "--offline")):
            assert command(nodes, what, "ref1", *words) == 1
            assert "a node runs on" in capfd.readouterr().err
        assert left(nodes, "ref2") == list(range(30))


def test_the_first_node_to_stop_boots_alone_when_forced(tmp_path: Path) -> None:
    with cluster(tmp_path) as nodes:
        for name in ("ref3", "ref2", "ref1"):
            nodes.stop(name)
        assert command(nodes, "force-boot", "ref3") == 0
        nodes.start("ref3")
        assert queues(nodes, "ref3") == [QUEUE], "though it waits for its master's node"
        with connect(nodes, "ref3") as connection:
            channel = connection.channel()
            channel.confirm_delivery()
            with pytest.raises(pika.exceptions.UnroutableError):
                channel.basic_publish("", QUEUE, b"early", mandatory=True)
            with pytest.raises(pika.exceptions.ChannelClosedByBroker, match="home node"):
                channel.queue_declare(QUEUE, durable=True)
        nodes.start("ref1")
        until(lambda: members(nodes, "ref1") == ["ref1", "ref2", "ref3"])
        assert left(nodes, "ref3") == list(range(30))


def test_a_reset_node_returns_empty_as_the_youngest_mirror(tmp_path: Path) -> None:
    with cluster(tmp_path) as nodes:
        assert command(nodes, "reset", "ref1") == 0
        api = Management(nodes.addresses["ref2"])
        until(lambda: api.master(QUEUE) != "ref1" and len(api.synchronised(QUEUE)) == 2)
        assert api.mirrors(QUEUE)[-1] == "ref1"
        assert members(nodes, "ref3") == ["ref1", "ref2", "ref3"]
        assert left(nodes, "ref1") == list(range(30))


def test_the_last_node_of_a_cluster_cannot_leave(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with cluster(tmp_path, 2) as nodes:
        nodes.kill("ref2")
        until(lambda: len(running(nodes, "ref1")) == 1)
        assert command(nodes, "reset", "ref1") == 1
        assert "no online nodes are present" in capfd.readouterr().err


def test_a_spare_node_joins_a_cluster_and_gets_a_mirror(tmp_path: Path) -> None:
    with cluster(tmp_path, 3, spares=("ref3",)) as nodes:
        assert members(nodes, "ref3") == ["ref3"] and members(nodes, "ref1") == ["ref1", "ref2"]
        assert command(nodes, "join", "ref3", "ref2") == 0
        assert members(nodes, "ref1") == ["ref1", "ref2", "ref3"]
        api = Management(nodes.addresses["ref1"])
        until(lambda: api.synchronised(QUEUE) == {"ref2", "ref3"})
        assert left(nodes, "ref3") == list(range(30))


def test_recovery_6_nothing_comes_of_no_disk(tmp_path: Path) -> None:
    with cluster(tmp_path) as nodes:
        names = list(nodes.addresses)
        for name in names:
            nodes.kill(name)
            assert command(nodes, "wipe", name) == 0
        for name in names:
            nodes.launch(name)
        for name in names:
            nodes.await_ready(name)
        assert queues(nodes, "ref2") == []
