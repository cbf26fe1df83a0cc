"""Local clusters as real processes: they stand, break, heal, and leave nothing behind."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.core.actions import Freeze, Kill, Start, Thaw
from faults.core.mechanisms import LOCAL
from faults.core.model import FaultError, Proof
from faults.executors import local_processes as processes
from faults.executors.nothing import NothingExecutor
from faults.kinds import KINDS as FAULT_KINDS
from faults.kinds.network.partition import PartitionOptions
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from harness.cluster.port import DeployError
from harness.deploy.local.cluster import LocalCluster
from tests.rigs.clusters.fault_world import ON_HOSTS
from tests.rigs.clusters.local import (
    HOSTS,
    UNMIRRORED,
    armed,
    deployment,
    listening,
    seen,
    silent,
    standing,
)
from tests.rigs.machine.disks import disk
from tests.rigs.machine.loops import within
from tests.rigs.runs.plans import plan
from tests.rigs.workers.hired import hired
from tests.rigs.workers.rig import until

pytestmark = [pytest.mark.slow, pytest.mark.long]

KINDS = [name for name, kind in FAULT_KINDS.items() if LOCAL in kind.offers]
PLAN = replace(plan(), layout=UNMIRRORED)
LIMIT_S = 120.0
Play = Callable[[Awaitable[Any]], Any]


@pytest.fixture(scope="module")
def cluster(play: Play, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    """One boot for the tests that leave it as they found it."""
    folder = tmp_path_factory.mktemp("experiment")
    made = play(deployment().up(UNMIRRORED, folder, lambda _: None))
    yield made
    play(made.down())


@pytest.fixture(scope="module")
def proxies(play: Play, cluster: LocalCluster) -> tuple[str, ...]:
    """A worker's listeners, in the order of hosts."""
    return tuple(link.proxy for link in play(cluster.link(PLAN, "publisher-1")))


def cookies(cluster: LocalCluster) -> set[str]:
    """What its nodes were reported."""
    configs = (cluster.site.config(unit).read_text() for unit in cluster.site.units)
    return {json.loads(text)["cookie"] for text in configs}


def left(cluster: str) -> list[str]:
    return sorted(running.mark(processes.HOST) for running in processes.of(cluster))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in ON_HOSTS])
def test_fault_is_verified_active_and_ended_and_leaves_cluster_clean(
    kind: str, play: Play, cluster: LocalCluster, proxies: tuple[str, ...]
) -> None:
    holding, leaving = play(seen(cluster, armed(cluster, kind, "ref2", proxies[1:2])))
    assert holding.ok, holding.doubt
    assert leaving.ok, leaving.doubt
    assert play(cluster.health(10.0)).clean


@pytest.mark.parametrize("kind", KINDS)
def test_an_executor_that_does_nothing_is_never_believed(
    kind: str, play: Play, cluster: LocalCluster, proxies: tuple[str, ...]
) -> None:
    fault = armed(cluster, kind, "ref2", proxies[1:2])
    play(prepare(fault, cluster.witness))
    play(perform_all(NothingExecutor(local=True), fault.actions))
    proof = play(held(fault, cluster.witness, 0.5))
    play(cluster.witness.dismiss(fault))
    assert not proof.ok
    assert proof.doubt


def test_clients_are_frozen_and_run_on(play: Play, cluster: LocalCluster) -> None:
    fault = armed(cluster, "client_freeze")

    def letters() -> list[str]:
        return [found.state for found in processes.of(cluster.site.cluster, processes.WORKER)]

    async def story() -> tuple[Proof, Proof]:
        clients = [await hired(cluster, name) for name in fault.clients]
        proofs = await seen(cluster, fault)
        await cluster.executor.perform(fault.actions[0])
        # One that runs on another core takes the signal a moment later.
        await until(lambda: letters() == ["T", "T"], "every client to be stopped")
        await asyncio.gather(*(client.end(0.2) for client in clients))  # dead: no error to thaw
        await perform_all(cluster.executor, fault.undo)
        return proofs

    holding, leaving = play(story())
    assert holding.ok, holding.doubt
    assert leaving.ok, leaving.doubt


def test_killed_clients_are_seen_dead(play: Play, cluster: LocalCluster) -> None:
    fault = armed(cluster, "client_crash")

    async def story() -> tuple[Proof, Proof, Proof]:
        clients = [await hired(cluster, name) for name in fault.clients]
        alive = await held(fault, cluster.witness, 0.3)
        await perform_all(cluster.executor, fault.actions)
        holding = await held(fault, cluster.witness, 5.0)
        await perform_all(cluster.executor, fault.undo)  # a run would start others now
        leaving = await gone(fault, cluster.witness, 0.3)
        await asyncio.gather(*(client.end(0.2) for client in clients))
        return alive, holding, leaving

    alive, holding, leaving = play(story())
    assert "still runs" in alive.doubt
    assert holding.ok, holding.doubt
    assert "no client has taken the place of" in leaving.doubt


