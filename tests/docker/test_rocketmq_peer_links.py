"""RocketMQ's servers that meet through Toxiproxy: by no other way, cut, slow and whole again.

What is independent: the kernel's table of a host's connections, the proxy's own list of toxics,
what a server answers to a question from inside another one's host, and what name servers show.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from faults.core.mechanisms import TOXIPROXY
from faults.core.model import Armed
from faults.executors.project import Project
from faults.kinds import KINDS
from harness.cluster.polling import until
from harness.cluster.port import Roles
from harness.deploy import labels
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.core import peer_ways
from harness.systems.catalogue import load_system
from harness.systems.rocketmq.api import ASK
from harness.systems.rocketmq.core.layout import MASTER_ID, brokers, name_servers, servers
from harness.workers.remoting.answers import cluster as cluster_view
from harness.workers.remoting.commands import Command, encode
from harness.workers.remoting.headers import RESPONSE, Header
from harness.workers.remoting.requests import Code, cluster_info
from tests.docker import rocketmq_runs
from tests.docker.conftest import Play
from tests.docker.looks import toxics
from tests.docker.peer_faults import OPTIONS_OF, mistaken, played, pretended
from tests.docker.whole_runs import BY_PEER_LINKS
from tests.rigs.clusters.fault_world import compiled_fault

pytestmark = pytest.mark.docker

LAYOUT = "colocated-toxiproxy@compressed"
RUN, QUEUE = "rocketmq-peers", "mqproof.rocketmq-peers.orders"
VICTIM = "rkt1"  # the first name server's host, and the first master's
SLAVE = "rkt3"
CLEAN_LIMIT_S = 60.0  # several registrations
PLAY_LIMIT_S = 240.0


@pytest.fixture(scope="module")
def standing(play: Play, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ComposeCluster]:
    folder = tmp_path_factory.mktemp("rocketmq-peers")
    with contextmanager(rocketmq_runs.standing)(play, folder, LAYOUT) as made:
        play(made.broker.declare(QUEUE, True, VICTIM))
        yield made


@pytest.fixture
def proxied(standing: ComposeCluster, play: Play) -> Iterator[ComposeCluster]:
    assert play(standing.health(CLEAN_LIMIT_S)).clean
    yield standing
    health = play(standing.health(CLEAN_LIMIT_S))
    assert health.clean, health.doubts
    assert play(standing.broker.roles(QUEUE)) == Roles(VICTIM, (SLAVE,), (SLAVE,))


def hosts_of(cluster: ComposeCluster) -> tuple[str, ...]:
    return tuple(host.name for host in cluster.layout.hosts)


def armed(cluster: ComposeCluster, kind: str, place: str = VICTIM, **options: Any) -> Armed:
    return compiled_fault(
        kind,
        place,
        hosts_of(cluster),
        run=RUN,
        mechanism=cluster.executor.mechanism(kind),
        options=KINDS[kind].options(**options) if options else OPTIONS_OF[kind],
        serving=load_system(cluster.layout.system).servers(cluster.layout).serving,
    )


def network_of(cluster: ComposeCluster) -> str:
    return cluster.layout.hosts[0].address.rpartition(".")[0]


def shell_output(cluster: ComposeCluster, host: str, script: str) -> str:
    """What a shell inside the host prints."""
    marks = {labels.PROJECT: cluster.project, labels.ROLE: labels.ROLE_HOST, labels.HOST: host}
    words = [f"{name}={value}" for name, value in marks.items()]
    (found,) = cluster.client.containers.list(filters={"label": words})
    return str(found.exec_run(["bash", "-c", script]).output.decode())


def answers(cluster: ComposeCluster, host: str, peer: str, port: int) -> bool:
    """Whether a server answers a question that its peer's host asks by its name."""
    question = encode(Command(Header(Code.GET_BROKER_CLUSTER_INFO, 1)))
    octal = "".join(f"\\{octet:03o}" for octet in question)
    ask = f"exec 3<>/dev/tcp/{peer}/{port}; printf '{octal}' >&3; head -c 4 <&3 | wc -c"
    return shell_output(cluster, host, f'timeout 2 bash -c "{ask}"').strip() == "4"


