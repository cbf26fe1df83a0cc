"""Each fault on a real cluster: it takes effect, seen by independent means, and it is undone.

What is independent of executor and witness: the engine's own word, the packet filter's own rules,
the proxy's own list of toxics, a plain socket of a program of the test's own on the clients'
network, and what the brokers say of each other.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from faults.core.actions import AddToxic, Freeze, Start, Stop
from faults.core.compile import MARK
from faults.core.mechanisms import COMPOSE
from faults.core.model import Armed, FaultError, Proof
from faults.executors.compose import ComposeExecutor
from faults.executors.nothing import NothingExecutor
from faults.kinds import KINDS
from faults.kinds.alarms.alarm import AlarmOptions
from faults.kinds.network.flap import FlapOptions
from faults.performing import perform_all
from faults.rhythm import Rhythm
from faults.verification import gone, held, prepare
from harness.cleanup.docker_projects import DockerProjects
from harness.cleanup.heal import HealResult, RunningProject, mend
from harness.cluster.polling import until
from harness.deploy import labels
from harness.deploy.compose.cluster import ComposeCluster
from harness.run_folder.journal import Journal
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.core.alarms import RABBITMQ_ALARMS
from harness.systems.rabbitmq.core.service_ports import AMQP_HEADER
from tests.docker.conftest import Play, SharedCluster
from tests.docker.looks import disabled, netem_of, rules_of, toxics
from tests.docker.whole_runs import of_this_kernel
from tests.rigs.clusters.fault_world import CLIENTS, ON_HOSTS, REAL_OPTIONS_OF, compiled_fault
from tests.rigs.workers.hired import hired

GREETING = AMQP_HEADER.greets.arguments

pytestmark = pytest.mark.docker

RUN = "faults-test"
OFFERED = [kind for kind in ON_HOSTS if COMPOSE in KINDS[kind].offers]  # on direct peer links
STREAMS, RATE = ("upstream", "downstream"), (("rate", 0),)  # a stall
GONE_LIMIT_S = 60.0
# A change of the filter takes up to a second beside other containers that start.
OPTIONS_OF = {**REAL_OPTIONS_OF, "flap": FlapOptions(down_s=3.0, up_s=3.0)}


@pytest.fixture
def links(cluster: ComposeCluster, shared: SharedCluster, play: Play) -> Iterator[tuple[str, ...]]:
    """Two clients' proxies to the first host; the cluster is clean before and after."""
    run: Any = SimpleNamespace(name=RUN)
    play(cluster.unlink(run))
    made = [play(cluster.link(run, worker)) for worker in ("one", "two")]
    yield tuple(link.proxy for each in made for link in each if link.host == victim(cluster))
    play(cluster.unlink(run))
    assert play(shared.left_clean()) == ()


def victim(cluster: ComposeCluster) -> str:
    return cluster.layout.hosts[0].name


def armed(
    cluster: ComposeCluster, kind: str, links: tuple[str, ...], window: int = 1, **options: Any
) -> Armed:
    hosts = tuple(host.name for host in cluster.layout.hosts)
    host = victim(cluster)
    return compiled_fault(
        kind,
        host,
        hosts,
        links,
        window=window,
        run=RUN,
        options=replace(OPTIONS_OF[kind], **options),
        clients=CLIENTS,
        alarms=RABBITMQ_ALARMS,
    )


# --- independent looks --------------------------------------------------------------------------


def container(cluster: ComposeCluster, role: str, host: str = "") -> Any:
    host = host or victim(cluster)
    marks = {labels.PROJECT: cluster.project, labels.ROLE: role, labels.HOST: host}
    words = [f"{name}={value}" for name, value in marks.items()]
    (found,) = cluster.client.containers.list(
        all=True, filters={"label": words}, ignore_removed=True
    )
    return found


def rules(cluster: ComposeCluster) -> list[str]:
    """The rules of ours in the victim's packet filter."""
    return rules_of(cluster, container(cluster, "host"))


def alarms(cluster: ComposeCluster) -> str:
    """What the victim's own list of alarms holds, told by its command line tool."""
    words = ["rabbitmqctl", "--silent", "eval", "[R || {R, []} <- rabbit_alarm:get_alarms()]."]
    return str(container(cluster, "process").exec_run(words).output.decode().strip())


async def greeted(cluster: ComposeCluster, proxy: str) -> bool:
    host, port = cluster.dial(proxy)
    said = await cluster.agent.call("greet", 2.0, host=host, port=port, **GREETING)
    return bool(said["answered"])


