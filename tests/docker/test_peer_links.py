"""Peers that meet through Toxiproxy: cut, slow and whole again, seen by independent means.

What is independent: the proxy's own list of toxics, the kernel's table of a broker's connections,
and what epmd answers to a question from inside a broker's own container.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.core.mechanisms import TOXIPROXY
from faults.core.model import Armed
from faults.core.peers import peer_link
from faults.executors.compose import ComposeExecutor
from faults.executors.nothing import NothingExecutor
from faults.executors.project import Project
from faults.kinds import KINDS
from faults.performing import perform_all
from harness.cleanup.docker_projects import DockerProjects
from harness.cleanup.heal import RunningProject, mend
from harness.cluster.polling import until
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.core import peer_ways
from harness.deploy.compose.deployment import ComposeDeployment
from harness.deploy.compose.faults import equip
from harness.plan.model import RunPlan
from harness.run_folder.journal import Journal
from harness.systems.catalogue import load_layout, load_system
from harness.systems.rabbitmq.core.service_ports import DISTRIBUTION_PORT
from spark_analysis.schema.tables import FAULTS
from tests.docker.conftest import Play, what_is_wrong
from tests.docker.looks import epmd_answers, in_force, said, toxics
from tests.docker.peer_faults import OPTIONS_OF, mistaken, played, pretended
from tests.docker.whole_runs import BY_PEER_LINKS, counts, mostly_nightly, run
from tests.rigs.clusters.fault_world import compiled_fault
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan

pytestmark = pytest.mark.docker

RUN = "peers-test"
VICTIM, PEERS = "rmq1", ("rmq2", "rmq3")
HOSTS = (VICTIM, *PEERS)


@pytest.fixture(scope="module")
def standing(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    """At T=60 no node notices a short cut."""
    layout = load_layout("rabbitmq-mirrored", "all-automatic-toxiproxy@T=60")
    cluster = play(ComposeDeployment(equip).up(layout, experiment_folder, print))
    try:
        yield cluster
    finally:
        play(cluster.down())


@pytest.fixture
def proxied(standing: ComposeCluster, play: Play) -> Iterator[ComposeCluster]:
    assert play(what_is_wrong(standing)) == ()
    yield standing
    assert play(what_is_wrong(standing)) == ()


def armed(cluster: ComposeCluster, kind: str, **options: Any) -> Armed:
    return compiled_fault(
        kind,
        VICTIM,
        HOSTS,
        run=RUN,
        mechanism=cluster.executor.mechanism(kind),
        options=KINDS[kind].options(**options) if options else OPTIONS_OF[kind],
        serving=load_system(cluster.layout.system).servers(cluster.layout).serving,
    )


async def seen(cluster: ComposeCluster, kind: str) -> bool:
    found = await toxics(cluster)
    if kind != "partition":  # slow, or another phase by the time that epmd is asked
        return bool(found)
    silent = not epmd_answers(cluster, VICTIM, PEERS[0])
    assert silent == bool(found), found
    return silent


def planned(cluster: ComposeCluster, kind: str, lasts_s: float, name: str) -> RunPlan:
    of = plan(fault(kind, options=OPTIONS_OF[kind]), lasts_s=lasts_s, name=f"{name}-{kind}")
    return replace(of, layout=cluster.layout)


# --- the way --------------------------------------------------------------------------------


def test_every_link_of_the_brokers_passes_the_proxy(proxied: ComposeCluster, play: Play) -> None:
    network = ".".join(proxied.layout.hosts[0].address.split(".")[:3])
    ways = peer_ways.addresses(proxied.layout, network)
    through = {*ways.values(), f"{network}.100"}  # it dials from its own address
    for host in HOSTS:
        # By the helper in its network: a broker's own image need not know such words.
        port_filter = f"( sport = :{DISTRIBUTION_PORT} or dport = :{DISTRIBUTION_PORT} )"
        project = Project(proxied.client, proxied.project)
        table = project.help(host, f"ss -Hnt state established '{port_filter}'").text
        ends = {line.split()[3].rpartition(":")[0] for line in table.splitlines()}
        assert ends and ends <= through, table


def test_peers_are_known_by_proxy_and_self_by_own_address(
    proxied: ComposeCluster, play: Play
) -> None:
    network = ".".join(proxied.layout.hosts[0].address.split(".")[:3])
    ways = peer_ways.addresses(proxied.layout, network)
    for host in proxied.layout.hosts:
        expected = {peer: ways[host.name, peer] for peer in HOSTS if peer != host.name}
        for name, address in {**expected, host.name: host.address}.items():
            assert said(proxied, host.name, f"getent hosts {name}").split()[0] == address


# --- faults ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", BY_PEER_LINKS)
def test_a_fault_of_peer_links_takes_effect_and_is_undone(
    proxied: ComposeCluster, play: Play, kind: str
) -> None:
    fault = armed(proxied, kind)
    assert fault.mechanism == TOXIPROXY

    async def seen_from_outside() -> None:
        assert await until(lambda: seen(proxied, kind), bool, 2 * sum(fault.rhythm or ()))

    assert not play(seen(proxied, kind))
    holds, left = play(played(proxied, fault, seen_from_outside))
    assert not play(seen(proxied, kind))
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt


@pytest.mark.parametrize("shape", ["one_way_in", "one_way_out", "bridge"])
def test_shaped_cut_is_distinguished_from_a_whole_cut(
    proxied: ComposeCluster, play: Play, shape: str
) -> None:
    fault, whole = armed(proxied, "partition", shape=shape), armed(proxied, "partition")

    said_of_whole, holds = play(mistaken(proxied, fault, whole))
    assert holds.ok, holds.doubt
    assert not said_of_whole.ok


@pytest.mark.parametrize("kind", BY_PEER_LINKS)
def test_an_executor_that_does_nothing_is_never_believed(
    proxied: ComposeCluster, play: Play, kind: str
) -> None:
    proof = play(pretended(proxied, armed(proxied, kind)))
    assert not proof.ok
    assert proof.doubt


def test_packet_filter_black_hole_is_seen_through_the_links(
    proxied: ComposeCluster, play: Play
) -> None:
    fault = armed(proxied, "black_hole")

    holds, left = play(played(proxied, fault))
    assert fault.mechanism == "packet_filter"
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt


@pytest.mark.parametrize("journal", [True, False])
def test_heal_undoes_a_dead_harness_fault_on_peer_links(
    proxied: ComposeCluster, play: Play, tmp_path: Path, journal: bool
) -> None:
    fault = armed(proxied, "partition")
    if journal:
        (tmp_path / "runs" / RUN).mkdir(parents=True)
        written = Journal(tmp_path / "runs" / RUN / "journal.jsonl")
        written.armed(fault)
        written.close()
    left = RunningProject(proxied.project, tmp_path, "", keep=True)

    async def story() -> list[Any]:
        await perform_all(ComposeExecutor(proxied.client, proxied.project), fault.actions)
        assert await toxics(proxied)
        return [row async for row in mend(DockerProjects(proxied.client), left, "heal")]

    rows = play(story())
    assert all(row.ok for row in rows), rows
    assert not play(toxics(proxied))
    assert epmd_answers(proxied, VICTIM, PEERS[0])


def test_clients_listeners_are_not_peers(proxied: ComposeCluster, play: Play) -> None:
    """What is asked of clients' ways to a host leaves its peers' links out."""
    entries = play(proxied.witness.entries(VICTIM))
    assert not [name for name in entries if name.startswith(peer_link("", "")[:12])]


# --- whole runs -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", mostly_nightly(list(BY_PEER_LINKS), {"partition"}))
def test_peer_link_fault_is_judged_with_its_mechanism_recorded(
    proxied: ComposeCluster, play: Play, experiment_folder: Path, kind: str
) -> None:
    done = play(run(proxied, planned(proxied, kind, 8, "by-links"), experiment_folder))
    (window,) = done.manifest.windows
    assert (window.verified, window.gone, window.unverified_reason) == (True, True, "")
    assert [doubt for doubt in done.findings.doubts if doubt.scope != "availability"] == []
    assert not {"lost", "stranded", "unexpected", "corrupt", "loss_unknown"} & counts(done).keys()
    rows = read_rows(done.folder / "logs" / "harness", FAULTS)
    assert {row["mechanism"] for row in rows} == {TOXIPROXY}


@pytest.mark.parametrize("kind", mostly_nightly(list(BY_PEER_LINKS), {"slow_peers"}))
def test_inactive_executor_on_peer_links_makes_the_run_unknown(
    proxied: ComposeCluster, play: Play, experiment_folder: Path, kind: str
) -> None:
    real = proxied.executor
    proxied.executor = NothingExecutor(peer_links=TOXIPROXY)
    try:
        done = play(run(proxied, planned(proxied, kind, 4, "lie"), experiment_folder))
    finally:
        proxied.executor = real
    assert ("run", "fault") in [(doubt.scope, doubt.reason) for doubt in done.findings.doubts]


@pytest.mark.parametrize("kind", mostly_nightly(list(BY_PEER_LINKS), {"partition"}))
def test_an_interrupt_in_the_middle_frees_every_peer_link(
    proxied: ComposeCluster, play: Play, experiment_folder: Path, kind: str
) -> None:
    of = planned(proxied, kind, 600, "stopped")
    done = play(run(proxied, of, experiment_folder, lambda view: bool(view.armed)))
    assert done.manifest.interrupted
    assert done.manifest.phase == "sealed"
    assert not play(in_force(proxied))