def connections(cluster: ComposeCluster, host: str) -> list[tuple[str, int, str, int]]:
    """A host's own address and port, and the far ones, of what stands between it and others."""
    # By the helper in its network: a broker's own image need not know such words.
    table = Project(cluster.client, cluster.project).help(host, "ss -Hnt state established").text
    found = []
    for line in table.splitlines():
        own, far = (end.rpartition(":") for end in line.split()[2:4])
        near, there = (end[0].strip("[]").removeprefix("::ffff:") for end in (own, far))
        if not near.startswith("127."):
            found.append((near, int(own[2]), there, int(far[2])))
    return [one for one in found if one[0] != one[2]]


def _dialled(cluster: ComposeCluster, host: str, way: str) -> set[int]:
    """The ports of a peer at which a host has connections by a way of the proxy's."""
    return {port for _, _, far, port in connections(cluster, host) if far == way}


# --- the short one, for every commit ------------------------------------------------------------


def test_servers_meet_only_through_the_proxy_and_partitions_heal(
    proxied: ComposeCluster, play: Play
) -> None:
    _by_no_other_way(proxied, play)
    fault = armed(proxied, "partition")
    assert fault.mechanism == TOXIPROXY
    seen: dict[str, bool] = {}

    async def ask() -> None:
        seen["toxics"] = bool(await toxics(proxied))
        for name, way in QUESTIONS.items():
            seen[name] = await asyncio.to_thread(answers, proxied, *way)

    holds, left = play(played(proxied, fault, ask), PLAY_LIMIT_S)
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt
    assert seen == {
        "toxics": True,
        "its name server": False,
        "its broker": False,
        "the other name server": False,
        "beside it": True,
    }
    assert play(toxics(proxied)) == []
    assert all(answers(proxied, *way) for way in QUESTIONS.values())


QUESTIONS = {
    "its name server": (SLAVE, VICTIM, 9876),
    "its broker": (SLAVE, VICTIM, 10911),
    "the other name server": (VICTIM, "rkt2", 9877),
    "beside it": (SLAVE, "rkt2", 9877),
}


def _by_no_other_way(cluster: ComposeCluster, play: Play) -> None:
    """Assert that no server is connected with another host's address.

    All connections are the proxy's, or queries of the agent.
    """
    network = network_of(cluster)
    ways = peer_ways.addresses(cluster.layout, network)
    addresses = {host.address for host in cluster.layout.hosts}
    for host in hosts_of(cluster):
        table = connections(cluster, host)
        own = {way for (start, _), way in ways.items() if start == host}
        served = {port for one in servers(cluster.layout.hosts) for port in one.ports}
        accepted = [one for one in table if one[1] in served]
        dialled = [one for one in table if one[1] not in served]
        assert not {far for _, _, far, _ in table} & addresses, table
        assert {far for _, _, far, _ in dialled} <= own, table
        proxy_and_agent = {f"{network}.100", f"{network}.101"}
        assert {far for _, _, far, _ in accepted} <= proxy_and_agent, table

    every = brokers(cluster.layout.hosts)
    for broker in every:
        for name_server in name_servers(cluster.layout.hosts):
            if name_server.host != broker.host:
                way = ways[broker.host, name_server.host]
                assert name_server.port in _dialled(cluster, broker.host, way)
        if broker.id != MASTER_ID:
            (master,) = (one for one in every if (one.group, one.id) == (broker.group, MASTER_ID))
            # It copies the log by the last port; for topics and offsets it asks the others.
            way = ways[broker.host, master.host]

            async def all_ports(
                host: str = broker.host, way: str = way, ports: tuple[int, ...] = master.ports
            ) -> bool:
                return set(ports) <= await asyncio.to_thread(_dialled, cluster, host, way)

            assert play(until(all_ports, bool, CLEAN_LIMIT_S)), (broker.host, master.ports)


