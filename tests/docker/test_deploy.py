"""What a compose cluster promises to the run, tried on one that stands."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from faults.core.actions import Kill, Start
from faults.core.model import Executor
from faults.core.witness import Witness
from harness.cluster.port import DeployError, Link, Roles
from harness.deploy import engine, labels
from harness.deploy.compose.cluster import ComposeCluster
from harness.deploy.compose.core.confined import confined
from harness.deploy.compose.core.worker_ways import begun_by_root
from harness.deploy.compose.deployment import ComposeDeployment
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq.core.service_ports import AMQP_HEADER, RABBITMQ_SERVICE_PORTS
from harness.workers.protocol import EXIT_ORPHANED
from tests.docker.conftest import Play
from tests.rigs.runs.plans import plan

pytestmark = pytest.mark.docker

HOSTS = ("rmq1", "rmq2", "rmq3")
RUN = replace(plan(), name="deploy-test")
QUEUE = f"mqproof.{RUN.name}.orders"


@pytest.fixture
def links(cluster: ComposeCluster, play: Play) -> Iterator[tuple[Link, ...]]:
    yield play(cluster.link(RUN, "p0"))
    play(cluster.unlink(RUN))


@pytest.fixture
def queue(cluster: ComposeCluster, play: Play) -> Iterator[str]:
    """Declared with its master on rmq2."""
    play(cluster.broker.declare(QUEUE, True, "rmq2"))
    yield QUEUE
    play(cluster.broker.delete(f"mqproof.{RUN.name}."))


def labelled(project: str) -> list[Any]:
    client = engine.connect()
    mark: dict[str, Any] = {"label": f"{labels.PROJECT}={project}"}
    return [
        *client.containers.list(all=True, filters=mark, ignore_removed=True),
        *client.networks.list(filters=mark),
        *client.volumes.list(filters=mark),
    ]


def test_a_new_cluster_is_clean_and_reports_its_versions(
    cluster: ComposeCluster, play: Play
) -> None:
    health = play(cluster.health(10.0))
    assert health.clean, health.doubts
    versions = cluster.versions()
    assert versions["rabbitmq"] == "3.10.8"
    assert {"erlang", "docker engine", "compose", "broker image", "agent pika"} <= set(versions)


def test_a_compose_cluster_is_unreachable_from_outside(
    cluster: ComposeCluster, play: Play
) -> None:
    networks = [thing for thing in labelled(cluster.project) if "Internal" in thing.attrs]
    assert [network.attrs["Internal"] for network in networks] == [True, True]
    for container in engine.connect().containers.list(
        filters={"label": f"{labels.PROJECT}={cluster.project}"}
    ):
        published = container.attrs["NetworkSettings"]["Ports"]
        assert not any((published or {}).values()), container.name


def test_declared_queue_has_its_master_there_and_all_mirrors(
    cluster: ComposeCluster, play: Play, queue: str
) -> None:
    broker = cluster.broker
    roles = play(broker.roles(queue))
    assert roles.master == "rmq2"
    assert sorted(roles.mirrors) == ["rmq1", "rmq3"]
    assert roles.synchronised == roles.mirrors
    masters = play(broker.masters(queue))
    assert masters == {"rmq1": False, "rmq2": True, "rmq3": False}


def test_a_deleted_queue_is_gone(cluster: ComposeCluster, play: Play, queue: str) -> None:
    play(cluster.broker.delete(f"mqproof.{RUN.name}."))
    assert play(cluster.broker.roles(queue)) == Roles(None, (), ())


def test_every_link_and_every_direct_way_leads_to_its_host(
    cluster: ComposeCluster, play: Play, links: tuple[Link, ...]
) -> None:
    assert [link.host for link in links] == list(HOSTS)
    assert [link.proxy for link in links] == [f"mqproof.{RUN.name}.p0.{host}" for host in HOSTS]
    direct = [play(cluster.direct(host)) for host in HOSTS]
    assert direct == [play(cluster.direct(host)) for host in HOSTS]
    ways = [*(link.endpoint for link in links), *direct]
    assert len({(way.address, way.port) for way in ways}) == 6
    for way in ways:
        at = {"host": way.address, "port": way.port}
        call = cluster.agent.call("greet", 5.0, **at, **AMQP_HEADER.greets.arguments)
        assert play(call)["answered"]


def test_connections_are_found_by_their_name_and_closed(
    cluster: ComposeCluster, play: Play, links: tuple[Link, ...], queue: str
) -> None:
    way = links[0].endpoint
    own = {"canary": "deploy", "queue": queue, "by": RABBITMQ_SERVICE_PORTS.canaries}
    play(cluster.agent.call("canary_open", 5.0, host=way.address, port=way.port, **own))
    assert play(named(cluster, 1)) == ("mqproof.canary.deploy",)
    play(cluster.broker.connections("mqproof.canary.deploy", close=True))
    assert play(named(cluster, 0)) == ()
    play(cluster.agent.call("canary_close", 5.0, canary="deploy"))


async def named(cluster: ComposeCluster, wanted: int) -> tuple[str, ...]:
    """The list lags behind what is."""
    for _ in range(50):
        found = await cluster.broker.connections("mqproof.canary.deploy", close=False)
        if len(found) == wanted:
            break
        await asyncio.sleep(0.1)
    return found


def test_worker_speaks_only_when_addressed_and_ends_with_its_input(
    cluster: ComposeCluster, play: Play
) -> None:
    async def story() -> tuple[Any, Any, int | None]:
        channel = await cluster.spawn("deploy-1")
        await channel.send({"do": "hello", "packages": ["pika"]})
        said = await channel.receive()
        running = await channel.exit_code()
        await channel.close()
        while await channel.receive() is not None:
            pass
        return said, running, await channel.exit_code()

    said, running, code = play(story())
    assert said["say"] == "hello"
    assert said["versions"]["pika"]
    assert running is None
    assert code == EXIT_ORPHANED


def test_a_worker_can_be_killed(cluster: ComposeCluster, play: Play) -> None:
    async def story() -> int | None:
        channel = await cluster.spawn("deploy-2")
        await channel.send({"do": "hello"})
        assert await channel.receive() is not None
        await channel.kill()
        assert await channel.receive() is None
        await channel.kill()
        return await channel.exit_code()

    assert play(story()) == 128 + 9


def workers_container(cluster: ComposeCluster) -> Any:
    [found] = engine.connect().containers.list(
        filters={
            "label": [
                f"{labels.PROJECT}={cluster.project}",
                f"{labels.ROLE}={labels.ROLE_WORKERS}",
            ]
        }
    )
    return found


def test_workers_write_their_logs_into_the_run_folder(
    cluster: ComposeCluster, experiment_folder: Path
) -> None:
    run_folder = experiment_folder / "run"
    inside = cluster.log_folder(run_folder, "p0")
    workers = workers_container(cluster)
    status, output = workers.exec_run(
        begun_by_root(workers.labels[labels.USER], ["mkdir", inside])
    )
    assert status == 0, output
    assert (run_folder / "logs" / "p0").is_dir()
    assert (run_folder / "logs" / "p0").owner() == experiment_folder.owner()


SYS_NICE = 23


def test_spawned_worker_may_use_real_time_priority(cluster: ComposeCluster, play: Play) -> None:
    """On a kernel that gives groups no real time (CONFIG_RT_GROUP_SCHED) the right does not help:
    then a worker says so, and its manifest does."""

    async def story() -> str:
        channel = await cluster.spawn("w3")
        await channel.send({"do": "hello"})
        hello = await channel.receive()
        assert hello is not None
        status = await asyncio.to_thread(
            workers_container(cluster).exec_run, ["cat", f"/proc/{hello['pid']}/status"]
        )
        await channel.kill()
        return str(status.output.decode())

    assert f"CapAmb:\t{1 << SYS_NICE:016x}" in play(story())


OF_ANOTHER = ("1234", "5678")
WHO_AM_I = ["sh", "-c", "id -u; id -g; id -G; grep CapEff /proc/self/status"]
# Root kills it once it has become somebody else: it says its number then.
KILLED_BY_ROOT = """
"$@" >/tmp/number &
until [ -s /tmp/number ]; do sleep 0.01; done
kill -9 "$(cat /tmp/number)"
wait $!
"""


@pytest.fixture
def bare_workers(cluster: ComposeCluster) -> Iterator[Any]:
    """A container with the rights of the workers' one, and nothing in it."""
    limits = confined({"labels": {labels.ROLE: labels.ROLE_WORKERS}})
    container = engine.connect().containers.run(
        workers_container(cluster).image,
        ["sleep", "infinity"],
        detach=True,
        **{name: limits[name] for name in ("cap_add", "cap_drop", "security_opt")},
    )
    yield container
    container.remove(force=True)


