"""Silence, partitions and pauses (docs/behaviour/rabbitmq.md 3.8 and 6.1), in virtual time."""

import pytest

from reference_impl.node.config import Handling
from tests.reference_impl.simulated_clusters import SimulatedClusters

T = 10_000
DIALLED_ANEW_MS = 7000  # an attempt that was under way has failed by then, and another succeeded
SEEDS = range(8)


def up(seed: int, handling: Handling, names: str = "abc") -> SimulatedClusters:
    nodes = SimulatedClusters(seed, names, handling, T)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    nodes.run(nodes.random.random() * T)
    return nodes


def partitions(nodes: SimulatedClusters) -> dict[str, tuple[str, ...]]:
    return {name: nodes.core(name).partitions() for name in nodes.nodes}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hanging_node_is_lost_near_the_tick_time(seed: int) -> None:
    """Lose a hanging node after 75 % to 125 % of the tick time."""
    nodes = up(seed, "ignore")
    nodes.freeze("a")
    took_ms = nodes.run_until(lambda: nodes.all_run("b", "c"), 2 * T)
    assert 0.75 * T <= took_ms <= 1.25 * T + 2 * nodes.slowness_ms


@pytest.mark.parametrize("seed", SEEDS)
def test_while_a_member_hangs_no_change_is_settled(seed: int) -> None:
    nodes = up(seed, "ignore")
    nodes.freeze("c")
    key = nodes.submit("b", "t")
    nodes.run(0.7 * T)
    assert key not in nodes.settled
    nodes.run(0.7 * T)
    assert key in nodes.settled


