"""A backlog that is larger than the memory of its node: it waits on disk, and comes back in order.

A million messages are the nightly part.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pika
import pytest

from tests.reference_impl.management import Management
from tests.reference_impl.nodes import Nodes

pytestmark = pytest.mark.slow

LIMIT = 128 << 20  # from half of it on messages go to disk; an idle node has 30 MiB
SLACK = 32 << 20  # what comes between two looks at its memory
LOOKED_EVERY = 1_000
LIMIT_S = 600.0
PERSISTENT = pika.BasicProperties(delivery_mode=2)


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    with Nodes(tmp_path, count=1, memory_high_octets=LIMIT) as nodes:
        yield nodes


def resident(nodes: Nodes) -> int:
    status = Path(f"/proc/{nodes.processes['ref1'].pid}/statm").read_text()
    return int(status.split()[1]) * 4096


def channel_of(nodes: Nodes) -> Any:
    address = nodes.addresses["ref1"]
    parameters = pika.ConnectionParameters(address, heartbeat=0)
    return pika.BlockingConnection(parameters).channel()


def publish(nodes: Nodes, count: int, body: int) -> int:
    """Numbered bodies; the last one is confirmed, hence all are on disk. The most memory that the
    node had meanwhile."""
    channel = channel_of(nodes)
    channel.queue_declare("backlog", durable=True)
    most = 0
    for number in range(count):
        if number == count - 1:
            channel.confirm_delivery()
        channel.basic_publish("", "backlog", b"%010d" % number + bytes(body), PERSISTENT)
        if number % LOOKED_EVERY == 0:
            channel.connection.process_data_events(0)
            most = max(most, resident(nodes))
    channel.connection.close()
    return most


def status(nodes: Nodes) -> dict[str, Any]:
    found: dict[str, Any] = Management(nodes.addresses["ref1"]).call(
        "GET", "/api/queues/%2F/backlog"
    )
    return found


def drained(nodes: Nodes, count: int) -> list[int]:
    channel = channel_of(nodes)
    channel.basic_qos(prefetch_count=500)
    numbers = []
    for method, _, body in channel.consume("backlog", inactivity_timeout=LIMIT_S):
        numbers.append(int(body[:10]))
        if len(numbers) % 100 == 0 or len(numbers) == count:
            channel.basic_ack(method.delivery_tag, multiple=True)
        if len(numbers) == count:
            break
    channel.cancel()
    channel.connection.close()
    return numbers


@pytest.mark.parametrize(
    ("count", "body"),
    [(50_000, 4 << 10), pytest.param(1_000_000, 1 << 10, marks=pytest.mark.nightly)],
)
def test_a_disk_backlog_survives_a_kill_and_drains_in_order(
    nodes: Nodes, count: int, body: int
) -> None:
    assert publish(nodes, count, body) < LIMIT + SLACK < count * body
    lengths = status(nodes)["backing_queue_status"]
    assert lengths["delta"] > count // 2
    nodes.kill("ref1")
    nodes.start("ref1")
    assert status(nodes)["messages"] == count
    assert resident(nodes) < LIMIT
    assert drained(nodes, count) == list(range(count))
    assert resident(nodes) < LIMIT + SLACK
    assert status(nodes)["messages"] == 0
