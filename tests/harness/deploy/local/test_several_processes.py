"""Hosts that carry several processes each, on this machine: the reference of RocketMQ stands.

Independent of executor and witness: /proc, and what name servers show.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from faults.core.actions import Action, Freeze, Kill, Start, Stop, Thaw
from faults.core.mechanisms import LOCAL
from faults.core.model import ProcessState
from faults.core.targets import CLIENT_LINK
from faults.executors import local_processes as processes
from faults.kinds import KINDS
from harness.cluster.orders import Promote
from harness.cluster.port import Roles
from harness.deploy.local.cluster import LocalCluster
from harness.deploy.local.deployment import LocalDeployment
from harness.deploy.local.faults import equip
from harness.systems.catalogue import load_layout, load_system
from harness.workers.host_names import own_table
from tests.docker.whole_runs import mostly_nightly
from tests.rigs.clusters.local import armed, seen
from tests.rigs.runs.plans import plan
from tests.rigs.workers.rig import until

pytestmark = pytest.mark.slow
BY_NIGHT = pytest.mark.nightly

LAYOUT = load_layout("reference-2m2s", "colocated@minute")
PLAN = replace(plan(), layout=LAYOUT)
QUEUE = f"mqproof.{PLAN.name}.orders"
CANNOT = load_system("reference-2m2s").cannot_by[LOCAL]
OF_LINKS = [
    name
    for name, kind in KINDS.items()
    if LOCAL in kind.offers and kind.applies_to == CLIENT_LINK and name not in CANNOT
]
BROKER, NAME_SERVER = "rkt1/broker-a-0", "rkt1/name-server"
# Two of them every time, the others at night.
OF_PLACES = [
    pytest.param(
        kind,
        place,
        marks=() if (kind, place) in {("freeze", "rkt1"), ("kill", BROKER)} else BY_NIGHT,
    )
    for kind in ("freeze", "kill", "stop")
    for place in ("rkt1", BROKER, NAME_SERVER)
]
CLEAN_S = 30.0
Play = Callable[[Awaitable[Any]], Any]


@pytest.fixture(scope="module")
def cluster(play: Play, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    folder = tmp_path_factory.mktemp("experiment")
    made = play(LocalDeployment(equip).up(LAYOUT, folder, lambda _: None))
    yield made
    play(made.down())


@pytest.fixture(autouse=True)
def restored(cluster: LocalCluster, play: Play) -> Iterator[None]:
    """A test that fails leaves no link, no frozen and no missing process to the next one."""
    yield
    play(cluster.unlink(PLAN))
    for host in cluster.site.hosts:
        play(cluster.executor.perform(Thaw(host)))
        play(cluster.executor.perform(Start(host)))


@pytest.fixture
def topic(cluster: LocalCluster, play: Play) -> Iterator[str]:
    play(cluster.broker.declare(QUEUE, True, "rkt1"))
    yield QUEUE
    play(cluster.broker.delete(f"mqproof.{PLAN.name}."))


def pids(cluster: LocalCluster, place: str) -> set[int]:
    return {one.pid for one in processes.of(cluster.site.cluster, processes.NODE, place)}


def test_cluster_is_clean_and_each_process_belongs_to_its_host(
    cluster: LocalCluster, play: Play
) -> None:
    assert play(cluster.health(CLEAN_S)).clean
    assert pids(cluster, "rkt1") == pids(cluster, BROKER) | pids(cluster, NAME_SERVER)
    assert len(pids(cluster, "rkt1")) == 2
    assert len(pids(cluster, "rkt3")) == 1


def test_a_topic_lies_where_it_was_put_and_is_copied(
    cluster: LocalCluster, play: Play, topic: str
) -> None:
    assert play(cluster.broker.roles(topic)) == Roles("rkt1", ("rkt3",), ("rkt3",))


@pytest.mark.parametrize(("kind", "place"), OF_PLACES)
def test_host_and_process_faults_are_verified_active_and_ended(
    kind: str, place: str, cluster: LocalCluster, play: Play
) -> None:
    holding, leaving = play(seen(cluster, armed(cluster, kind, place)))
    assert holding.ok, holding.doubt
    assert leaving.ok, leaving.doubt
    assert play(cluster.health(CLEAN_S)).clean


@pytest.mark.parametrize("kind", mostly_nightly(OF_LINKS, {"hang"}))
def test_client_link_fault_of_a_host_hits_all_its_processes(
    kind: str, cluster: LocalCluster, play: Play
) -> None:
    made = play(cluster.link(PLAN, "publisher-1"))
    links = tuple(link.proxy for link in made if link.host == "rkt1")
    assert len(links) == 2
    holding, leaving = play(seen(cluster, armed(cluster, kind, "rkt1", links)))
    assert holding.ok, holding.doubt
    assert leaving.ok, leaving.doubt


def test_processes_beside_the_target_run_on(cluster: LocalCluster, play: Play) -> None:
    before = pids(cluster, NAME_SERVER)
    play(cluster.executor.perform(Kill(BROKER)))
    assert pids(cluster, BROKER) == set()
    assert pids(cluster, NAME_SERVER) == before
    assert play(cluster.witness.process("rkt1")).running
    assert play(cluster.witness.process(BROKER)).exit_code == 137
    play(cluster.executor.perform(Start("rkt1")))  # what runs is left alone
    assert len(pids(cluster, BROKER)) == 1
    assert pids(cluster, NAME_SERVER) == before
    assert play(cluster.health(CLEAN_S)).clean


def test_a_frozen_host_freezes_all_its_processes_and_no_others(
    cluster: LocalCluster, play: Play
) -> None:
    def stopped() -> set[int]:
        return {one.pid for one in processes.of(cluster.site.cluster) if one.stopped}

    play(cluster.executor.perform(Freeze("rkt1")))
    # A process stops when it is scheduled next: on a busy machine that is later than the signal.
    play(until(lambda: stopped() == pids(cluster, "rkt1"), "a stop of both processes"))
    play(cluster.executor.perform(Thaw("rkt1")))
    assert play(cluster.health(CLEAN_S)).clean


def test_a_hosts_exit_is_reported_only_if_all_processes_agree(
    cluster: LocalCluster, play: Play
) -> None:
    async def ended(*deeds: Action) -> ProcessState:
        for deed in deeds:
            await cluster.executor.perform(deed)
        while pids(cluster, "rkt1"):
            await asyncio.sleep(0.05)
        found = await cluster.witness.process("rkt1")
        await cluster.executor.perform(Start("rkt1"))
        return found

    differently = play(ended(Kill(BROKER), Stop(NAME_SERVER)))
    assert not differently.running
    assert differently.exit_code is None
    assert play(ended(Kill(BROKER), Kill(NAME_SERVER))).exit_code == 137
    assert play(cluster.health(CLEAN_S)).clean


def test_the_end_of_a_process_is_reported_by_its_place(cluster: LocalCluster, play: Play) -> None:
    async def story() -> list[tuple[str, int | None]]:
        reported, ends = [], cluster.process_ends()
        waiting = asyncio.ensure_future(anext(ends))
        await asyncio.sleep(0)  # it looks at who has ended before
        await cluster.executor.perform(Kill("rkt3"))
        await cluster.executor.perform(Kill(NAME_SERVER))
        for _ in range(2):
            ended = await waiting
            reported.append((ended.place, ended.exit_code))
            waiting = asyncio.ensure_future(anext(ends))
        waiting.cancel()
        for place in ("rkt3", "rkt1"):
            await cluster.executor.perform(Start(place))
        return reported

    assert sorted(play(story())) == [(NAME_SERVER, 137), ("rkt3", 137)]
    assert play(cluster.health(CLEAN_S)).clean


def test_broker_names_resolve_to_an_own_address_per_worker(
    cluster: LocalCluster, play: Play
) -> None:
    async def story(worker: str) -> dict[str, str]:
        made = await cluster.link(PLAN, worker)
        channel = await cluster.spawn(worker)
        table = cluster.site.folder / f"{worker}.hosts"
        await channel.kill()
        await channel.close()
        every = own_table({"MQPROOF_HOSTS": str(table)})
        found = {name: address for name, address in every.items() if name in cluster.site.hosts}
        assert every.keys() - found.keys() <= {socket.gethostname()}
        assert set(found.values()) == {link.endpoint.address for link in made}
        return found

    tables = [play(story(worker)) for worker in ("publisher-1", "publisher-2")]
    assert all(set(table) == set(cluster.site.hosts) for table in tables)
    assert not set(tables[0].values()) & set(tables[1].values())


def test_an_operator_makes_a_slave_the_master_and_back(
    cluster: LocalCluster, play: Play, topic: str
) -> None:
    """Of a queue that is put there: the old master is down when it is written down as a slave."""
    for old, new, found in (
        (BROKER, "rkt3", Roles("rkt3", ("rkt1",), ("rkt1",))),
        ("rkt3/broker-a-1", "rkt1", Roles("rkt1", ("rkt3",), ("rkt3",))),
    ):
        play(cluster.executor.perform(Kill(old)))
        play(cluster.operator.carry_out(Promote(topic, new)))
        play(cluster.executor.perform(Kill(new if new == "rkt3" else BROKER)))
        play(cluster.executor.perform(Start("rkt1")))
        play(cluster.executor.perform(Start("rkt3")))
        assert play(cluster.health(CLEAN_S)).clean
        assert play(cluster.broker.roles(topic)) == found