def test_a_worker_runs_as_its_caller_and_can_be_killed(
    bare_workers: Any,
) -> None:
    uid, gid = OF_ANOTHER
    status, output = bare_workers.exec_run(begun_by_root(f"{uid}:{gid}", WHO_AM_I))
    assert status == 0, output
    assert output.decode().split() == [uid, gid, gid, "CapEff:", f"{1 << SYS_NICE:016x}"]
    sleeper = begun_by_root(f"{uid}:{gid}", ["sh", "-c", "echo $$; exec sleep 60"])
    status, output = bare_workers.exec_run(["sh", "-c", KILLED_BY_ROOT, "sh", *sleeper])
    assert status == 128 + 9, output


def test_the_brokers_logs_are_fetched_and_nothing_twice(
    cluster: ComposeCluster, play: Play, experiment_folder: Path
) -> None:
    run_folder = experiment_folder / "logged"
    play(cluster.fetch_logs(run_folder))
    play(cluster.fetch_logs(run_folder))
    for host in HOSTS:
        text = (run_folder / "broker_logs" / f"{host}.log").read_text()
        # Each with its time: other tests may have made a broker start again.
        starts = [line for line in text.splitlines() if "Server startup complete" in line]
        assert starts
        assert len(starts) == len(set(starts))


def test_every_host_is_sampled_every_second(cluster: ComposeCluster, play: Play) -> None:
    async def story() -> dict[str, list[Any]]:
        found: dict[str, list[Any]] = {}
        samples = cluster.resources()
        assert isinstance(samples, AsyncGenerator)
        async for sample in samples:
            found.setdefault(sample.host, []).append(sample)
            if len(found) == 5 and all(len(of_host) >= 3 for of_host in found.values()):
                break
        await samples.aclose()
        return found

    found = play(story())
    assert sorted(found) == [*HOSTS, "toxiproxy", "workers"]
    for host in HOSTS:
        first, *_, last = found[host]
        assert first.memory_bytes > 10_000_000
        assert last.cpu_ns > first.cpu_ns
        assert last.network_received_bytes > first.network_received_bytes
        assert 0.5e9 < (last.at_ns - first.at_ns) / (len(found[host]) - 1) < 2e9


