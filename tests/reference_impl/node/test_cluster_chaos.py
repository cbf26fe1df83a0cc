"""Random lives with every kind of trouble at once, under each way to handle partitions."""

from hypothesis import given, settings
from hypothesis import strategies as st

from reference_impl.node.config import HANDLINGS, Handling
from tests.reference_impl.simulated_clusters import SimulatedClusters

STEPS = 25


def trouble(nodes: SimulatedClusters, step: int) -> None:
    name, chance = nodes.random.choice(list(nodes.nodes)), nodes.random.random()
    node = nodes.nodes[name]
    others = [other for other in nodes.nodes if other != name]
    if node.core is None:
        if chance < 0.6:
            nodes.start(name)
    elif node.frozen:
        if chance < 0.7:
            nodes.thaw(name)
    elif chance < 0.08:
        nodes.kill(name)
    elif chance < 0.12 and node.ready:
        nodes.stop(name)
    elif chance < 0.25:
        nodes.freeze(name)
    elif chance < 0.35:
        nodes.isolate(name)
    elif chance < 0.45:
        nodes.cut(name, nodes.random.choice(others))
    elif chance < 0.6:
        nodes.heal()
    else:
        nodes.submit(name, str(step))


def ready(nodes: SimulatedClusters) -> list[str]:
    return [name for name, node in nodes.nodes.items() if node.ready]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(HANDLINGS))
def test_after_any_trouble_one_trusted_node_and_restarts_of_the_others_make_one_cluster(
    seed: int, handling: Handling
) -> None:
    nodes = SimulatedClusters(seed, "abcd" if seed % 2 else "abc", handling, 2000)
    nodes.preferred = ("b",)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    nodes.slowness_ms = nodes.random.choice([2, 20, 200])
    for step in range(STEPS):
        nodes.run(nodes.random.choice([1, 30, 300, 2000, 15_000]) * nodes.random.random())
        trouble(nodes, step)
    nodes.heal()
    for name, node in nodes.nodes.items():
        if node.frozen:
            nodes.thaw(name)
    nodes.run(20_000)
    if not ready(nodes):  # they wait for one that is down
        nodes.start(*(name for name, node in nodes.nodes.items() if node.core is None))
        nodes.run(20_000)
    trusted = nodes.random.choice(ready(nodes))
    _restart_all_but(nodes, trusted)
    nodes.run_until(nodes.all_run, 20_000)
    notes = nodes.notes(trusted)
    for name in nodes.nodes:
        assert nodes.notes(name) == notes
        assert nodes.core(name).partitions() == ()
    assert len(set(notes)) == len(notes)


def _restart_all_but(nodes: SimulatedClusters, trusted: str) -> None:
    others = [name for name in nodes.nodes if name != trusted]
    for name in others:
        if nodes.nodes[name].core is not None:
            nodes.kill(name)
    nodes.run(3000)
    nodes.start(*others)