def test_clients_that_are_not_frozen_are_not_believed_to_be(
    play: Play, cluster: LocalCluster
) -> None:
    fault = armed(cluster, "client_freeze")

    async def story() -> Proof:
        clients = [await hired(cluster, name) for name in fault.clients]
        await perform_all(NothingExecutor(local=True), fault.actions)
        proof = await held(fault, cluster.witness, 0.5)
        await asyncio.gather(*(client.end(5.0) for client in clients))
        return proof

    assert "are not frozen" in play(story()).doubt


def test_clients_that_do_not_run_cannot_be_frozen(play: Play, cluster: LocalCluster) -> None:
    fault = armed(cluster, "client_freeze")
    with pytest.raises(FaultError, match="no process of publisher-1 runs"):
        play(perform_all(cluster.executor, fault.actions))


def test_signals_and_proxies_are_the_mechanisms_that_are_recorded(cluster: LocalCluster) -> None:
    found = {kind: cluster.executor.mechanism(kind) for kind in KINDS}
    signalled = ("kill", "stop", "freeze", "client_crash", "client_freeze")
    process = dict.fromkeys(signalled, "process")
    assert found == dict.fromkeys(KINDS, "proxy") | process


def test_a_partition_stalls_every_link_between_the_two_sides(
    play: Play, cluster: LocalCluster
) -> None:
    fault = armed(cluster, "partition", "ref2")
    play(perform_all(cluster.executor, fault.actions))
    crossing = [
        play(cluster.witness.reach("ref2", "ref1")),
        play(cluster.witness.reach("ref1", "ref2")),
    ]
    beside = play(cluster.witness.reach("ref1", "ref3"))
    play(perform_all(cluster.executor, fault.undo))
    assert not any(reply.answered for reply in crossing)
    assert beside.answered


CLOSED = {
    "halves": {("ref1", "ref2"), ("ref2", "ref1"), ("ref2", "ref3"), ("ref3", "ref2")},
    "one_way_in": {("ref1", "ref2"), ("ref3", "ref2")},
    "one_way_out": {("ref2", "ref1"), ("ref2", "ref3")},
    "bridge": {("ref1", "ref3"), ("ref3", "ref1")},
}


@pytest.mark.parametrize("shape", CLOSED)
def test_shaped_partition_closes_exactly_its_links(
    shape: str, play: Play, cluster: LocalCluster
) -> None:
    fault = armed(cluster, "partition", "ref2", options=PartitionOptions(shape=shape))
    assert play(silent(cluster)) == set()
    play(perform_all(cluster.executor, fault.actions))
    closed = play(silent(cluster))
    play(perform_all(cluster.executor, fault.undo))
    assert closed == CLOSED[shape]
    assert play(silent(cluster)) == set()
    holding, leaving = play(seen(cluster, fault))
    assert holding.ok, holding.doubt
    assert leaving.ok, leaving.doubt


def test_black_hole_stalls_only_links_from_and_to_its_host(
    play: Play, cluster: LocalCluster, proxies: tuple[str, ...]
) -> None:
    fault = armed(cluster, "black_hole", "ref2")

    async def toxic_proxies() -> list[str]:
        """The proxies that have a toxic, by the proxy's own word."""
        url = f"http://{cluster.site.toxiproxy}/proxies"
        token = {"Authorization": f"Bearer {cluster.site.token}"}
        said = await cluster.agent.call("http", 5.0, method="GET", url=url, headers=token, body="")
        found = json.loads(said["body"])
        return sorted(name for name, proxy in found.items() if proxy["toxics"])

    play(perform_all(cluster.executor, fault.actions))
    stalled = play(toxic_proxies())
    play(perform_all(cluster.executor, fault.undo))
    ways = ("ref1.ref2", "ref2.ref1", "ref2.ref3", "ref3.ref2")
    assert stalled == sorted([proxies[1], *(f"mqproof-peer.{way}" for way in ways)])
    assert play(toxic_proxies()) == []


def test_black_hole_on_already_silent_client_links_is_refused(
    play: Play, cluster: LocalCluster, proxies: tuple[str, ...]
) -> None:
    hung = armed(cluster, "hang", "ref2", proxies[1:2])
    play(perform_all(cluster.executor, hung.actions))
    with pytest.raises(FaultError, match="ways of clients to ref2 do not work now"):
        play(prepare(armed(cluster, "black_hole", "ref2"), cluster.witness))
    play(perform_all(cluster.executor, hung.undo))