# Says the protocol's first bytes and nothing more. A broker that is let answers some 500 bytes.
PROBE = """
import socket, sys, time
got, began, silence = 0, time.monotonic(), float(sys.argv[3])
try:
    peer = socket.create_connection((sys.argv[1], int(sys.argv[2])), 5)
    peer.settimeout(silence)
    peer.sendall(bytes([65, 77, 81, 80, 0, 0, 9, 1]))
    while octets := peer.recv(65536):
        if not got:
            print("open", flush=True)
        got += len(octets)
        late = time.monotonic() - began
    print(f"{got} bytes, closed")
except ConnectionRefusedError:
    print("refused")
except ConnectionResetError:
    print(f"{got} bytes, reset")
except TimeoutError:
    print(f"{got} bytes, open, after {late if got else silence:.3f} s")
"""


def probe(cluster: ComposeCluster, proxy: str, silence_s: float) -> Any:
    """Lines of a program on the clients' network that dials a link, as they come."""
    marks = [f"{labels.PROJECT}={cluster.project}", f"{labels.ROLE}=workers"]
    (workers,) = cluster.client.containers.list(filters={"label": marks})
    address, port = cluster.dial(proxy)
    command = ["python", "-c", PROBE, address, str(port), str(silence_s)]
    return (line.decode() for line in workers.exec_run(command, stream=True).output)


def met(cluster: ComposeCluster, proxy: str) -> str:
    """What a new connection through a link meets."""
    return "".join(probe(cluster, proxy, 1.0)).split("\n")[-2]


async def seen(cluster: ComposeCluster, kind: str, links: tuple[str, ...]) -> bool:
    """Whether a fault is in force, by means that verification does not use."""
    match kind:
        case "kill":
            state = container(cluster, "process").attrs["State"]
            return (state["Status"], state["ExitCode"]) == ("exited", 137)
        case "stop":
            state = container(cluster, "process").attrs["State"]
            return (state["Status"], state["ExitCode"]) == ("exited", 0)
        case "freeze":
            return container(cluster, "process").status == "paused"
        case "hang":
            answered = [await greeted(cluster, proxy) for proxy in links]
            assert len(set(answered)) == 1, "the links of one host share their fate"
            return not answered[0]
        case "refuse":
            return {met(cluster, proxy) for proxy in links} == {"refused"}
        case "reset":
            return {met(cluster, proxy) for proxy in links} == {"0 bytes, reset"}
        case "slow":
            return all(float(met(cluster, proxy).split()[-2]) >= 0.4 for proxy in links)
        case "cut_after":
            return {met(cluster, proxy) for proxy in links} == {"100 bytes, closed"}
        case "partition" | "black_hole" | "flap":
            return bool(rules(cluster))
        case "packet_loss" | "packet_delay":
            return bool(netem_of(cluster, container(cluster, "host")))
        case "reboot":
            state = container(cluster, "process").attrs["State"]
            return (state["Status"], state["ExitCode"]) == ("exited", 137) and bool(rules(cluster))
        case "alarm":
            return alarms(cluster) != "[]"
    raise AssertionError(kind)


# --- tests --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", of_this_kernel(kind for kind in OFFERED if kind != "close"))
def test_a_fault_takes_effect_and_is_undone(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...], kind: str
) -> None:
    fault = armed(cluster, kind, links)
    assert fault.undo

    async def story() -> tuple[Proof, Proof]:
        assert not await seen(cluster, kind, links)
        await prepare(fault, cluster.witness)
        try:
            receipt = await perform_all(cluster.executor, fault.actions)
            assert 0 < receipt.issued_ns <= receipt.returned_ns
            rhythm = Rhythm(cluster.executor, fault, receipt)
            holds = await held(fault, cluster.witness)
            # What comes and goes is there again within a phase.
            assert await until(lambda: seen(cluster, kind, links), bool, sum(fault.rhythm or ()))
            await rhythm.end()
        finally:
            await perform_all(cluster.executor, fault.undo)
        assert rhythm.doubt == ""
        left = await gone(fault, cluster.witness, GONE_LIMIT_S)
        await cluster.witness.dismiss(fault)
        assert not await seen(cluster, kind, links)
        # Repeat it: a missing object is no error, and this time there is nothing to wait for.
        again = (replace(one, ending_s=0) if isinstance(one, Start) else one for one in fault.undo)
        await perform_all(cluster.executor, tuple(again))
        return holds, left

    holds, left = play(story())
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt


def test_links_are_closed_at_once_and_new_ones_are_taken(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    fault = armed(cluster, "close", links)
    assert fault.undo

    async def story() -> tuple[Proof, Proof]:
        standing = [probe(cluster, proxy, 8.0) for proxy in links]
        assert [next(each).strip() for each in standing] == ["open"] * len(links)
        await prepare(fault, cluster.witness)
        await perform_all(cluster.executor, fault.actions)
        holds = await held(fault, cluster.witness)
        assert all("bytes, closed" in "".join(each) for each in standing)
        assert [met(cluster, proxy).split(",")[1] for proxy in links] == [" open"] * len(links)
        await perform_all(cluster.executor, fault.undo)
        left = await gone(fault, cluster.witness, GONE_LIMIT_S)
        await cluster.witness.dismiss(fault)
        return holds, left

    holds, left = play(story())
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt


@pytest.mark.parametrize(("direction", "stream"), [("to_broker", "up"), ("to_client", "down")])
def test_hang_of_one_direction_is_distinguished_from_the_other(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...], direction: str, stream: str
) -> None:
    fault = armed(cluster, "hang", links, direction=direction)
    whole = armed(cluster, "hang", links)
    assert fault.undo

    async def story() -> tuple[Proof, Proof, Proof]:
        await prepare(fault, cluster.witness)
        await perform_all(cluster.executor, fault.actions)
        assert await toxics(cluster) == [f"{fault.mark}_{stream}stream"] * len(links)
        holds = await held(fault, cluster.witness)
        mistaken = await held(whole, cluster.witness, 0.1)
        await perform_all(cluster.executor, fault.undo)
        left = await gone(fault, cluster.witness, GONE_LIMIT_S)
        await cluster.witness.dismiss(fault)
        return holds, mistaken, left

    holds, mistaken, left = play(story())
    assert holds.ok, holds.doubt
    assert "not silent" in mistaken.doubt
    assert left.ok, left.doubt


@pytest.mark.parametrize("kind", of_this_kernel(OFFERED))
def test_an_executor_that_does_nothing_is_never_believed(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...], kind: str
) -> None:
    fault = armed(cluster, kind, links)

    async def story() -> Proof:
        await prepare(fault, cluster.witness)
        await perform_all(NothingExecutor(), fault.actions)
        proof = await held(fault, cluster.witness, 2.0)
        await cluster.witness.dismiss(fault)
        return proof

    proof = play(story())
    assert not proof.ok
    assert proof.doubt


def letters(cluster: ComposeCluster) -> set[str]:
    """The states of the workers' processes, told by the container's own `ps` of the engine."""
    rows = container(cluster, "workers", "workers").top(ps_args="-eo pid,stat,args")["Processes"]
    return {row[1][0] for row in rows if "harness.workers" in row[2]}