def test_a_killed_host_loses_its_roles_and_comes_back_clean(
    cluster: ComposeCluster, play: Play, queue: str
) -> None:
    play(cluster.executor.perform(Kill("rmq2")))
    assert play(new_master(cluster, queue)) in ("rmq1", "rmq3")
    assert play(cluster.broker.masters(queue))["rmq2"] is None
    assert not play(cluster.health(0.5)).clean
    play(cluster.executor.perform(Start("rmq2")))
    health = play(cluster.health(60.0))
    assert health.clean, health.doubts
    assert play(cluster.broker.listed("rmq2"))


async def new_master(cluster: ComposeCluster, queue: str) -> str | None:
    for _ in range(50):
        master = (await cluster.broker.roles(queue)).master
        if master not in ("rmq2", None):
            return master
        await asyncio.sleep(0.1)
    return None


def test_a_failure_on_the_way_up_leaves_nothing(play: Play, tmp_path: Path) -> None:
    projects: list[str] = []

    def refuse(cluster: ComposeCluster) -> tuple[Executor, Witness]:
        projects.append(cluster.project)
        raise DeployError("no executor today")

    layout = load_layout("rabbitmq-mirrored", "unmirrored")
    alone = replace(layout, hosts=layout.hosts[:1])
    with pytest.raises(DeployError, match="no executor today"):
        play(ComposeDeployment(refuse).up(alone, tmp_path, print))
    assert labelled(projects[0]) == []