def test_partition_on_already_silent_links_is_refused(play: Play, cluster: LocalCluster) -> None:
    fault = armed(cluster, "partition", "ref2")
    play(perform_all(cluster.executor, fault.actions))
    with pytest.raises(FaultError, match="ref2 -> ref1: silent"):
        play(prepare(fault, cluster.witness))
    play(perform_all(cluster.executor, fault.undo))


def test_a_killed_node_comes_back_once_on_its_own_data(play: Play, cluster: LocalCluster) -> None:
    boots = cluster.site.data / "ref3" / "boots"
    before = boots.read_text()
    play(seen(cluster, armed(cluster, "kill", "ref3")))
    play(cluster.executor.perform(Start("ref3")))  # again is no error, and no other node
    assert boots.read_text() == before + "boot\n"


def test_signal_to_a_dead_node_is_refused_but_undo_repeats(
    play: Play, cluster: LocalCluster
) -> None:
    play(cluster.executor.perform(Kill("ref3")))
    with pytest.raises(FaultError, match="no process of ref3 runs"):
        play(cluster.executor.perform(Freeze("ref3")))
    play(cluster.executor.perform(Thaw("ref3")))
    play(cluster.executor.perform(Start("ref3")))
    assert play(cluster.health(10.0)).clean


def test_a_local_cluster_listens_on_loopback_only(
    cluster: LocalCluster, proxies: tuple[str, ...]
) -> None:
    found = [
        address
        for running in processes.of(cluster.site.cluster)
        for address in listening(running.pid)
    ]
    peer_links = len(HOSTS) * (len(HOSTS) - 1)
    assert len(found) == 3 * len(HOSTS) + 1 + peer_links + len(proxies)
    assert all(address.startswith(f"{cluster.site.block.network}.") for address in found), found


def test_brokers_and_proxy_get_less_of_the_processor_than_workers(
    play: Play, cluster: LocalCluster
) -> None:
    worker = play(cluster.spawn("publisher-9"))
    nice = {
        running.mark(processes.ROLE): os.getpriority(os.PRIO_PROCESS, running.pid)
        for running in processes.of(cluster.site.cluster)
    }
    play(worker.kill())
    play(worker.close())
    assert nice["node"] == nice["proxy"] == max(nice.values()) > nice["worker"] == nice["agent"]
    assert cluster.versions()["priority of brokers and proxy"].startswith(f"nice {nice['node']}")


def test_workers_are_cluster_processes_and_end_with_an_exit_code(
    play: Play, cluster: LocalCluster
) -> None:
    async def ends() -> tuple[list[str], int | None, int | None]:
        closed, killed = await cluster.spawn("asked-1"), await cluster.spawn("killed-1")
        for channel in (closed, killed):
            await channel.send({"do": "hello"})
            assert await channel.receive()
        found = left(cluster.site.cluster)
        await killed.kill()
        await closed.send({"do": "close"})
        for channel in (closed, killed):
            while await channel.receive() is not None:
                pass
            await channel.close()
        return found, await closed.exit_code(), await killed.exit_code()

    found, closed, killed = play(ends())
    assert {"asked-1", "killed-1"} <= set(found)
    assert (closed, killed) == (0, 137)


def test_reported_cpu_use_never_decreases(play: Play, cluster: LocalCluster) -> None:
    async def used() -> list[int]:
        samples: list[int] = []
        async for sample in cluster.resources():
            if sample.host == "ref2":
                assert sample.memory_bytes > 1_000_000
                samples.append(sample.cpu_ns)
                if len(samples) == 1:
                    await seen(cluster, armed(cluster, "kill"))
            if len(samples) == 2:
                break
        return samples

    samples = play(used())
    assert 0 < samples[0] <= samples[1]


@within(LIMIT_S)
async def test_a_cluster_goes_without_a_trace_but_its_logs(tmp_path: Path) -> None:
    async with standing(tmp_path) as cluster, standing(tmp_path) as beside:
        assert cluster.site.block != beside.site.block
        assert cookies(cluster).isdisjoint(cookies(beside))
        assert (await cluster.health(5.0)).clean
        assert left(cluster.site.cluster) == ["agent", *HOSTS, "toxiproxy"]
        assert cluster.versions()["rabbitmq"] == "stand-in"
        assert await cluster.fetch_logs(tmp_path / "run") == {}
        assert await cluster.fetch_logs(tmp_path / "run") == {}
        cluster.log_bytes_max = 8
        with cluster.site.log("ref2").open("ab") as log:
            log.write(b"much\nand more\n")
        assert await cluster.fetch_logs(tmp_path / "run") == {"ref2.log": 6}
        for running in processes.of(cluster.site.cluster, processes.NODE, "ref3"):
            running.signal(signal.SIGSTOP)  # what is frozen goes, too
    assert left(cluster.site.cluster) == left(beside.site.cluster) == []
    assert not cluster.site.data.exists()
    logs = tmp_path / "run" / "broker_logs"
    assert (logs / "ref1.log").read_text() == "ref1 is up\n"
    tail = "ref2 is up\n[mqproof: 6 bytes are left out here]\nnd more\n"
    assert (logs / "ref2.log").read_text() == tail


