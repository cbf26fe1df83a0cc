"""Random lives of a cluster whose nodes are killed, stopped and started, from one seed each."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference_impl.simulated_clusters import SimulatedClusters

STEPS = 40


def lived(seed: int, names: str) -> SimulatedClusters:
    """A cluster after a life of crashes, with every node up again."""
    nodes = SimulatedClusters(seed, names)
    nodes.start()
    nodes.run_until(nodes.all_run, 3000)
    nodes.slowness_ms = nodes.random.choice([2, 20, 200])
    for step in range(STEPS):
        nodes.run(nodes.random.choice([0, 1, 5, 30, 300, 2000]) * nodes.random.random())
        _move(nodes, nodes.random.choice(names), step)
    for node in nodes.nodes.values():
        if node.core is None:
            nodes.start(node.name)
    nodes.run_until(nodes.all_run, 120_000)
    nodes.run(3000)
    return nodes


def _move(nodes: SimulatedClusters, name: str, step: int) -> None:
    chance, node = nodes.random.random(), nodes.nodes[name]
    if node.core is None:
        if chance < 0.6:
            nodes.start(name)
    elif chance < 0.15:
        nodes.kill(name)
    elif chance < 0.2 and node.ready:
        nodes.stop(name)
    else:
        for number in range(nodes.random.randint(1, 4)):
            nodes.submit(name, f"{step}.{number}")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["abc", "ab", "abcde"]))
def test_after_any_crashes_tables_agree_and_keep_every_settled_command(
    seed: int, names: str
) -> None:
    nodes = lived(seed, names)
    assert nodes.all_run()
    notes = nodes.notes(names[0])
    assert all(nodes.notes(name) == notes for name in names)
    assert len(set(notes)) == len(notes), "nothing is carried out twice"
    for key, place in nodes.settled.items():
        assert notes[place] == nodes.submitted[key], "what was settled stays, at its place"
    for (pid, request), token in nodes.submitted.items():
        if nodes.nodes[pid.node].boot == pid.boot:
            assert (pid, request) in nodes.settled, f"{token} of a survivor was not settled"
    assert not any(nodes.said(name, "partitioned") for name in names)
