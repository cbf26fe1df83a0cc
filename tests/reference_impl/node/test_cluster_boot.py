"""Nodes start, stop and start again (docs/behaviour/rabbitmq.md 1E), in virtual time."""

import pytest

from reference_impl.node import happenings as h
from reference_impl.node.cluster import Cluster
from reference_impl.node.config import Config
from reference_impl.node.gossip import Greeting
from tests.reference_impl.simulated_clusters import SimulatedClusters

SEEDS = range(12)


def up(seed: int, names: str = "abc") -> SimulatedClusters:
    nodes = SimulatedClusters(seed, names)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    return nodes


def stop_all(nodes: SimulatedClusters, *names: str) -> None:
    for name in names:
        nodes.stop(name)
        nodes.run(500)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_parallel_first_start_makes_one_cluster_within_two_seconds(seed: int) -> None:
    nodes = SimulatedClusters(seed)
    nodes.start()
    assert nodes.run_until(nodes.all_run, 2000) < 2000
    assert [name for name in nodes.nodes if nodes.said(name, "founds")] == ["a"]


@pytest.mark.parametrize("seed", SEEDS)
def test_blank_nodes_in_any_order_and_delay_make_one_cluster(seed: int) -> None:
    nodes = SimulatedClusters(seed, "abcd")
    for name in nodes.random.sample("abcd", 4):
        nodes.start(name)
        nodes.run(nodes.random.choice([1, 100, 4990, 5010, 9000]))
    nodes.run_until(nodes.all_run, 10_000)
    assert sum(len(nodes.said(name, "founds")) for name in "abcd") == 1


def test_a_single_node_is_a_cluster_at_once() -> None:
    nodes = SimulatedClusters(1, "a")
    nodes.start()
    nodes.run(0)
    assert nodes.all_run()


def test_the_smallest_present_node_founds_when_the_first_is_missing() -> None:
    nodes = SimulatedClusters(1)
    nodes.start("b", "c")
    assert nodes.run_until(lambda: nodes.all_run("b", "c"), 10_000) >= 5000
    assert nodes.said("b", "founds") and not nodes.said("c", "founds")
    nodes.start("a")
    nodes.run_until(nodes.all_run, 3000)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_to_stop_boots_at_once_and_others_join(seed: int) -> None:
    nodes = up(seed)
    nodes.submit("b", "kept")
    nodes.run(200)
    stop_all(nodes, "a", "b")
    nodes.submit("c", "alone")
    stop_all(nodes, "c")
    nodes.start("c")
    assert nodes.run_until(lambda: nodes.all_run("c"), 1000) < 1000
    nodes.start("a", "b")
    nodes.run_until(nodes.all_run, 3000)
    assert [nodes.notes(name) for name in "abc"] == [["kept", "alone"]] * 3


@pytest.mark.parametrize("seed", SEEDS)
def test_nodes_stopped_earlier_wait_for_the_last_one(seed: int) -> None:
    nodes = up(seed)
    stop_all(nodes, "a", "b")
    nodes.submit("c", "alone")
    stop_all(nodes, "c")
    nodes.start("a", "b")
    nodes.run(25_000)
    assert not nodes.nodes["a"].ready and not nodes.nodes["b"].ready
    assert nodes.said("a", "Waiting for Mnesia tables for 30000 ms, 9 retries left")
    nodes.start("c")
    nodes.run_until(nodes.all_run, 3000)
    assert nodes.notes("a") == ["alone"]


def test_a_node_abandons_its_boot_after_ten_times_thirty_seconds() -> None:
    nodes = up(1)
    stop_all(nodes, "a", "b", "c")
    nodes.start("a")
    began_ms = nodes.now_ms
    took_ms = nodes.run_until(lambda: nodes.nodes["a"].failed is not None, 310_000)
    assert 300_000 <= took_ms <= 303_000
    assert "10 x 30000 ms" in str(nodes.nodes["a"].failed)
    waiting = [line for at, line in nodes.nodes["a"].log if at >= began_ms and "Waiting" in line]
    text = "Waiting for Mnesia tables for 30000 ms, {} retries left"
    assert waiting == [text.format(left) for left in range(9, -1, -1)]


@pytest.mark.parametrize("seed", SEEDS)
def test_all_killed_together_come_back_with_everything_that_was_settled(seed: int) -> None:
    nodes = up(seed)
    for number in range(20):
        nodes.submit(nodes.random.choice("abc"), f"t{number}")
        nodes.run(nodes.random.random() * 20)
    for name in nodes.random.sample("abc", 3):
        nodes.kill(name)
        nodes.run(nodes.random.choice([0, 1, 10]))
    for name in nodes.random.sample("abc", 3):
        nodes.start(name)
        nodes.run(nodes.random.choice([0, 1000, 20_000]))
    nodes.run_until(nodes.all_run, 5000)
    notes = nodes.notes("a")
    assert nodes.notes("b") == nodes.notes("c") == notes
    assert {nodes.submitted[key] for key in nodes.settled} <= set(notes)


def test_one_alone_waits_when_all_were_killed_together() -> None:
    nodes = up(3)
    for name in "abc":
        nodes.kill(name)
    nodes.start("b")
    nodes.run(60_000)
    assert not nodes.nodes["b"].ready
    nodes.start("a", "c")
    nodes.run_until(nodes.all_run, 3000)


def test_a_node_that_comes_back_has_what_happened_without_it() -> None:
    nodes = up(4)
    nodes.submit("a", "before")
    nodes.run(200)
    nodes.kill("b")
    nodes.run(200)
    nodes.submit("c", "without")
    nodes.run(200)
    nodes.start("b")
    nodes.run_until(nodes.all_run, 2000)
    assert nodes.notes("b") == ["before", "without"]
    assert nodes.core("b").partitions() == nodes.core("a").partitions() == ()


def test_a_node_that_lost_its_disk_joins_blank() -> None:
    nodes = up(5)
    nodes.submit("a", "kept")
    nodes.run(200)
    nodes.kill("a")
    nodes.wipe("a")
    nodes.run(200)
    nodes.start("a")
    nodes.run_until(nodes.all_run, 2000)
    assert nodes.notes("a") == ["kept"]


def test_a_hanging_member_delays_a_newcomer_until_it_is_lost() -> None:
    nodes = up(6)
    nodes.kill("c")
    nodes.run(500)
    nodes.freeze("b")
    nodes.start("c")
    nodes.run(5000)
    assert not nodes.nodes["c"].ready
    nodes.run_until(lambda: nodes.all_run("a", "c"), 10_000)


def test_a_graceful_stop_is_noticed_at_once() -> None:
    nodes = up(7)
    nodes.stop("b")
    assert nodes.run_until(lambda: nodes.all_run("a", "c"), 100) <= nodes.slowness_ms


def test_peers_configured_with_other_names_are_dropped() -> None:
    core = Cluster(Config("a", "", "", "", {"b": ("", 1)}), 1, None)
    core.begin()
    stranger = h.Linked("b", 1, Greeting(("a", "b", "c"), blank=True))
    effects = core.handle(stranger)
    assert h.Drop("b") in effects
    assert core.running() == ("a",), "b is as good as absent"
