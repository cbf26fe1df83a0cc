"""Real nodes under a flood: they stay within their limits, and recover."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pika
import pytest

from reference_impl.__main__ import main
from tests.reference_impl.management import Management
from tests.reference_impl.nodes import Nodes, until

pytestmark = pytest.mark.slow

BODY = bytes(64 << 10)
LIMIT = 104 << 20  # an idle node has 30
SLACK = 128 << 20  # what comes between two looks at its memory
LIMIT_S = 60.0


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Nodes]:
    with Nodes(tmp_path, memory_high_octets=LIMIT) as nodes:
        until(lambda: len(listed(nodes)) == 3)
        yield nodes


def listed(nodes: Nodes, name: str = "ref1") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Management(nodes.addresses[name]).call("GET", "/api/nodes")
    return found


def alarmed(nodes: Nodes, name: str = "ref1") -> list[str]:
    """In that node's eyes."""
    return [str(one["name"]) for one in listed(nodes, name) if one["mem_alarm"]]


def resident(nodes: Nodes, name: str) -> int:
    status = Path(f"/proc/{nodes.processes[name].pid}/statm").read_text()
    return int(status.split()[1]) * 4096


class Publisher:
    """Publishes until it is stopped, with a pause after each that lets it hear of blocks. It
    hears of none without: pika's publish waits for room in the socket, and for nothing else."""

    def __init__(self, address: str, body: bytes, pause_s: float) -> None:
        self.blocked, self.unblocked, self._over = Event(), Event(), Event()
        self.reason = ""
        self._body, self._pause_s = body, pause_s
        self._connection = pika.BlockingConnection(pika.ConnectionParameters(address, heartbeat=0))
        self._channel = self._connection.channel()
        self._channel.queue_declare("flooded")
        self._connection.add_on_connection_blocked_callback(self._is_blocked)
        self._connection.add_on_connection_unblocked_callback(lambda *_: self.unblocked.set())
        self._thread = Thread(target=self._go, daemon=True)
        self._thread.start()

    def _is_blocked(self, _: object, frame: Any) -> None:
        self.reason = frame.method.reason
        self.blocked.set()

    def _go(self) -> None:
        while not self._over.is_set():
            self._channel.basic_publish("", "flooded", self._body)
            if self._pause_s:
                self._connection.process_data_events(self._pause_s)
        self._connection.close()

    def stop(self) -> None:
        """Takes effect once it is not blocked any more."""
        self._over.set()

    def end(self) -> None:
        self._thread.join(LIMIT_S)
        assert not self._thread.is_alive()


def test_a_flooded_node_blocks_publishers_and_keeps_its_limit(nodes: Nodes) -> None:
    sparing = Publisher(nodes.addresses["ref1"], b"small", 0.02)
    flood = Publisher(nodes.addresses["ref1"], BODY, 0)
    assert sparing.blocked.wait(LIMIT_S)
    assert sparing.reason == "low on memory"
    until(lambda: all(alarmed(nodes, name) == ["rabbit@ref1"] for name in nodes.addresses))
    # Queries are served meanwhile. The broker pages messages to disk, then takes more.
    other = pika.BlockingConnection(pika.ConnectionParameters(nodes.addresses["ref2"]))
    channel = other.channel()
    assert sparing.unblocked.wait(LIMIT_S)
    most = 0

    def ready() -> int:
        found: int = channel.queue_declare("flooded", passive=True).method.message_count
        return found

    def is_beyond_memory() -> bool:
        nonlocal most
        most = max(most, resident(nodes, "ref1"))
        return ready() * len(BODY) > 2 * (LIMIT + SLACK)

    until(is_beyond_memory, LIMIT_S)
    assert most < LIMIT + SLACK
    flood.stop()
    flood.end()
    channel.queue_purge("flooded")
    until(lambda: alarmed(nodes) == [], LIMIT_S)
    other.close()
    sparing.stop()
    sparing.end()


def test_a_command_sets_and_resets_a_running_nodes_limit(
    nodes: Nodes, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(nodes.folder / "ref2.json")
    assert main(["limit", file, "memory", "1"]) == 0
    until(lambda: alarmed(nodes, "ref3") == ["rabbit@ref2"])
    assert main(["limit", file, "all"]) == 0
    assert capsys.readouterr().out == "[memory]\n"
    until(lambda: alarmed(nodes, "ref3") == [])
    nodes.kill("ref3")
    assert main(["limit", str(nodes.folder / "ref3.json"), "memory", "1"]) == 1