def test_clients_are_frozen_and_run_on(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    fault = armed(cluster, "client_freeze", links)
    assert fault.undo

    async def story() -> tuple[Proof, Proof, Proof]:
        clients = [await hired(cluster, name) for name in fault.clients]
        not_held = await held(fault, cluster.witness, 0.5)
        await perform_all(cluster.executor, fault.actions)
        holds = await held(fault, cluster.witness)
        assert letters(cluster) == {"T"}
        await perform_all(cluster.executor, fault.undo)
        left = await gone(fault, cluster.witness, GONE_LIMIT_S)
        assert "T" not in letters(cluster)
        for client in clients:
            await client.end(5.0)
        await perform_all(cluster.executor, fault.undo)  # again, without any target
        with pytest.raises(FaultError, match="no process of publisher-1 runs"):
            await perform_all(cluster.executor, fault.actions)
        return not_held, holds, left

    not_held, holds, left = play(story())
    assert "not frozen" in not_held.doubt
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt


def test_killed_clients_are_seen_dead(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    fault = armed(cluster, "client_crash", links)

    async def story() -> tuple[Proof, Proof]:
        clients = [await hired(cluster, name) for name in fault.clients]
        alive = await held(fault, cluster.witness, 0.5)
        await perform_all(cluster.executor, fault.actions)
        holds = await held(fault, cluster.witness)
        assert letters(cluster) == set()
        await perform_all(cluster.executor, fault.undo)  # a run would start others now
        for client in clients:
            await client.end(0.2)
        return alive, holds

    alive, holds = play(story())
    assert "still runs" in alive.doubt
    assert holds.ok, holds.doubt


def test_healing_without_a_journal_lets_frozen_clients_run_on(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...], tmp_path: Path
) -> None:
    fault = armed(cluster, "client_freeze", links)
    project = RunningProject(cluster.project, tmp_path, "", keep=True)

    async def story() -> list[HealResult]:
        clients = [await hired(cluster, name) for name in fault.clients]
        await perform_all(cluster.executor, fault.actions)
        rows = [row async for row in mend(DockerProjects(cluster.client), project, "heal")]
        assert "T" not in letters(cluster)
        for client in clients:
            await client.end(5.0)
        return rows

    (row,) = play(story())
    assert row.ok and "2 workers run on" in row.what, row


def test_stop_undone_at_once_still_ends_and_the_broker_recovers(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    """A start that did not wait would find the process running, and it would end afterwards."""
    fault = armed(cluster, "stop", links)
    assert fault.undo

    async def story() -> Proof:
        began = container(cluster, "process").attrs["State"]["StartedAt"]
        await cluster.executor.perform(Stop(victim(cluster)))
        await perform_all(cluster.executor, fault.undo)
        state = container(cluster, "process").attrs["State"]
        assert state["Running"] and state["StartedAt"] != began
        return await gone(fault, cluster.witness, GONE_LIMIT_S)

    left = play(story())
    assert left.ok, left.doubt


def test_journal_heals_a_cluster_whose_frozen_host_cannot_answer(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...], tmp_path: Path
) -> None:
    projects = DockerProjects(cluster.client)
    project = RunningProject(cluster.project, tmp_path, "", keep=True)
    (tmp_path / "runs" / "one").mkdir(parents=True)
    journal = Journal(tmp_path / "runs" / "one" / "journal.jsonl")

    async def story() -> list[HealResult]:
        journal.armed(armed(cluster, "freeze", links))
        await cluster.executor.perform(Freeze(victim(cluster)))
        return [row async for row in mend(projects, project, "heal")]

    (row,) = play(story())
    assert row.ok, row.doubt
    assert row.what.startswith("undo freeze of")
    assert container(cluster, "process").status == "running"


def test_disk_alarm_is_cleared_without_a_journal(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...], tmp_path: Path
) -> None:
    projects = DockerProjects(cluster.client)
    project = RunningProject(cluster.project, tmp_path, "", keep=True)
    host = victim(cluster)
    disk = AlarmOptions(resource="disk")
    own = {"options": disk, "alarms": RABBITMQ_ALARMS}
    fault = compiled_fault("alarm", host, (host,), run=RUN, **own)

    async def story() -> tuple[Proof, list[HealResult]]:
        await perform_all(cluster.executor, fault.actions)
        holds = await held(fault, cluster.witness)
        assert f"{{resource_limit,disk,rabbit@{host}}}" in alarms(cluster)
        return holds, [row async for row in mend(projects, project, "heal")]

    holds, (row,) = play(story())
    assert holds.ok, holds.doubt
    assert row.ok and "alarms [disk] cleared" in row.what, row
    assert alarms(cluster) == "[]"


def test_alarm_raised_before_the_fault_is_not_attributed_to_it(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    fault = armed(cluster, "alarm", links)

    async def story() -> None:
        await perform_all(cluster.executor, fault.actions)
        try:
            assert (await held(fault, cluster.witness)).ok
            with pytest.raises(FaultError, match="still a memory alarm"):
                await prepare(fault, cluster.witness)
        finally:
            await perform_all(cluster.executor, fault.undo)

    play(story())


@pytest.mark.parametrize("shape", ["one_way_in", "one_way_out", "bridge"])
def test_shaped_partition_closes_exactly_its_links(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...], shape: str
) -> None:
    fault = armed(cluster, "partition", links, shape=shape)

    async def story() -> tuple[Proof, list[str], Proof]:
        await perform_all(cluster.executor, fault.actions)
        try:
            holds, found = await held(fault, cluster.witness), rules(cluster)
        finally:
            await perform_all(cluster.executor, fault.undo)
        return holds, found, await gone(fault, cluster.witness, GONE_LIMIT_S)

    holds, found, left = play(story())
    assert holds.ok, holds.doubt
    assert left.ok, left.doubt
    sides = {word for rule in found for word in rule.split() if word in ("-s", "-d")}
    assert sides == {"one_way_in": {"-s"}, "one_way_out": {"-d"}, "bridge": set()}[shape]


