"""Nodes are forgotten, wiped and forced to boot (docs/behaviour/rabbitmq.md items 52 to 54), in
virtual time."""

import pytest

from reference_impl.metadata.nodes import FORGOTTEN, RUNS
from tests.reference_impl.simulated_clusters import SimulatedClusters

SEEDS = range(12)


def up(seed: int, names: str = "abc", handling: str = "ignore") -> SimulatedClusters:
    nodes = SimulatedClusters(seed, names, handling)  # type: ignore[arg-type]
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    return nodes


def stop_all(nodes: SimulatedClusters, *names: str) -> None:
    for name in names:
        nodes.stop(name)
        nodes.run(500)


def forget(nodes: SimulatedClusters, through: str, node: str) -> object:
    status = nodes.forget(through, node)
    nodes.run(500)
    return nodes.settled[status]


def test_a_cluster_knows_its_configured_and_admitted_nodes() -> None:
    nodes = SimulatedClusters(1)
    nodes.start("a", "b")
    nodes.run_until(lambda: nodes.all_run("a", "b"), 3000)
    assert nodes.core("b").tables.nodes == ("a", "b", "c")


def test_a_node_that_runs_is_not_forgotten() -> None:
    nodes = up(1)
    assert forget(nodes, "a", "b") == RUNS
    assert nodes.all_run()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_forgotten_node_refuses_to_boot_and_says_why(seed: int) -> None:
    nodes = up(seed)
    nodes.kill("c")
    nodes.run(500)
    assert forget(nodes, "b", "c") == FORGOTTEN
    assert nodes.core("a").tables.nodes == ("a", "b")
    nodes.start("c")
    nodes.run_until(lambda: nodes.nodes["c"].failed is not None, 3000)
    failed = str(nodes.nodes["c"].failed)
    assert failed.startswith("Node c thinks it's clustered with node ")
    assert failed.endswith(" disagrees")
    assert nodes.all_run("a", "b")
    assert len(nodes.said("a", "c was forgotten")) == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_forgotten_node_rejoins_with_an_empty_disk(seed: int) -> None:
    nodes = up(seed)
    nodes.submit("a", "kept")
    nodes.kill("c")
    nodes.run(500)
    forget(nodes, "b", "c")
    nodes.wipe("c")
    nodes.start("c")
    nodes.run_until(nodes.all_run, 3000)
    assert nodes.notes("c") == ["kept"]
    assert nodes.core("a").tables.nodes == ("a", "b", "c")
    assert nodes.core("a").tables.forgotten == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_no_node_waits_for_a_forgotten_one(seed: int) -> None:
    nodes = up(seed)
    nodes.kill("c")
    nodes.run(500)
    forget(nodes, "a", "c")
    for name in "ab":
        nodes.kill(name)
    nodes.start("a", "b")
    nodes.run_until(lambda: nodes.all_run("a", "b"), 3000)
    assert not nodes.said("b", "Waiting")


def test_a_forgotten_node_does_not_count_towards_the_majority() -> None:
    nodes = up(1, handling="pause_minority")
    nodes.kill("c")
    nodes.run(500)
    forget(nodes, "a", "c")
    nodes.kill("b")
    nodes.run(500)
    assert nodes.nodes["a"].paused, "one of two is no majority"

    nodes = up(2, "abcd", handling="pause_minority")
    nodes.kill("d")
    nodes.run(500)
    forget(nodes, "a", "d")
    nodes.kill("c")
    nodes.run(500)
    assert nodes.all_run("a", "b"), "two of three are; of four they were none"


