"""autoheal (docs/behaviour/rabbitmq.md 3.8): who gives way, and what becomes of what it had."""

import pytest

from reference_impl.node.autoheal import Autoheal
from tests.reference_impl.simulated_clusters import SimulatedClusters

T = 10_000
SEEDS = range(8)
HEALED_MS = 20_000  # links dialled again, all nodes queried, losers stopped and booted


def split(seed: int, alone: str, names: str = "abc", **clients: int) -> SimulatedClusters:
    """Both sides have gone on without each other."""
    nodes = SimulatedClusters(seed, names, "autoheal", T)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    for name, count in clients.items():
        nodes.nodes[name].clients = count
    nodes.isolate(alone)
    nodes.run(2 * T)
    return nodes


@pytest.mark.parametrize("seed", SEEDS)
def test_while_they_are_apart_both_sides_serve(seed: int) -> None:
    nodes = split(seed, "a")
    assert nodes.all_run("a") and nodes.all_run("b", "c")
    nodes.run(60_000)
    assert nodes.all_run("a") and nodes.all_run("b", "c"), "no node gives way before it is over"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("clients", "kept"),
    [({"a": 3, "b": 1, "c": 1}, "alone"), ({"a": 1, "b": 1, "c": 1}, "others")],
    ids=["the one that most clients chose", "the two that more clients chose"],
)
def test_the_side_with_most_clients_wins_and_the_other_discards(
    seed: int, clients: dict[str, int], kept: str
) -> None:
    nodes = split(seed, "a", **clients)
    nodes.submit("a", "alone")
    nodes.submit("b", "others")
    nodes.heal()
    nodes.run_until(nodes.all_run, HEALED_MS)
    assert {name: nodes.notes(name) for name in "abc"} == {name: [kept] for name in "abc"}
    assert all(nodes.core(name).partitions() == () for name in "abc")


@pytest.mark.parametrize("seed", SEEDS)
def test_with_equal_client_counts_the_larger_side_wins(seed: int) -> None:
    nodes = split(seed, "a")
    nodes.heal()
    nodes.run_until(nodes.all_run, HEALED_MS)
    assert (nodes.said("a", "autoheal"), nodes.said("b", "autoheal")) != ([], [])
    assert nodes.nodes["a"].boot == 2 and nodes.nodes["b"].boot == nodes.nodes["c"].boot == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_losers_begin_again_only_once_none_of_them_runs(seed: int) -> None:
    """Or one would join the other, and with it what has to go."""
    nodes = split(seed, "a", a=9)
    nodes.submit("b", "goes")
    nodes.heal()
    nodes.run_until(lambda: nodes.nodes["b"].paused or nodes.nodes["c"].paused, HEALED_MS)
    nodes.run_until(lambda: nodes.nodes["b"].boot == 2 or nodes.nodes["c"].boot == 2, HEALED_MS)
    assert all(not nodes.nodes[name].ready for name in "bc" if nodes.nodes[name].boot == 1)
    nodes.run_until(nodes.all_run, HEALED_MS)
    assert nodes.notes("b") == nodes.notes("c") == []


@pytest.mark.parametrize("seed", SEEDS)
def test_no_side_gives_way_while_one_node_is_down(seed: int) -> None:
    nodes = split(seed, "a")
    nodes.kill("c")
    nodes.heal()
    nodes.run(HEALED_MS)
    assert nodes.all_run("a") and nodes.all_run("b")
    nodes.start("c")
    nodes.run_until(nodes.all_run, 2 * HEALED_MS)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_node_that_hung_too_long_yields_to_the_others(seed: int) -> None:
    nodes = SimulatedClusters(seed, "abc", "autoheal", T)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    nodes.freeze("b")
    nodes.run(2 * T)
    nodes.thaw("b")
    nodes.run_until(nodes.all_run, HEALED_MS)
    assert (nodes.nodes["a"].boot, nodes.nodes["b"].boot) == (1, 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_clean_restart_is_not_a_partition(seed: int) -> None:
    nodes = SimulatedClusters(seed, "abc", "autoheal", T)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    nodes.kill("b")
    nodes.run(3000)
    nodes.start("b")
    nodes.run(HEALED_MS)
    assert nodes.all_run()
    assert nodes.nodes["a"].boot == 1


def sides(*those: str) -> list[frozenset[str]]:
    return [frozenset(it) for it in those]


def healing(me: str = "a", **clients: int) -> Autoheal:
    core = Autoheal(me)
    core.begins(clients)
    for node, count in clients.items():
        core.hear(node, count)
    return core


def test_only_the_first_member_sends_queries() -> None:
    assert Autoheal("a").begins("abc")
    assert not Autoheal("b").begins("abc")


def test_autoheal_sends_one_query() -> None:
    core = Autoheal("a")
    assert core.begins("abc")
    assert not core.begins("abc")
    core.over()
    assert core.begins("abc"), "a change meanwhile restarts it"


def test_no_side_loses_before_all_nodes_report() -> None:
    assert healing(a=1, b=1).losers(sides("a", "bc")) == ()


def test_with_one_side_no_node_loses() -> None:
    assert healing(a=1, b=1, c=1).losers(sides("abc")) == ()


def test_between_equal_sides_the_lowest_name_wins() -> None:
    assert healing(a=1, b=1).losers(sides("b", "a")) == ("b",)


def test_all_but_one_of_many_sides_lose() -> None:
    assert healing(a=1, b=5, c=1, d=0).losers(sides("a", "b", "c", "d")) == ("a", "c", "d")


def test_a_node_outside_the_losers_keeps_running() -> None:
    core = Autoheal("a")
    assert not core.lose(("b",))
    assert not core.gives_way


def test_a_repeated_report_is_no_news() -> None:
    core = Autoheal("a")
    assert core.lose(("a",))
    assert not core.lose(("a",))