# --- the others, at night -----------------------------------------------------------------------


def test_peers_are_known_by_proxy_and_self_by_own_address(
    proxied: ComposeCluster,
) -> None:
    ways = peer_ways.addresses(proxied.layout, network_of(proxied))
    for host in proxied.layout.hosts:
        expected = {name: ways[host.name, name] for name in hosts_of(proxied) if name != host.name}
        for name, address in {**expected, host.name: host.address}.items():
            assert shell_output(proxied, host.name, f"getent hosts {name}").split()[0] == address


@pytest.mark.nightly
@pytest.mark.parametrize("kind", BY_PEER_LINKS)
def test_a_fault_of_peer_links_takes_effect_and_is_undone(
    proxied: ComposeCluster, play: Play, kind: str
) -> None:
    fault = armed(proxied, kind)
    assert fault.mechanism == TOXIPROXY

    holds, left = play(played(proxied, fault), PLAY_LIMIT_S)
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt
    assert play(toxics(proxied)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("shape", ["halves", "one_way_in", "one_way_out", "bridge"])
def test_shaped_cut_is_distinguished_from_a_whole_cut(
    proxied: ComposeCluster, play: Play, shape: str
) -> None:
    fault, whole = armed(proxied, "partition", shape=shape), armed(proxied, "partition")

    said, holds = play(mistaken(proxied, fault, whole), PLAY_LIMIT_S)
    assert holds.ok, holds.doubt
    assert not said.ok


@pytest.mark.nightly
def test_an_isolated_name_server_drops_brokers_that_the_other_shows(
    proxied: ComposeCluster, play: Play
) -> None:
    """Brokers of other hosts keep their way to one name server only; its host's broker is well."""
    fault = armed(proxied, "partition", f"{VICTIM}/name-server")

    async def given_up() -> None:
        found = await until(lambda: shown(proxied), lambda found: found == ALONE, GIVEN_UP_LIMIT_S)
        assert found == ALONE

    holds, left = play(played(proxied, fault, given_up), PLAY_LIMIT_S)
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt


EVERY = ("broker-a 0", "broker-a 1", "broker-b 0", "broker-b 1")
ALONE = {"rkt1": ("broker-a 0",), "rkt2": EVERY}
GIVEN_UP_LIMIT_S = 45.0  # idle_s, and the steps of who looks


async def shown(cluster: ComposeCluster) -> dict[str, tuple[str, ...]]:
    """By each name server's host: the brokers that it shows."""
    found = {}
    for server in name_servers(cluster.layout.hosts):
        said = await cluster.agent.call(
            *(ASK, 5.0),
            host=server.host,
            port=server.port,
            code=int(Code.GET_BROKER_CLUSTER_INFO),
            fields={},
            body="",
        )
        request, header = cluster_info(), Header(said["code"], 1, RESPONSE, said["remark"])
        view = cluster_view(request, Command(header, said["body"].encode()))
        found[server.host] = tuple(f"{one.broker} {one.id}" for one in view.brokers)
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("kind", BY_PEER_LINKS)
def test_an_executor_that_does_nothing_is_never_believed(
    proxied: ComposeCluster, play: Play, kind: str
) -> None:
    proof = play(pretended(proxied, armed(proxied, kind)), PLAY_LIMIT_S)
    assert not proof.ok
    assert proof.doubt


@pytest.mark.nightly
def test_packet_filter_black_hole_is_seen_through_the_links(
    proxied: ComposeCluster, play: Play
) -> None:
    fault = armed(proxied, "black_hole")
    holds, left = play(played(proxied, fault), PLAY_LIMIT_S)
    assert fault.mechanism == "packet_filter"
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt
