"""Random lives with every kind of trouble at once, under each way to handle partitions."""

from contextlib import suppress

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from reference_impl.node.config import HANDLINGS, Handling
from reference_impl.node.offline import Undone
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


def operators_work(nodes: SimulatedClusters) -> None:
    """What they do about nodes that are down, sensible or not."""
    down = [name for name, node in nodes.nodes.items() if node.core is None]
    reached = [name for name in ready(nodes) if not nodes.nodes[name].frozen]
    if not down:
        return
    name, chance = nodes.random.choice(down), nodes.random.random()
    if chance < 0.4 and reached:
        nodes.forget(nodes.random.choice(reached), name)
    elif chance < 0.6:
        nodes.wipe(name)
    elif chance < 0.7:
        with suppress(Undone):
            nodes.force_boot(name)
    elif chance < 0.8:
        with suppress(Undone):
            nodes.forget_offline(name, nodes.random.choice(list(nodes.nodes)))


def ready(nodes: SimulatedClusters) -> list[str]:
    return [name for name, node in nodes.nodes.items() if node.ready]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(HANDLINGS))
def test_one_trusted_node_and_restarts_make_one_cluster_after_trouble(
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


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(HANDLINGS))
def test_one_trusted_disk_and_empty_ones_make_one_cluster(seed: int, handling: Handling) -> None:
    """Nodes are forgotten, wiped and forced to boot meanwhile, sensibly or not."""
    nodes = SimulatedClusters(seed, "abcd" if seed % 2 else "abc", handling, 2000)
    nodes.preferred = ("b",)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    for step in range(STEPS):
        nodes.run(nodes.random.choice([1, 30, 300, 2000, 15_000]) * nodes.random.random())
        trouble(nodes, step)
        operators_work(nodes)
    nodes.heal()
    _kill_all(nodes)
    can_boot = [name for name in nodes.nodes if _is_forced_to_boot(nodes, name)]
    assume(can_boot)
    trusted = nodes.random.choice(can_boot)
    before = _start_anew_from(nodes, trusted)
    nodes.run_until(nodes.all_run, 20_000)
    for name in nodes.nodes:
        assert nodes.notes(name) == before
        assert nodes.core(name).tables.nodes == tuple(nodes.nodes)
        assert nodes.core(name).tables.forgotten == ()
        assert nodes.core(name).partitions() == ()


def _kill_all(nodes: SimulatedClusters) -> None:
    for name, node in nodes.nodes.items():
        if node.core is not None:
            nodes.kill(name)


def _is_forced_to_boot(nodes: SimulatedClusters, name: str) -> bool:
    """Not where its disk was wiped, and it was in no cluster since."""
    with suppress(Undone):
        nodes.force_boot(name)
        return True
    return False


def _start_anew_from(nodes: SimulatedClusters, trusted: str) -> list[str]:
    """What the trusted one's disk holds."""
    for name in nodes.nodes:
        if name != trusted:
            nodes.wipe(name)
            with suppress(Undone):  # it is no member
                nodes.forget_offline(trusted, name)
    nodes.start(trusted)
    nodes.run_until(lambda: nodes.all_run(trusted), 5000)
    before = nodes.notes(trusted)
    nodes.start(*(name for name in nodes.nodes if name != trusted))
    return before


def _restart_all_but(nodes: SimulatedClusters, trusted: str) -> None:
    others = [name for name in nodes.nodes if name != trusted]
    for name in others:
        if nodes.nodes[name].core is not None:
            nodes.kill(name)
    nodes.run(3000)
    nodes.start(*others)