def test_a_paused_node_loses_its_links_when_it_is_forgotten() -> None:
    nodes = up(3, handling="pause_minority")
    nodes.isolate("c")
    nodes.run_until(lambda: nodes.nodes["c"].paused, 15_000)
    nodes.run(5000)
    forget(nodes, "a", "c")
    nodes.heal()
    nodes.run(10_000)
    assert nodes.nodes["c"].paused and nodes.all_run("a", "b")
    assert nodes.core("a").linked() == {"b"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_that_forgot_the_last_one_offline_boots_alone(seed: int) -> None:
    """Boot without the last node to stop, which was forgotten offline; the others join."""
    nodes = up(seed)
    nodes.submit("a", "kept")
    nodes.run(200)
    stop_all(nodes, "a", "b")
    nodes.submit("c", "alone")
    stop_all(nodes, "c")
    nodes.wipe("c")
    nodes.forget_offline("b", "c")
    nodes.start("b")
    nodes.run_until(lambda: nodes.all_run("b"), 3000)
    nodes.start("a")
    nodes.run_until(lambda: nodes.all_run("a", "b"), 3000)
    assert nodes.core("a").tables.nodes == ("a", "b")
    nodes.start("c")
    nodes.run_until(nodes.all_run, 3000)
    assert [nodes.notes(name) for name in "abc"] == [["kept"]] * 3


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tables_of_an_offline_forget_win_over_waiting_nodes(seed: int) -> None:
    nodes = up(seed)
    stop_all(nodes, "a")
    nodes.submit("b", "later")
    nodes.run(200)
    for name in "bc":
        nodes.kill(name)
    nodes.forget_offline("a", "c")
    nodes.start("a", "b")
    nodes.run_until(lambda: nodes.all_run("a", "b"), 3000)
    assert nodes.notes("b") == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_node_cannot_boot_beside_one_that_forgot_it(seed: int) -> None:
    nodes = up(seed, "ab")
    stop_all(nodes, "a", "b")
    nodes.forget_offline("a", "b")
    nodes.start("a")
    nodes.run_until(lambda: nodes.all_run("a"), 3000)
    nodes.start("b")
    nodes.run_until(lambda: nodes.nodes["b"].failed is not None, 3000)
    assert "Node b thinks it's clustered with node a" in str(nodes.nodes["b"].failed)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_that_is_forced_to_boot_does_not_wait(seed: int) -> None:
    nodes = up(seed)
    nodes.submit("a", "kept")
    nodes.run(200)
    stop_all(nodes, "a")
    nodes.submit("b", "later")
    stop_all(nodes, "b", "c")
    nodes.force_boot("a")
    nodes.start("a")
    nodes.run_until(lambda: nodes.all_run("a"), 3000)
    nodes.start("b", "c")
    nodes.run_until(nodes.all_run, 3000)
    assert [nodes.notes(name) for name in "abc"] == [["kept"]] * 3


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cluster_without_disks_starts_anew(seed: int) -> None:
    nodes = up(seed)
    nodes.submit("a", "lost")
    nodes.run(200)
    for name in "abc":
        nodes.kill(name)
        nodes.wipe(name)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    assert nodes.notes("a") == []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["a", "b"])
def test_a_reset_node_is_forgotten_and_joins_empty(seed: int, name: str) -> None:
    nodes = up(seed)
    nodes.submit("c", "kept")
    nodes.run(200)
    nodes.reset(name)
    assert name not in nodes.core("c").tables.nodes
    nodes.run_until(nodes.all_run, 3000)
    assert nodes.notes(name) == ["kept"]
    assert nodes.core("c").tables.nodes == ("a", "b", "c")
    assert nodes.core("c").tables.forgotten == ()
    assert nodes.core("c").partitions() == ()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_spare_node_stands_by_itself_until_it_joins(seed: int) -> None:
    nodes = SimulatedClusters(seed, "abcd", "pause_minority")
    nodes.spares = ("d",)
    nodes.start()
    nodes.run_until(lambda: nodes.all_run("a", "b", "c") and nodes.all_run("d"), 3000)
    nodes.submit("b", "kept")
    nodes.submit("d", "its own")
    nodes.run(10_000)
    assert nodes.core("a").tables.nodes == ("a", "b", "c")
    nodes.reset("d", through="c")
    nodes.run_until(nodes.all_run, 3000)
    assert nodes.notes("d") == ["kept"]
    assert nodes.core("a").tables.nodes == ("a", "b", "c", "d")
    for name in "abcd":
        nodes.kill(name)
    nodes.start()
    nodes.run_until(nodes.all_run, 5000)


def test_a_node_that_is_to_join_founds_no_group_alone() -> None:
    nodes = SimulatedClusters(1, "ab")
    nodes.spares = ("b",)
    nodes.start("b")
    nodes.run_until(lambda: nodes.all_run("b"), 3000)
    nodes.reset("b", through="a")
    nodes.run(60_000)
    assert not nodes.nodes["b"].ready
    nodes.start("a")
    nodes.run_until(nodes.all_run, 3000)
