"""A cluster that mqproof did not start: put under test, broken by its owner's commands, mended."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from faults.core.mechanisms import EXTERNAL
from faults.core.model import Armed, FaultError, Proof
from faults.core.targets import CLIENT, CLIENT_LINK
from faults.executors import local_processes as processes
from faults.executors.nothing import NothingExecutor
from faults.kinds import KINDS, by_command
from faults.performing import perform_all
from faults.verification import gone, held, prepare
from harness.cluster.port import DeployError, Health, WrongInput
from harness.deploy.external.cluster import ExternalCluster
from harness.deploy.external.deployment import ExternalDeployment
from harness.deploy.external.faults import equip
from harness.deploy.external.site import Site, noted
from harness.plan.layouts.topology import Topology
from harness.systems.topologies import layout_of, read_topology
from tests.rigs.clusters import external as rig
from tests.rigs.clusters.external import Owner
from tests.rigs.clusters.fault_world import CLIENTS, REAL_OPTIONS_OF, compiled_fault
from tests.rigs.clusters.topologies import HOSTS, START, SYSTEMS
from tests.rigs.runs.plans import plan
from tests.rigs.workers.hired import hired

pytestmark = [pytest.mark.slow, pytest.mark.long]

RUN = plan(name="quick-1-00ff")
HELD_S, GONE_S = 12.0, 30.0


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owner]:
    with rig.standing(tmp_path_factory.mktemp("owners") / "cluster") as found:
        found.mirror()
        yield found


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFERENCE_USER", "guest")
    monkeypatch.setenv("REFERENCE_PASSWORD", "guest")


@asynccontextmanager
async def up(
    topology: Topology, folder: Path, limit_s: float = 30.0
) -> AsyncIterator[ExternalCluster]:
    (folder / "runs" / RUN.name).mkdir(parents=True, exist_ok=True)
    deployment = ExternalDeployment(equip, stand_limit_s=limit_s)
    cluster = await deployment.up(layout_of(topology), folder, lambda _: None)
    try:
        yield cluster
    finally:
        await cluster.down()


def armed(cluster: ExternalCluster, kind: str, host: str, proxies: tuple[str, ...] = ()) -> Armed:
    return compiled_fault(
        kind,
        host,
        HOSTS,
        proxies,
        run=RUN.name,
        mechanism=cluster.executor.mechanism(kind),
        options=REAL_OPTIONS_OF[kind],
        clients=CLIENTS,
    )


async def seen(
    cluster: ExternalCluster, fault: Armed, held_s: float = HELD_S
) -> tuple[Proof, Proof]:
    await prepare(fault, cluster.witness)
    await perform_all(cluster.executor, fault.actions)
    try:
        holding = await held(fault, cluster.witness, held_s)
    finally:
        await perform_all(cluster.executor, fault.undo)
    leaving = await gone(fault, cluster.witness, GONE_S)
    await cluster.witness.dismiss(fault)
    return holding, leaving


OFFERED = [kind for kind in KINDS.values() if EXTERNAL in kind.offers]
LINK_KINDS = [kind.name for kind in OFFERED if kind.applies_to == CLIENT_LINK]
CLIENT_KINDS = [kind.name for kind in OFFERED if kind.applies_to == CLIENT]


def test_every_kind_that_is_offered_is_played_here() -> None:
    assert {*by_command(), *LINK_KINDS, *CLIENT_KINDS} == {kind.name for kind in OFFERED}


@pytest.mark.parametrize("kind", by_command())
def test_faults_by_the_owners_commands_are_proven_and_undone(
    kind: str, owner: Owner, tmp_path: Path
) -> None:
    async def story() -> tuple[Proof, Proof]:
        async with up(owner.topology(), tmp_path) as cluster:
            return await seen(cluster, armed(cluster, kind, "beta"))

    holding, leaving = asyncio.run(story())
    assert (holding.ok, leaving.ok) == (True, True), (holding, leaving)
    assert "its verify command ended with 0" in holding.detail
    assert noted() == ()


@pytest.mark.parametrize("kind", LINK_KINDS)
def test_client_links_are_broken_at_the_mqproof_proxy(
    kind: str, owner: Owner, tmp_path: Path
) -> None:
    async def story() -> tuple[tuple[Proof, Proof], dict[str, str]]:
        async with up(owner.topology(START), tmp_path) as cluster:
            links = await cluster.link(RUN, "publisher-1")
            (proxy,) = (link.proxy for link in links if link.host == "gamma")
            assert proxy == f"mqproof.{RUN.name}.publisher-1.gamma"
            return await seen(cluster, armed(cluster, kind, "gamma", (proxy,))), cluster.versions()

    (holding, leaving), versions = asyncio.run(story())
    assert (holding.ok, leaving.ok) == (True, True), (holding, leaving)
    assert versions["rabbitmq"] == "3.10.8"
    assert versions["toxiproxy"]


def test_clients_are_frozen_and_run_on(owner: Owner, tmp_path: Path) -> None:
    async def story() -> tuple[Proof, Proof]:
        async with up(owner.topology(), tmp_path) as cluster:
            fault = armed(cluster, "client_freeze", "beta")
            clients = [await hired(cluster, name) for name in fault.clients]
            proofs = await seen(cluster, fault)
            await asyncio.gather(*(client.end(5.0) for client in clients))
            return proofs

    holding, leaving = asyncio.run(story())
    assert (holding.ok, leaving.ok) == (True, True), (holding, leaving)


def test_killed_clients_stay_listed_as_dead_until_successors_arrive(
    owner: Owner, tmp_path: Path
) -> None:
    async def story() -> tuple[Proof, Proof, Proof]:
        async with up(owner.topology(), tmp_path) as cluster:
            fault = armed(cluster, "client_crash", "beta")
            clients = [await hired(cluster, name) for name in fault.clients]
            alive = await held(fault, cluster.witness, 0.3)
            await perform_all(cluster.executor, fault.actions)
            holding = await held(fault, cluster.witness, HELD_S)
            leaving = await gone(fault, cluster.witness, 0.3)
            await asyncio.gather(*(client.end(0.2) for client in clients))
            return alive, holding, leaving

    alive, holding, leaving = asyncio.run(story())
    assert "still runs" in alive.doubt
    assert holding.ok, holding.doubt
    assert "no client has taken the place of" in leaving.doubt


@pytest.mark.parametrize("kind", [*by_command(), *LINK_KINDS, *CLIENT_KINDS])
def test_an_executor_that_does_nothing_is_never_believed(
    kind: str, owner: Owner, tmp_path: Path
) -> None:
    async def story() -> Proof:
        async with up(owner.topology(START), tmp_path) as cluster:
            links = await cluster.link(RUN, "publisher-1")
            proxies = tuple(link.proxy for link in links if link.host == "gamma")
            fault = armed(cluster, kind, "gamma", proxies)
            clients = [await hired(cluster, name) for name in fault.clients]
            await prepare(fault, cluster.witness)
            await perform_all(NothingExecutor(), fault.actions)
            proof = await held(fault, cluster.witness, 0.6)
            await cluster.witness.dismiss(fault)
            await asyncio.gather(*(client.end(5.0) for client in clients))
            return proof

    proof = asyncio.run(story())
    assert not proof.ok
    assert proof.doubt


def test_existing_proxy_gains_and_loses_only_our_objects(owner: Owner, tmp_path: Path) -> None:
    with proxy_of_somebody() as at:
        theirs = {"name": "theirs", "upstream": "127.0.0.1:9", "listen": "127.0.0.1:0"}
        proxies(at, "POST", theirs)

        async def story() -> set[str]:
            topology = owner.topology(f'[proxy]\nat = "{at}"\n')
            async with up(topology, tmp_path) as cluster:
                await cluster.link(RUN, "publisher-1")
                return set(proxies(at))

        during = asyncio.run(story())
        assert during == {"theirs", *(f"mqproof.{RUN.name}.publisher-1.{h}" for h in HOSTS)}
        assert set(proxies(at)) == {"theirs"}


def test_only_run_queues_and_the_mqproof_policy_are_removed(owner: Owner, tmp_path: Path) -> None:
    theirs = ("orders", "mqproof.somebody.elses.orders")
    for name in theirs:
        owner.declare(name)
    words = '[queues]\npolicies = "set"\ncopies = 3\nsynchronise = "automatic"\n'

    async def story() -> list[str]:
        async with up(owner.topology(words), tmp_path) as cluster:
            await cluster.broker.declare(f"mqproof.{RUN.name}.orders", True, "alpha")
            return owner.names("policies")

    try:
        assert asyncio.run(story()) == ["mqproof.staging", "owners"]
        assert owner.names("policies") == ["owners"]
        assert owner.names("queues") == sorted(theirs)
    finally:
        for name in theirs:
            owner.ask(f"queues/%2F/{name}", "DELETE")


def test_policies_that_the_owner_declares_are_checked_on_the_cluster(
    owner: Owner, tmp_path: Path
) -> None:
    """Nothing of it is in the file: `alpha` is a name of ours for the node rabbit@ref1."""

    async def story() -> tuple[str | None, tuple[str, ...]]:
        async with up(owner.topology(), tmp_path) as cluster:
            queue = f"mqproof.{RUN.name}.orders"
            await cluster.broker.declare(queue, True, "alpha")
            roles = await cluster.broker.roles(queue)
            return roles.master, tuple(sorted(roles.synchronised))

    assert asyncio.run(story()) == ("alpha", ("beta", "gamma"))


def test_queue_that_no_policy_of_the_owner_mirrors_is_bad_input(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.systems.rabbitmq.broker._MIRRORS_LIMIT_S", 2.0)
    owner.mirror("^orders")

    async def story() -> None:
        async with up(owner.topology(), tmp_path) as cluster:
            await cluster.broker.declare(f"mqproof.{RUN.name}.orders", True, "alpha")

    try:
        with pytest.raises(WrongInput, match="has no mirror: no policy matches its name"):
            asyncio.run(story())
    finally:
        owner.mirror()
    assert not [name for name in owner.names("queues") if RUN.name in name]


def test_without_a_verify_command_a_fault_stays_unverified(owner: Owner, tmp_path: Path) -> None:
    async def story() -> tuple[Proof, Proof]:
        topology = owner.topology(kinds=("freeze",), steps=("do", "undo"))
        async with up(topology, tmp_path) as cluster:
            return await seen(cluster, armed(cluster, "freeze", "beta"), 3.0)

    holding, leaving = asyncio.run(story())
    assert "no verify command" in holding.doubt
    assert leaving.ok


def test_a_verify_command_that_always_says_yes_proves_nothing(
    owner: Owner, tmp_path: Path
) -> None:
    text = owner.text(kinds=("freeze",), steps=("do", "undo"))
    text = text.replace("[broker.freeze]", '[broker.freeze]\nverify = ["true"]')

    async def story() -> None:
        async with up(read_topology("staging", text, SYSTEMS), tmp_path) as cluster:
            await prepare(armed(cluster, "freeze", "beta"), cluster.witness)

    with pytest.raises(FaultError, match="it cannot tell the fault from health"):
        asyncio.run(story())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("rabbit@ref3", "rabbit@ref9"), "knows no node rabbit@ref9; it has rabbit@ref1"),
        (("# gamma", ""), "nodes that the file does not name: rabbit@ref3"),
        (("http://127.0.0.1:", "http://127.0.0.2:"), "no broker answers /api/nodes"),
    ],
)
def test_contradictions_to_the_file_are_reported_and_nothing_is_left(
    change: tuple[str, str], reason: str, owner: Owner, tmp_path: Path
) -> None:
    is_wrong = "no broker answers" not in reason
    text = owner.text(kinds=())
    if change[0] == "# gamma":
        text = text[: text.rindex("[[broker]]")]
    topology = read_topology("staging", text.replace(*change), SYSTEMS)

    async def story() -> None:
        async with up(topology, tmp_path, limit_s=1.0):
            raise AssertionError("it stands")

    with pytest.raises(DeployError, match=reason) as error:
        asyncio.run(story())
    assert isinstance(error.value, WrongInput) is is_wrong
    assert noted() == ()
    assert not [
        one for one in processes.every() if one.mark(processes.EXPERIMENT) == str(tmp_path)
    ]


def test_wrong_credentials_are_reported_by_variable_name(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFERENCE_PASSWORD", "swordfish")

    async def story() -> None:
        async with up(owner.topology(), tmp_path):
            raise AssertionError("it stands")

    with pytest.raises(WrongInput, match=r"\$REFERENCE_USER and \$REFERENCE_PASSWORD") as error:
        asyncio.run(story())
    (problem,) = error.value.problems
    assert problem.place == "staging.toml, [credentials]"
    assert problem.expected and problem.advice
    assert "swordfish" not in str(error.value)
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert not any("swordfish" in text for text in written)


def test_refused_arguments_are_bad_input_before_any_run(owner: Owner, tmp_path: Path) -> None:
    words = '[queues]\narguments = { "x-queue-mode" = "lazy" }\n'

    async def story() -> None:
        async with up(owner.topology(words), tmp_path):
            raise AssertionError("it stands")

    with pytest.raises(WrongInput, match="406 PRECONDITION_FAILED") as error:
        asyncio.run(story())
    (problem,) = error.value.problems
    assert problem.place == "staging.toml, [queues] arguments"
    assert problem.expected and problem.advice
    assert noted() == ()


def test_the_password_goes_only_to_processes_that_contact_brokers(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFERENCE_PASSWORD", "a long swordfish")
    site = Site("mqproof-0", str(tmp_path), "", owner.topology())
    holders = {
        role: {name for name, value in site.environment(role, "x").items() if "swordfish" in value}
        for role in (processes.PROXY, processes.AGENT, processes.WORKER)
    }
    speaks = {"MQPROOF_LOGIN_PASSWORD"}
    assert holders == {processes.PROXY: set(), processes.AGENT: speaks, processes.WORKER: speaks}


@pytest.mark.parametrize("word", ["a long swordfish", "--password=a long swordfish"])
def test_a_file_that_holds_the_password_is_not_used(
    word: str, owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFERENCE_PASSWORD", "a long swordfish")
    text = owner.text(kinds=("freeze",), steps=("do", "undo"))
    text = text.replace("[broker.freeze]", f'[broker.freeze]\nverify = ["ask", "{word}"]')

    async def story() -> None:
        async with up(read_topology("staging", text, SYSTEMS), tmp_path):
            raise AssertionError("it stands")

    with pytest.raises(WrongInput, match=r"a command in the file holds what \$REFERENCE_PASS"):
        asyncio.run(story())
    assert noted() == ()
    assert not list(tmp_path.rglob("topology.toml"))


def test_our_policy_counts_where_the_owners_means_every_queue(
    owner: Owner, tmp_path: Path
) -> None:
    words = '[queues]\npolicies = "set"\ncopies = 3\nsynchronise = "automatic"\n'

    async def story() -> dict[str, int]:
        async with up(owner.topology(words), tmp_path):
            return {one["name"]: one["priority"] for one in owner.ask("policies")}

    priorities = asyncio.run(story())
    assert priorities["mqproof.staging"] > priorities["owners"]


def test_foreign_queue_with_our_name_prefix_is_not_touched(owner: Owner, tmp_path: Path) -> None:
    """It has no mirror, as its owner wants; one of a run without mirrors is no clean cluster."""
    owner.mirror(r"^mqproof\.", {"ha-mode": "exactly", "ha-params": 1})
    owner.declare("mqproof.somebody.elses")
    words = '[queues]\npolicies = "leave"\ncopies = 3\nsynchronise = "automatic"\n'

    async def story() -> Health:
        async with up(owner.topology(words), tmp_path) as cluster:
            assert (await cluster.health(HELD_S)).clean
            owner.declare(f"mqproof.{RUN.name}.orders")
            return await cluster.health(2.0)

    try:
        health = asyncio.run(story())
    finally:
        owner.mirror()
    assert health.doubts, "that of a run is looked at"
    assert not any("somebody" in doubt for doubt in health.doubts), health.doubts
    assert owner.names("queues") == ["mqproof.somebody.elses"]


def test_without_its_variables_nothing_is_begun(
    owner: Owner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REFERENCE_PASSWORD")

    async def story() -> None:
        async with up(owner.topology(), tmp_path):
            raise AssertionError("it stands")

    with pytest.raises(
        WrongInput, match="not set in the environment: REFERENCE_PASSWORD"
    ) as error:
        asyncio.run(story())
    assert error.value.problems[0].advice == "export REFERENCE_PASSWORD=..."
    assert noted() == ()


@contextmanager
def proxy_of_somebody() -> Iterator[str]:
    command = [sys.executable, "-m", "faults.proxy", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield str(json.loads(process.stdout.readline())["listening"])
    finally:
        process.terminate()
        process.wait(10)


def proxies(at: str, method: str = "GET", body: object = None) -> dict[str, object]:
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{at}/proxies", data=content, method=method)
    with urllib.request.urlopen(request, timeout=10) as reply:
        found: dict[str, object] = json.loads(reply.read())
    return found