def test_a_host_in_a_black_hole_still_reaches_itself(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    fault, host = armed(cluster, "black_hole", links), victim(cluster)

    async def story() -> tuple[bool, list[bool]]:
        await perform_all(cluster.executor, fault.actions)
        try:
            return (
                (await cluster.witness.reach(host, host)).answered,
                [await greeted(cluster, proxy) for proxy in links],
            )
        finally:
            await perform_all(cluster.executor, fault.undo)

    itself, clients = play(story())
    assert itself
    assert clients == [False, False]


@pytest.mark.nightly
def test_the_brokers_themselves_notice_a_partition(spent: ComposeCluster, play: Play) -> None:
    """Both sides do: the others strike it off, and it pauses, for it is the minority.

    What becomes of them afterwards is RabbitMQ's affair: a node may fail to start its application
    again (rabbitmq-server issue 5496), or a split brain may stay (issue 8110).
    """
    cluster, host = spent, victim(spent)
    fault = armed(cluster, "partition", ())
    limit_s = 3 * cluster.layout.detection_timeout_s

    async def story() -> bool:
        await perform_all(cluster.executor, fault.actions)
        try:
            return await until(both_know, bool, limit_s)
        finally:
            await perform_all(cluster.executor, fault.undo)

    async def both_know() -> bool:
        assert isinstance(cluster.broker, RabbitBroker)
        listed = any((await cluster.broker.listing(host)).values())
        return not listed and not (await cluster.witness.greets(host)).answered

    assert play(story())
    assert rules(cluster) == []


def test_a_closed_link_is_not_taken_for_a_hang(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    fault = armed(cluster, "hang", links)

    async def story() -> Proof:
        await prepare(fault, cluster.witness)
        await cluster.agent.call("proxy_delete", 5.0, prefix=links[0])
        proof = await held(fault, cluster.witness, 1.0)
        await cluster.witness.dismiss(fault)
        return proof

    assert "closed" in play(story()).doubt


class LostAgent:
    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        raise FaultError(f"{name}: the agent is gone")


def test_a_hang_is_resumed_even_if_the_agent_is_lost(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    fault = armed(cluster, "hang", links)
    assert fault.undo
    lost = ComposeExecutor(cluster.client, cluster.project, LostAgent())

    async def story() -> None:
        await perform_all(cluster.executor, fault.actions)
        assert len(await toxics(cluster)) == 2 * len(links)
        with pytest.raises(FaultError, match="the agent is gone"):
            await perform_all(lost, fault.actions)
        await perform_all(lost, fault.undo)
        assert await toxics(cluster) == []

    play(story())


def test_a_stall_that_fails_halfway_is_taken_back(
    cluster: ComposeCluster, play: Play, links: tuple[str, ...]
) -> None:
    async def story() -> None:
        stall = AddToxic((*links, "no-such-proxy"), f"{MARK}x", "bandwidth", STREAMS, RATE)
        with pytest.raises(FaultError, match="proxy not found"):
            await cluster.executor.perform(stall)
        assert await toxics(cluster) == []

    play(story())


@pytest.mark.parametrize(
    "kinds", [("reboot", "hang", "partition"), ("freeze",), ("slow", "refuse")], ids="+".join
)
def test_healing_without_a_journal_sweeps_every_fault_away(
    cluster: ComposeCluster,
    play: Play,
    links: tuple[str, ...],
    tmp_path: Path,
    kinds: tuple[str, ...],
) -> None:
    projects = DockerProjects(cluster.client)
    project = RunningProject(cluster.project, tmp_path, "", keep=True)

    async def story() -> list[HealResult]:
        for window, kind in enumerate(kinds, 1):
            fault = armed(cluster, kind, links, window)
            await perform_all(cluster.executor, fault.actions)
        rows = [row async for row in mend(projects, project, "heal")]
        assert await toxics(cluster) == await disabled(cluster) == []
        return rows

    (row,) = play(story())
    assert row.ok, row.doubt
    assert rules(cluster) == []
    assert container(cluster, "process").status == "running"


def test_the_engine_shows_the_project(cluster: ComposeCluster, play: Play) -> None:
    found = play(DockerProjects(cluster.client).find())
    assert cluster.project in {project.name for project in found}
