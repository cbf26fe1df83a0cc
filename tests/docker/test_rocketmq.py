"""RocketMQ 2M2S in containers: it stands, each worker has its own ways, faults take effect and go.

Independent of executor and witness: the engine's own word, and what the name servers show.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from faults.core.mechanisms import COMPOSE
from faults.core.model import Armed
from faults.kinds import KINDS
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from harness.cluster.port import Roles
from harness.deploy import labels
from harness.deploy.compose.cluster import ComposeCluster
from harness.systems.rocketmq.core.service_ports import HELLO
from tests.docker.conftest import Play
from tests.docker.rocketmq_runs import PLAY_LIMIT_S, judged, of, standing
from tests.docker.whole_runs import mostly_nightly, run
from tests.rigs.clusters.fault_world import REAL_OPTIONS_OF, compiled_fault
from tests.rigs.runs.plans import plan

pytestmark = pytest.mark.docker

HOSTS = ("rkt1", "rkt2", "rkt3", "rkt4")
RUN = replace(plan(), name="rocketmq-test")
QUEUE = f"mqproof.{RUN.name}.orders"
GONE_LIMIT_S = 120.0
CLEAN_LIMIT_S = 120.0
# One of each mechanism every time, the others at night.
OF_HOSTS = mostly_nightly(
    ["kill", "stop", "freeze", "partition", "black_hole", "reboot"], {"freeze", "partition"}
)
OF_LINKS = mostly_nightly(
    ["hang", "close", "refuse", "reset", "slow", "cut_after"], {"hang", "slow", "reset"}
)


@pytest.fixture(scope="module")
def cluster(play: Play, experiment_folder: Path) -> Iterator[ComposeCluster]:
    yield from standing(play, experiment_folder, "colocated@compressed")


@pytest.fixture
def topic(cluster: ComposeCluster, play: Play) -> Iterator[str]:
    play(cluster.broker.declare(QUEUE, True, "rkt1"))
    yield QUEUE
    play(cluster.broker.delete(f"mqproof.{RUN.name}."))


@pytest.fixture
def links(cluster: ComposeCluster, play: Play) -> Iterator[tuple[str, ...]]:
    """A client's proxies to the first host, which has a name server and a master."""
    made = play(cluster.link(RUN, "publisher-1"))
    yield tuple(link.proxy for link in made if link.host == "rkt1")
    play(cluster.unlink(RUN))


def armed(kind: str, links: tuple[str, ...]) -> Armed:
    options = REAL_OPTIONS_OF[kind]
    return compiled_fault(kind, "rkt1", HOSTS, links, run=RUN.name, options=options)


def states(cluster: ComposeCluster, host: str) -> set[tuple[str, int]]:
    """The engine's own word of the processes of a host."""
    marks = {labels.PROJECT: cluster.project, labels.ROLE: "process", labels.HOST: host}
    words = [f"{name}={value}" for name, value in marks.items()]
    found = cluster.client.containers.list(all=True, filters={"label": words})
    recorded = (container.attrs["State"] for container in found)
    return {(state["Status"], state["ExitCode"]) for state in recorded}


def test_a_new_rocketmq_cluster_is_clean_and_reports_its_version(
    cluster: ComposeCluster, play: Play
) -> None:
    health = play(cluster.health(CLEAN_LIMIT_S))
    assert health.clean, health.doubts
    assert cluster.versions()["rocketmq"] == "4.9.7"


def test_topic_lies_on_both_groups_with_its_master_as_placed(
    cluster: ComposeCluster, play: Play, topic: str
) -> None:
    assert play(cluster.broker.roles(topic)) == Roles("rkt1", ("rkt3",), ("rkt3",))
    assert play(cluster.broker.masters(topic)) == {"rkt1": True, "rkt3": False}


def test_every_worker_and_auditor_link_leads_to_its_server(
    cluster: ComposeCluster, play: Play
) -> None:
    made = play(cluster.link(RUN, "publisher-1"))
    assert [(link.host, link.process) for link in made] == [
        *(("rkt1", "name-server"), ("rkt1", "broker-a-0"), ("rkt2", "name-server")),
        *(("rkt2", "broker-b-0"), ("rkt3", "broker-a-1"), ("rkt4", "broker-b-1")),
    ]
    ways = [*(link.endpoint for link in made), *(play(cluster.direct(host)) for host in HOSTS)]
    for way in ways:
        call, own = HELLO.greets
        said = cluster.agent.call(call, 5.0, host=way.address, port=way.port, **own)
        assert play(said)["answered"], way
    play(cluster.unlink(RUN))


def test_broker_names_resolve_to_an_own_address_per_worker(
    cluster: ComposeCluster, play: Play
) -> None:
    async def story(worker: str) -> tuple[str, str]:
        made = await cluster.link(RUN, worker)
        channel = await cluster.spawn(worker)
        await channel.send({"do": "hello"})
        hello = await channel.receive()
        assert hello is not None
        table = names_of(cluster, int(hello["pid"]))
        await channel.close()
        while await channel.receive() is not None:
            pass
        return made[0].endpoint.address, table

    for worker in ("publisher-1", "consumer-1"):
        address, table = play(story(worker))
        for host in HOSTS:
            assert f"{address} {host}\n" in table
    play(cluster.unlink(RUN))


