"""What operators see of lost nodes, on real processes (docs/behaviour/rabbitmq.md 3.8 and 6.1)."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reference_impl.shell.links import PING_LIMIT_S
from tests.reference_impl.management import Management
from tests.reference_impl.nodes import Nodes, until

pytestmark = pytest.mark.slow

NAMES = ("ref1", "ref2", "ref3")
TICKTIME_S = 4.0


def running(nodes: Nodes, name: str) -> set[str] | None:
    """Who runs, by that node's word; None where it does not answer."""
    try:
        listed = Management(nodes.addresses[name]).call("GET", "/api/nodes")
    except OSError:
        return None
    return {_host(node) for node in listed if node["running"]}


def partitions(nodes: Nodes, name: str) -> set[str]:
    listed = Management(nodes.addresses[name]).call("GET", "/api/nodes")
    return {other.removeprefix("rabbit@") for node in listed for other in node["partitions"]}


def said_s(folder: Path, name: str, text: str) -> list[float]:
    """When, by that node's log."""
    lines = (folder / f"{name}.log").read_text().splitlines()
    return [float(line.split()[0]) for line in lines if text in line]


def _host(node: dict[str, Any]) -> str:
    return str(node["name"]).removeprefix("rabbit@")


def test_a_killed_node_is_missed_immediately_and_returns_with_policies(tmp_path: Path) -> None:
    with Nodes(tmp_path) as nodes:
        assert all(running(nodes, name) == set(NAMES) for name in NAMES)
        nodes.kill("ref1")
        until(lambda: running(nodes, "ref3") == {"ref2", "ref3"}, 1.0)
        Management(nodes.addresses["ref2"]).policy("p", "^q", ha_mode="all")
        nodes.start("ref1")
        until(lambda: running(nodes, "ref3") == set(NAMES), 1.0)
        policy = Management(nodes.addresses["ref1"]).call("GET", "/api/policies/%2F/p")
        assert policy["definition"] == {"ha-mode": "all"}


def test_a_node_frozen_too_long_is_partitioned_until_its_restart(tmp_path: Path) -> None:
    with Nodes(tmp_path, net_ticktime_s=TICKTIME_S) as nodes:
        nodes.freeze("ref3")
        until(lambda: running(nodes, "ref1") == {"ref1", "ref2"}, 2 * TICKTIME_S)
        nodes.thaw("ref3")
        until(lambda: partitions(nodes, "ref3") == {"ref1", "ref2"})
        until(lambda: partitions(nodes, "ref1") == partitions(nodes, "ref2") == {"ref3"})
        nodes.stop("ref3")
        nodes.start("ref3")
        until(lambda: all(running(nodes, name) == set(NAMES) for name in NAMES))
        assert all(partitions(nodes, name) == set() for name in NAMES)


def test_under_pause_minority_a_node_pauses_when_its_peers_hang(tmp_path: Path) -> None:
    """A peer that hangs would let a question run into PING_LIMIT_S: it is not asked."""
    with Nodes(tmp_path, net_ticktime_s=TICKTIME_S, partition_handling="pause_minority") as nodes:
        for name in ("ref2", "ref3"):
            nodes.freeze(name)
        until(lambda: said_s(tmp_path, "ref1", "pauses"), 2 * TICKTIME_S)
        lost_s, paused_s = (said_s(tmp_path, "ref1", it)[-1] for it in ("is lost", "pauses"))
        assert paused_s - lost_s < PING_LIMIT_S


def test_under_pause_minority_two_of_three_nodes_are_enough(tmp_path: Path) -> None:
    """Pause the last of three nodes, and let it run again with one peer."""

    def is_lost(name: str) -> bool:
        return name not in (running(nodes, "ref1") or ())

    with Nodes(tmp_path, partition_handling="pause_minority") as nodes:
        for name in ("ref2", "ref3"):
            nodes.kill(name)
            until(partial(is_lost, name), 1.0)
        until(lambda: running(nodes, "ref1") is None)
        nodes.start("ref2")
        until(lambda: running(nodes, "ref1") == {"ref1", "ref2"})
