"""A run on a cluster whose clients know one address, with one management API."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy.external.doctor import examine
from harness.deploy.external.site import noted
from harness.plan.checks.applicability import obstacles
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.topology import Topology
from harness.run_folder.seal import seal
from harness.systems.catalogue import load_system
from harness.systems.topologies import layout_of, read_topology
from spark_analysis.schema.facts import Facts
from tests.oracle.judge import judge
from tests.rigs.clusters import balancer
from tests.rigs.clusters import external as rig
from tests.rigs.clusters.external import Owner, performed
from tests.rigs.clusters.topologies import HEAD, START, SYSTEMS
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        found.mirror()
        yield found


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")


@contextmanager
def balanced(owner: Owner) -> Iterator[Topology]:
    """The cluster behind one address; the API of its first broker alone is in the file."""
    with balancer.standing([node.port for node in owner.nodes]) as port:
        table = f'[balancer]\namqp = "127.0.0.1:{port}"\n'
        source = owner.text(START, table, head=HEAD.replace("10 s", "60 s"))
        hidden = [f'amqp = "127.0.0.1:{node.port}"' for node in owner.nodes]
        hidden += [f'management = "{node.api}"' for node in owner.nodes[1:]]
        for line in hidden:
            source = source.replace(f"{line}\n", "")
        yield read_topology("staging", source, SYSTEMS)


def test_a_kill_behind_a_balancer_is_verified_by_the_clusters_word(
    owner: Owner, tmp_path: Path
) -> None:
    of = plan(fault("kill", "gamma"), lasts_s=6.0)
    with balanced(owner) as topology:
        of = replace(of, layout=layout_of(topology), deployment="external")
        asyncio.run(asyncio.wait_for(performed(of, tmp_path), 240))
    folder = tmp_path / "runs" / of.name
    manifest = seal(folder)
    (window,) = manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert manifest.failure == ""
    assert manifest.state["client_endpoint"] == "balancer"
    assert manifest.state["windows"]["1"]["publishers_connected_to_target"] is None
    assert manifest.facts is not None
    counted = {
        row.measure for row in judge(Facts.from_json(manifest.facts), rows_of(folder)).counts
    }
    assert "state" in counted
    assert not {"lost", "unexpected"} & counted
    assert (noted(), owner.names("queues")) == ((), [])


def test_doctor_examines_the_balancer_and_the_one_api(owner: Owner) -> None:
    with balanced(owner) as topology:
        rows = {row.what: row for row in asyncio.run(examine(topology))}
    assert all(row.ok for row in rows.values()), rows
    assert "takes the login" in rows["balancer: AMQP"].found
    assert [what for what in rows if "management" in what] == ["alpha: management"]
    assert rows["faults that may be done"].found == "kill, stop, client_crash, client_freeze"


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("freeze", "alpha has no address of its own in the file: its silence cannot be seen"),
        ("hang", "a hang means clients' links to a host, and theirs lead to a balancer"),
    ],
)
def test_what_cannot_be_seen_behind_a_balancer_is_refused(
    owner: Owner, kind: str, words: str
) -> None:
    with balanced(owner) as topology:
        layout = layout_of(topology)
        system = load_system(topology.system)
        scenario = plan(fault(kind)).scenario
        assert words in "\n".join(
            obstacles(scenario, system, layout, chosen_client("pika"), "external")
        )