def names_of(cluster: ComposeCluster, pid: int) -> str:
    """The table of names that a process in the workers' container sees."""
    marks = [f"{labels.PROJECT}={cluster.project}", f"{labels.ROLE}={labels.ROLE_WORKERS}"]
    (workers,) = cluster.client.containers.list(filters={"label": marks})
    path_command = f"tr '\\0' '\\n' </proc/{pid}/environ | sed -n s/^NSS_WRAPPER_HOSTS=//p"
    said = workers.exec_run(["sh", "-c", f'cat "$({path_command})"'])
    assert said.exit_code == 0, said.output
    return str(said.output.decode())


@pytest.mark.parametrize("kind", OF_HOSTS)
def test_fault_of_a_mixed_host_is_verified_active_and_ended(
    kind: str, cluster: ComposeCluster, play: Play, topic: str
) -> None:
    """Verify a fault of a host that carries a name server and a master."""
    assert COMPOSE in KINDS[kind].offers
    fault = armed(kind, ())

    async def story() -> None:
        await prepare(fault, cluster.witness)
        await perform_all(cluster.executor, fault.actions)
        proof = await held(fault, cluster.witness)
        frozen = states(cluster, "rkt1")
        await perform_all(cluster.executor, fault.undo)
        back = await gone(fault, cluster.witness, GONE_LIMIT_S)
        await cluster.witness.dismiss(fault)
        assert proof.ok, proof.doubt
        assert frozen == {ENGINE_SAYS.get(kind, ("running", 0))}
        assert back.ok, back.doubt
        health = await cluster.health(CLEAN_LIMIT_S)
        assert health.clean, health.doubts

    play(story(), PLAY_LIMIT_S)
    assert play(cluster.broker.roles(topic)).master == "rkt1"


ENGINE_SAYS = {
    "kill": ("exited", 137),
    "reboot": ("exited", 137),
    "stop": ("exited", 143),
    "freeze": ("paused", 0),
}


@pytest.mark.parametrize("kind", OF_LINKS)
def test_client_link_fault_of_a_mixed_host_is_verified(
    kind: str, cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    """Verify a fault of client links to both servers of a host, active and ended."""
    assert len(links) == 2
    fault = armed(kind, links)

    async def story() -> None:
        await prepare(fault, cluster.witness)
        await perform_all(cluster.executor, fault.actions)
        proof = await held(fault, cluster.witness)
        await perform_all(cluster.executor, fault.undo)
        back = await gone(fault, cluster.witness, GONE_LIMIT_S)
        await cluster.witness.dismiss(fault)
        assert proof.ok, proof.doubt
        assert back.ok, back.doubt

    play(story(), PLAY_LIMIT_S)
    assert states(cluster, "rkt1") == {("running", 0)}


def test_a_topic_has_no_master_while_its_master_is_dead(
    cluster: ComposeCluster, play: Play, topic: str
) -> None:
    fault = armed("kill", ())

    async def story() -> Roles:
        await perform_all(cluster.executor, fault.actions)
        assert (await held(fault, cluster.witness)).ok
        roles = await cluster.broker.roles(topic)
        await perform_all(cluster.executor, fault.undo)
        back = await gone(fault, cluster.witness, GONE_LIMIT_S)
        assert back.ok, back.doubt
        return roles

    assert play(story(), PLAY_LIMIT_S) == Roles(None, ("rkt3",), ())
    assert play(cluster.health(CLEAN_LIMIT_S)).clean


def test_the_servers_logs_are_fetched_a_process_a_file(
    cluster: ComposeCluster, play: Play, tmp_path: Path
) -> None:
    play(cluster.fetch_logs(tmp_path))
    found = {file.stem for file in (tmp_path / "broker_logs").glob("*.log")}
    assert {"rkt1-name-server", "rkt1-broker-a-0", "rkt3", "rkt4", "toxiproxy"} <= found
    text = (tmp_path / "broker_logs" / "rkt1-broker-a-0.log").read_text()
    assert "boot success" in text
    assert " INFO " in text


def test_a_run_leaves_no_topic_behind(cluster: ComposeCluster, play: Play, topic: str) -> None:
    play(cluster.broker.delete(f"mqproof.{RUN.name}."))
    assert play(cluster.broker.roles(topic)).mirrors == ()


def test_links_of_a_finished_run_can_be_made_again(cluster: ComposeCluster, play: Play) -> None:
    for _ in range(2):
        run: Any = SimpleNamespace(name="again")
        assert len(play(cluster.link(run, "publisher-1"))) == 6
        play(cluster.unlink(run))


@pytest.mark.parametrize(
    ("client", "kind"),
    [
        ("rocketmq-java-5.3.3", "kill"),
        *(
            pytest.param(f"rocketmq-java-{version}", "kill", marks=pytest.mark.nightly)
            for version in ("4.9.0", "4.9.8", "5.2.0")
        ),
    ],
)
def test_whole_run_is_judged_and_loses_no_confirmed_message(
    client: str, kind: str, cluster: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    judged(play(run(cluster, of(cluster, client, kind), experiment_folder), PLAY_LIMIT_S))