@pytest.mark.parametrize("seed", SEEDS)
def test_a_short_hang_does_no_harm(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    nodes.freeze("a")
    nodes.run(0.6 * T)
    nodes.thaw("a")
    nodes.run(T)
    assert nodes.all_run()
    assert partitions(nodes) == {"a": (), "b": (), "c": ()}


@pytest.mark.parametrize("handling", ["ignore", "pause_minority"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_frozen_too_long_continues_as_another_leader(seed: int, handling: Handling) -> None:
    """The known hole: it finds all its links closed, and all its peers alive."""
    nodes = up(seed, handling)
    nodes.freeze("a")
    nodes.run(2 * T)
    nodes.submit("b", "majority")
    nodes.thaw("a")
    nodes.run(5000)
    assert nodes.all_run("a") and nodes.all_run("b", "c")
    assert partitions(nodes) == {"a": ("b", "c"), "b": ("a",), "c": ("a",)}
    nodes.submit("a", "rival")
    nodes.run(1000)
    assert (nodes.notes("a"), nodes.notes("b")) == (["rival"], ["majority"])


@pytest.mark.parametrize("gracefully", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_restarted_after_a_partition_adopts_its_peers_tables(
    seed: int, gracefully: bool
) -> None:
    nodes = up(seed, "ignore")
    nodes.isolate("a")
    nodes.run(2 * T)
    nodes.submit("a", "distrusted")
    nodes.submit("b", "trusted")
    nodes.heal()
    nodes.run(DIALLED_ANEW_MS)
    assert partitions(nodes) == {"a": ("b", "c"), "b": ("a",), "c": ("a",)}
    (nodes.stop if gracefully else nodes.kill)("a")
    nodes.run(500)
    assert nodes.core("b").partitions() == ()
    nodes.start("a")
    nodes.run_until(nodes.all_run, 3000)
    assert nodes.notes("a") == ["trusted"]
    assert partitions(nodes) == {"a": (), "b": (), "c": ()}


@pytest.mark.parametrize("seed", range(40))
def test_two_sides_that_restart_at_the_same_moment_merge(seed: int) -> None:
    nodes = up(seed, "ignore", "ab")
    nodes.isolate("a")
    nodes.run(2 * T)
    assert nodes.all_run("a") and nodes.all_run("b"), "each may begin alone"
    nodes.heal()
    for name in "ab":
        nodes.kill(name)
    nodes.run(1000)
    for name in nodes.random.sample("ab", 2):
        nodes.start(name)
        nodes.run(nodes.random.random() * 50)
    nodes.run_until(nodes.all_run, 3000)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_clean_partition_pauses_the_minority_until_it_ends(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    nodes.isolate("a")
    nodes.run_until(lambda: nodes.nodes["a"].paused, 2 * T)
    nodes.run_until(lambda: nodes.all_run("b", "c"), T)
    nodes.submit("b", "meanwhile")
    nodes.run(30_000)
    assert nodes.nodes["a"].paused
    nodes.heal()
    assert nodes.run_until(nodes.all_run, 7000) <= 7000
    assert nodes.notes("a") == ["meanwhile"]
    assert partitions(nodes) == {"a": (), "b": (), "c": ()}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_pauses_at_once_when_it_loses_the_majority(seed: int) -> None:
    """RabbitMQ's monitor decides from nodes() without a query: 10 to 120 ms by its log."""
    nodes = up(seed, "pause_minority")
    nodes.isolate("a")
    took_ms = nodes.run_until(lambda: nodes.nodes["a"].paused, 2 * T)
    assert 0.75 * T <= took_ms <= 1.25 * T + 2 * nodes.slowness_ms, "the tick, and nothing more"
    assert nodes.said("a", "pauses") == nodes.said("a", "is lost")[-1:] == [nodes.now_ms]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_hanging_peer_is_not_awaited_when_the_other_dies(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    nodes.freeze("b")
    nodes.run_until(lambda: nodes.all_run("a", "c"), 2 * T)
    nodes.kill("c")
    nodes.run_until(lambda: nodes.nodes["a"].paused, 3 * nodes.slowness_ms)


@pytest.mark.parametrize("seed", SEEDS)
def test_confirms_are_withheld_from_the_moment_a_majority_is_missing(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    assert not nodes.core("a").guarded()
    nodes.isolate("a")
    nodes.run_until(lambda: "b" not in nodes.core("a").running(), 2 * T)
    nodes.run_until(lambda: "c" not in nodes.core("a").running(), T)
    assert nodes.core("a").guarded()
    assert not nodes.core("b").guarded()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_lists_its_linked_peers_and_none_when_isolated(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    assert nodes.core("a").linked() == {"b", "c"}
    nodes.kill("b")
    nodes.run_until(lambda: nodes.core("a").linked() == {"c"}, 3 * nodes.slowness_ms)
    nodes.isolate("a")
    nodes.run_until(lambda: nodes.core("a").linked() == frozenset(), 2 * T)


def test_confirms_are_not_withheld_where_partitions_are_ignored() -> None:
    nodes = up(1, "ignore")
    nodes.isolate("a")
    nodes.run(2 * T)
    assert not nodes.core("a").guarded()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_majority_does_not_pause_when_a_node_dies(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    nodes.kill("c")
    nodes.run(5000)
    assert nodes.all_run("a", "b")
    nodes.kill("b")
    nodes.run_until(lambda: nodes.nodes["a"].paused, 5000)
    nodes.start("b")
    nodes.run_until(lambda: nodes.all_run("a", "b"), 10_000)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_of_three_come_back_without_the_third(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    for name in "bc":
        nodes.kill(name)
        nodes.run(500)
    nodes.run_until(lambda: nodes.nodes["a"].paused, 5000)
    nodes.start("b")
    nodes.run_until(lambda: nodes.all_run("a", "b"), 10_000)


@pytest.mark.parametrize("stops", [True, False])
def test_with_pause_minority_the_survivor_of_two_pauses(stops: bool) -> None:
    nodes = up(1, "pause_minority", "ab")
    (nodes.stop if stops else nodes.kill)("b")
    nodes.run_until(lambda: nodes.nodes["a"].paused, 5000)
    nodes.start("b")
    nodes.run_until(nodes.all_run, 10_000)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_paused_node_leaves_its_group_though_its_links_stay(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    nodes.cut("a", "b")
    nodes.run_until(lambda: nodes.nodes["a"].paused and nodes.nodes["b"].paused, 2 * T)
    nodes.run(1000)
    assert nodes.all_run("c"), "each of the two pauses, and the third keeps serving"
    nodes.heal()
    nodes.run_until(nodes.all_run, 10_000)
    assert partitions(nodes) == {"a": (), "b": (), "c": ()}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_partial_partition_becomes_a_full_one_under_ignore(seed: int) -> None:
    nodes = up(seed, "ignore", "abcd")
    nodes.cut("b", "c")
    nodes.run(2 * T)
    assert nodes.all_run("c") and nodes.all_run("a", "b", "d")
    assert partitions(nodes) == {"a": ("c",), "b": (), "c": ("a", "d"), "d": ("c",)}
    nodes.heal()
    nodes.run(DIALLED_ANEW_MS)
    assert partitions(nodes) == {"a": ("c",), "b": ("c",), "c": ("a", "b", "d"), "d": ("c",)}


@pytest.mark.parametrize("seed", SEEDS)
def test_after_all_nodes_paused_all_return_with_the_newest_tables(seed: int) -> None:
    nodes = up(seed, "pause_minority")
    nodes.submit("b", "settled")
    nodes.run(500)
    for name in "ab":
        nodes.isolate(name)
    nodes.run_until(lambda: all(node.paused for node in nodes.nodes.values()), 3 * T)
    nodes.heal()
    nodes.run_until(nodes.all_run, 20_000)
    assert [nodes.notes(name) for name in "abc"] == [["settled"]] * 3


def preferring(seed: int, preferred: str) -> SimulatedClusters:
    nodes = SimulatedClusters(seed, "abc", "pause_if_all_down", T)
    nodes.preferred = tuple(preferred)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    return nodes


@pytest.mark.parametrize("seed", SEEDS)
def test_a_majority_without_a_preferred_node_pauses(seed: int) -> None:
    nodes = preferring(seed, "a")
    nodes.isolate("a")
    nodes.run(2 * T)
    assert nodes.all_run("a")
    assert nodes.nodes["b"].paused and nodes.nodes["c"].paused
    nodes.submit("a", "meanwhile")
    nodes.heal()
    nodes.run_until(nodes.all_run, DIALLED_ANEW_MS)
    assert nodes.notes("b") == ["meanwhile"]
    assert partitions(nodes) == {"a": (), "b": (), "c": ()}


@pytest.mark.parametrize("seed", SEEDS)
def test_both_sides_continue_if_each_has_a_preferred_node(seed: int) -> None:
    nodes = preferring(seed, "ab")
    nodes.isolate("a")
    nodes.run(2 * T)
    assert nodes.all_run("a") and nodes.all_run("b", "c")
    nodes.heal()
    nodes.run(DIALLED_ANEW_MS)
    assert partitions(nodes) == {"a": ("b", "c"), "b": ("a",), "c": ("a",)}, "recover: ignore"