@within(LIMIT_S)
async def test_node_that_ends_at_once_is_reported_with_last_output(tmp_path: Path) -> None:
    with pytest.raises(DeployError, match=r"ended with 1\n.*no memory for another node"):
        await deployment("broken").up(UNMIRRORED, tmp_path, lambda _: None)
    assert not list(tmp_path.glob("deployments/*/data"))


@within(LIMIT_S)
async def test_node_that_never_answers_is_abandoned_with_last_output(tmp_path: Path) -> None:
    waiting = ("sh", "-c", "echo it waits for ever; exec sleep 600")
    mute = deployment(node=waiting, stand_limit_s=2.0)
    with pytest.raises(
        DeployError, match=r"no answer from ref1, ref2, ref3 in 2 s\n.*it waits for ever"
    ):
        await mute.up(UNMIRRORED, tmp_path, lambda _: None)
    assert [left(folder.name) for folder in tmp_path.glob("deployments/*")] == [[]]


@within(LIMIT_S)
async def test_full_disk_is_named_when_a_cluster_starts(tmp_path: Path) -> None:
    with disk(tmp_path / "disk", 400) as made:
        made.fill()
        with pytest.raises(DeployError, match=r"/deployments/[^ ]*: No space left on device"):
            await deployment().up(UNMIRRORED, made.path, lambda _: None)
        assert not list(made.path.glob("deployments/*/data"))


@within(LIMIT_S)
async def test_an_interrupted_start_leaves_no_process(tmp_path: Path) -> None:
    names: list[str] = []
    late = deployment("late", guard=names.append)
    up = asyncio.create_task(late.up(UNMIRRORED, tmp_path, lambda _: None))
    while not names or left(names[0]) != ["agent", *HOSTS, "toxiproxy"]:
        await asyncio.sleep(0.05)
    up.cancel()
    await asyncio.gather(up, return_exceptions=True)
    assert left(names[0]) == []
    assert not list(tmp_path.glob("deployments/*/data"))


@within(LIMIT_S)
async def test_a_kept_cluster_runs_even_after_a_failure(tmp_path: Path) -> None:
    with pytest.raises(DeployError):
        await deployment("late", stand_limit_s=0.5, keep=True).up(
            UNMIRRORED, tmp_path, lambda _: None
        )
    (folder,) = tmp_path.glob("deployments/*")
    found = processes.of(folder.name)
    for running in found:
        running.signal(signal.SIGKILL)
    assert {"ref1", "ref2", "ref3", "toxiproxy"} <= {one.mark(processes.HOST) for one in found}


def test_cluster_proxy_obeys_only_its_own_agent(play: Play, cluster: LocalCluster) -> None:
    url = f"http://{cluster.site.toxiproxy}/reset"
    said = play(cluster.agent.call("http", 5.0, method="POST", url=url, headers={}, body=""))
    assert said["status"] == 401
    for running in processes.of(cluster.site.cluster):
        environment = Path(f"/proc/{running.pid}/environ").read_bytes()
        has_token = cluster.site.token.encode() in environment
        assert has_token == (running.mark(processes.ROLE) in (processes.PROXY, processes.AGENT))


def test_other_users_cannot_read_a_clusters_folder(cluster: LocalCluster) -> None:
    assert cluster.site.folder.stat().st_mode & 0o777 == 0o700
    assert cluster.site.token in (cluster.site.folder / "cluster.json").read_text()
    assert cluster.site.token not in repr(cluster.site)


def test_nodes_share_a_cookie_stored_only_in_their_configurations(
    cluster: LocalCluster,
) -> None:
    (cookie,) = cookies(cluster)
    configurations = {cluster.site.config(unit) for unit in cluster.site.units}
    files = {path for path in cluster.site.folder.rglob("*") if path.is_file()}
    assert {path for path in files if cookie.encode() in path.read_bytes()} == configurations
    for running in processes.of(cluster.site.cluster):
        for file in ("environ", "cmdline"):
            assert cookie.encode() not in Path(f"/proc/{running.pid}/{file}").read_bytes()
