"""The broker port over an agent whose answers are written down."""

import asyncio
from dataclasses import replace

import pytest

from harness.cluster.port import DeployError, Roles, WrongInput
from harness.plan.model import Layout
from harness.systems.catalogue import load_layout
from harness.systems.rabbitmq import broker as adapter
from harness.systems.rabbitmq.api import ManagementApi
from harness.systems.rabbitmq.broker import RabbitBroker
from harness.systems.rabbitmq.core.khepri import KHEPRI, MNESIA, STORE
from harness.systems.rabbitmq.core.queues import MIRRORED, QueueKind
from harness.systems.rabbitmq.held import by_api, by_nobody
from harness.systems.registry import OURS
from harness.systems.topologies import layout_of
from tests.rigs.brokers.fake_agent import HANGS, FakeAgent, Said
from tests.rigs.clusters.topologies import topology
from tests.rigs.machine.loops import in_a_loop

LAYOUT = load_layout("rabbitmq-mirrored", "all-automatic")
HOSTS = ("rmq1", "rmq2", "rmq3")
QUEUE = {
    "name": "mqproof.r.q",
    "node": "rabbit@rmq2",
    "slave_nodes": ["rabbit@rmq3"],
    "synchronised_slave_nodes": ["rabbit@rmq3"],
}
HELD = Roles("rmq2", ("rmq3",), ("rmq3",))


def broker(
    said: dict[tuple[str, str], Said], kind: QueueKind = MIRRORED, layout: Layout = LAYOUT
) -> tuple[RabbitBroker, FakeAgent]:
    agent = FakeAgent(said)
    addresses = {host: host for host in HOSTS}
    rabbit = RabbitBroker.on_ports(layout, agent, addresses, kind, by_api)  # type: ignore[arg-type]
    return rabbit, agent


def everywhere(path: str, said: Said) -> dict[tuple[str, str], Said]:
    return {(host, path): said for host in HOSTS}


PATH = "/api/queues/%2F/mqproof.r.q"


@in_a_loop
async def test_a_host_that_hangs_does_not_delay_the_clusters_word() -> None:
    rabbit, _ = broker(everywhere(PATH, (200, QUEUE)) | {("rmq1", PATH): HANGS})
    async with asyncio.timeout(1.0):
        assert await rabbit.roles("mqproof.r.q") == HELD


@in_a_loop
async def test_uninformed_host_does_not_outvote_an_informed_one() -> None:
    rabbit, _ = broker({("rmq3", PATH): (200, QUEUE)})
    assert await rabbit.roles("mqproof.r.q") == HELD
    nowhere, _ = broker({})
    assert await nowhere.roles("mqproof.r.q") == Roles(None, (), ())
    broken, _ = broker(everywhere(PATH, (500, None)))
    with pytest.raises(DeployError, match="who holds"):
        await broken.roles("mqproof.r.q")


@in_a_loop
async def test_each_host_is_queried_for_its_role() -> None:
    rival = QUEUE | {"node": "rabbit@rmq3"}
    rabbit, _ = broker(
        {("rmq1", PATH): (503, "x"), ("rmq2", PATH): (200, QUEUE), ("rmq3", PATH): (200, rival)}
    )
    masters = await rabbit.masters("mqproof.r.q")
    assert masters == {"rmq1": None, "rmq2": True, "rmq3": True}


@in_a_loop
async def test_only_connections_of_the_run_are_listed_and_closed() -> None:
    listed = [
        {"name": "10.0.0.1:5 -> 10.0.0.2:5672", "user_provided_name": "mqproof.r.p0"},
        {"name": "b", "user_provided_name": "somebody"},
        {"name": "c"},
    ]
    rabbit, agent = broker(everywhere("/api/connections", (200, listed)))
    assert await rabbit.connections("mqproof.r.", close=True) == ("mqproof.r.p0",)
    closed = {path for _, method, path in agent.requests if method == "DELETE"}
    assert closed == {"/api/connections/10.0.0.1%3A5%20-%3E%2010.0.0.2%3A5672"}


@in_a_loop
async def test_queues_are_deleted_on_every_host_that_has_them() -> None:
    rows = [{"name": "mqproof.r.q"}, {"name": "other"}]
    rabbit, agent = broker(
        everywhere("/api/queues/%2F", (200, rows)) | {("rmq1", "/api/queues/%2F"): (503, None)}
    )
    await rabbit.delete("mqproof.r.")
    deleted = [(host, path) for host, method, path in agent.requests if method == "DELETE"]
    assert deleted == [("rmq2", PATH), ("rmq3", PATH)]


@in_a_loop
async def test_an_exchange_of_groups_is_bound_and_goes_with_the_queues_of_its_run() -> None:
    rabbit, agent = broker({})
    queues = ["mqproof.r.q-a", "mqproof.r.q-b"]
    await rabbit.fan_out("mqproof.r.q", queues, True, "rmq2")
    way = {"host": "rmq2", "port": 5672, "exchange": "mqproof.r.q"}
    assert agent.called == [(adapter.FAN_OUT, way | {"queues": queues, "durable": True})]
    await rabbit.delete("mqproof.other.")
    assert len(agent.called) == 1
    for _ in range(2):  # what is gone is not removed again
        await rabbit.delete("mqproof.r.")
        assert agent.called[1:] == [(adapter.REMOVE_EXCHANGE, way | {"host": "rmq1"})]


@in_a_loop
async def test_exchanges_of_a_dead_process_are_deleted_by_name() -> None:
    rows = [{"name": "mqproof.r.q"}, {"name": "mqproof.other.q"}, {"name": "amq.fanout"}]
    rabbit, agent = broker({("rmq2", "/api/exchanges/%2F"): (200, rows)})
    await rabbit.delete("mqproof.r.")
    deleted = [(host, path) for host, method, path in agent.requests if method == "DELETE"]
    assert deleted == [("rmq2", "/api/exchanges/%2F/mqproof.r.q")]
    assert agent.called == []


@in_a_loop
async def test_a_silent_host_is_waited_for_once_when_exchanges_go() -> None:
    rabbit, agent = broker({})
    names = [f"mqproof.r.q{number}" for number in range(3)]
    for name in names:
        await rabbit.fan_out(name, [f"{name}-a"], True, "rmq2")
    agent.silent, agent.called = {"rmq1"}, []
    await rabbit.delete("mqproof.r.")
    tried = [(way["host"], way["exchange"]) for _, way in agent.called]
    assert tried == [("rmq1", names[0]), *(("rmq2", name) for name in names)]


@in_a_loop
async def test_host_is_listed_if_all_other_answering_hosts_agree() -> None:
    path = "/api/nodes"
    up = [{"name": f"rabbit@{host}", "running": True} for host in HOSTS]
    down = [{"name": "rabbit@rmq1", "running": False}, *up[1:]]
    said: dict[tuple[str, str], Said] = {("rmq1", path): (200, up), ("rmq2", path): (200, up)}
    one, _ = broker(said)
    assert await one.listed("rmq1")
    both, _ = broker(said | {("rmq3", path): (200, down)})
    assert not await both.listed("rmq1")
    alone, _ = broker({("rmq1", path): (200, up)})
    with pytest.raises(DeployError, match="no other broker"):
        await alone.listed("rmq1")


@in_a_loop
async def test_members_are_reported_by_the_queried_host_only() -> None:
    path = "/api/nodes"
    listed = [{"name": "rabbit@rmq1", "running": True}, {"name": "rabbit@rmq3", "running": False}]
    rabbit, _ = broker(everywhere(path, (200, [])) | {("rmq1", path): (200, listed)})
    assert await rabbit.members("rmq1") == ("rmq1", "rmq3"), "of those that are down, too"
    silent, _ = broker(everywhere(path, (200, listed)) | {("rmq1", path): (503, None)})
    with pytest.raises(DeployError, match="rmq1 does not report"):
        await silent.members("rmq1")


@in_a_loop
async def test_policy_is_reported_by_a_host_and_silence_proves_nothing() -> None:
    path, definition = "/api/policies/%2F/mqproof", {"ha-mode": "all"}
    there, _ = broker(everywhere(path, (200, {"name": "mqproof", "definition": definition})))
    assert await there.policy("mqproof") == definition
    gone, _ = broker({})
    assert await gone.policy("mqproof") is None
    broken, _ = broker(everywhere(path, (500, None)))
    with pytest.raises(DeployError, match="no broker reports policy mqproof"):
        await broken.policy("mqproof")


VOTING = replace(MIRRORED, agreeing=lambda hosts: hosts // 2 + 1)


@in_a_loop
async def test_isolated_host_is_outvoted_where_queue_roles_are_voted() -> None:
    stale = QUEUE | {"node": "rabbit@rmq1", "slave_nodes": ["rabbit@rmq2"]}
    said = everywhere(PATH, (200, QUEUE)) | {("rmq1", PATH): (200, stale)}
    rabbit, _ = broker(said, VOTING)
    assert await rabbit.roles("mqproof.r.q") == HELD


@in_a_loop
async def test_disagreeing_hosts_prove_nothing_and_a_single_one_is_believed() -> None:
    stale = QUEUE | {"node": "rabbit@rmq1"}
    split = {("rmq1", PATH): (200, stale), ("rmq2", PATH): (200, QUEUE), ("rmq3", PATH): (500, "")}
    rabbit, _ = broker(split, VOTING)
    with pytest.raises(DeployError, match=r"do not agree who holds mqproof.r.q: rmq1, rmq2"):
        await rabbit.roles("mqproof.r.q")
    alone, _ = broker({("rmq1", PATH): (200, QUEUE)}, VOTING)
    assert await alone.roles("mqproof.r.q") == HELD


@in_a_loop
async def test_a_queue_is_declared_as_its_kind_has_it() -> None:
    kind = replace(MIRRORED, arguments=lambda layout: {"x-copies": layout.copies or 0})
    full = QUEUE | {"synchronised_slave_nodes": ["rabbit@rmq3", "rabbit@rmq1"]}
    full |= {"slave_nodes": ["rabbit@rmq3", "rabbit@rmq1"]}
    rabbit, agent = broker(everywhere(PATH, (200, full)), kind)
    await rabbit.declare("mqproof.r.q", True, "rmq2")
    assert agent.declared == [("mqproof.r.q", {"x-copies": 3})]


@in_a_loop
async def test_broker_version_is_recorded_under_the_systems_own_key() -> None:
    overview = (200, {"rabbitmq_version": "3.10.8", "erlang_version": "25.0.4"})
    found, _ = broker(everywhere("/api/overview", overview))
    versions = await found.versions()
    for name in ("rabbitmq-mirrored", "reference-mirrored"):
        assert versions[str(OURS[name].versioned_as)] == "3.10.8"


@pytest.mark.parametrize("body", [{"fork_version": "2.1", "erlang_version": None}, "a page", []])
def test_a_fork_without_a_version_has_none_on_record(body: object) -> None:
    @in_a_loop
    async def reported() -> None:
        found, _ = broker(everywhere("/api/overview", (200, body)))
        assert await found.versions() == {}

    reported()


FLAGS, ENABLE = "/api/feature-flags", "/api/feature-flags/khepri_db/enable"
IN_KHEPRI = load_layout("rabbitmq-quorum", "three-khepri")
ON = [{"name": "khepri_db", "state": "enabled"}]
OFF = [{"name": "khepri_db", "state": "disabled"}]
OVERVIEW = everywhere(
    "/api/overview", (200, {"rabbitmq_version": "4.0.5", "erlang_version": "27"})
)


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([(200, ON)] * 3, KHEPRI),
        ([(200, OFF)] * 3, MNESIA),
        ([(200, [])] * 3, MNESIA),
        ([(200, ON), (200, OFF), (503, None)], "khepri and mnesia"),
        ([(404, None)] * 3, None),
    ],
)
def test_the_metadata_store_is_what_brokers_report(answers: list[Said], found: str | None) -> None:
    @in_a_loop
    async def reported() -> None:
        flags = {(host, FLAGS): said for host, said in zip(HOSTS, answers, strict=True)}
        rabbit, _ = broker({**OVERVIEW, **flags})
        assert (await rabbit.versions()).get(STORE) == found

    reported()


@in_a_loop
async def test_a_layout_in_khepri_enables_it() -> None:
    said = {**everywhere(FLAGS, (200, ON)), **everywhere(ENABLE, (204, None))}
    rabbit, agent = broker(said, layout=IN_KHEPRI)
    await rabbit.set_policies()
    assert ("rmq1", "PUT", ENABLE) in agent.requests
    without, other = broker(said, layout=load_layout("rabbitmq-quorum", "three"))
    await without.set_policies()
    assert ("rmq1", "PUT", ENABLE) not in other.requests


def test_a_node_that_stays_in_mnesia_ends_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "_KHEPRI_LIMIT_S", 0.1)

    @in_a_loop
    async def refused() -> None:
        flags = {**everywhere(FLAGS, (200, ON)), ("rmq3", FLAGS): (200, OFF)}
        rabbit, _ = broker({**flags, **everywhere(ENABLE, (400, "no"))}, layout=IN_KHEPRI)
        why = r"rmq3 did not enable khepri_db.*rmq1 answered the request with 400 no"
        with pytest.raises(DeployError, match=why):
            await rabbit.set_policies()

    refused()


@in_a_loop
async def test_query_timeout_depends_on_the_kind_of_queue() -> None:
    rabbit, agent = broker(everywhere(PATH, (200, QUEUE)), replace(MIRRORED, ask_limit_s=8.5))
    await rabbit.roles("mqproof.r.q")
    assert agent.limits_s == {8.5}


EU = "/api/queues/orders%2Feu/mqproof.r.q"


def foreign_broker(
    said: dict[tuple[str, str], Said], hosts: tuple[str, ...] = HOSTS, layout: Layout = LAYOUT
) -> tuple[RabbitBroker, FakeAgent]:
    """Somebody's brokers, in a virtual host; `hosts`: those with an API."""
    agent = FakeAgent(said)
    urls = {host: f"http://{host}:15672" for host in hosts}
    api = ManagementApi(agent, urls, virtual_host="orders/eu")
    ways = {host: (host, 5672) for host in HOSTS}
    rabbit = RabbitBroker(layout, agent, ways, api, MIRRORED, by_nobody, lambda: ("mqproof.r.",))
    return rabbit, agent


@in_a_loop
async def test_queues_and_policies_are_those_of_the_virtual_host() -> None:
    rabbit, agent = foreign_broker(everywhere(EU, (200, QUEUE)))
    assert await rabbit.roles("mqproof.r.q") == HELD
    await rabbit.policy("a/b")
    assert {path for _, _, path in agent.requests} == {EU, "/api/policies/orders%2Feu/a%2Fb"}


@in_a_loop
async def test_a_host_without_an_api_is_unknown_and_never_assumed() -> None:
    nodes = [{"name": f"rabbit@{host}", "running": host != "rmq3"} for host in HOSTS]
    said = {("rmq1", EU): (200, QUEUE), ("rmq1", "/api/nodes"): (200, nodes)}
    said |= {("rmq1", "/api/queues/orders%2Feu"): (200, [])}
    rabbit, _ = foreign_broker(said, hosts=("rmq1",))
    assert await rabbit.masters("mqproof.r.q") == {"rmq1": False, "rmq2": None, "rmq3": None}
    assert rabbit.cannot_answer == {"rmq2", "rmq3"}
    assert (await rabbit.listing("rmq3"), await rabbit.listing("rmq1")) == (
        {"rmq1": False},
        {"rmq1": True},
    )
    health = await rabbit.health(0.0)
    assert health.doubts == ("rmq1 says: rmq3 is not running",)
    silent, _ = foreign_broker({}, hosts=("rmq1",))
    with pytest.raises(DeployError, match="no other broker reports whether rmq1 is listed"):
        await silent.listing("rmq1")


@pytest.mark.parametrize("key", ["message-ttl", "max-length"])
@in_a_loop
async def test_a_policy_by_which_messages_are_dropped_ends_the_run(key: str) -> None:
    theirs = {"policy": "theirs", "effective_policy_definition": {"ha-mode": "all", key: 5}}
    full = QUEUE | {"slave_nodes": ["rabbit@rmq1", "rabbit@rmq3"]}
    full |= {"synchronised_slave_nodes": full["slave_nodes"]}
    rabbit, _ = foreign_broker(everywhere(EU, (200, full | theirs)))
    with pytest.raises(DeployError, match=f"mqproof.r.q: theirs sets {key}, so the broker drops"):
        await rabbit.declare("mqproof.r.q", True, "rmq1")
    ours, _ = broker(everywhere(PATH, (200, full | theirs)))  # somebody set it by hand
    with pytest.raises(DeployError, match=f"mqproof.r.q: theirs sets {key}, so the broker drops"):
        await ours.declare("mqproof.r.q", True, "rmq2")
    harmless, _ = foreign_broker(everywhere(EU, (200, full)))
    await harmless.declare("mqproof.r.q", True, "rmq1")


UNMIRRORED = QUEUE | {"slave_nodes": [], "synchronised_slave_nodes": []}


@pytest.mark.parametrize(
    ("policy", "why"),
    [(None, "no policy matches its name"), ("theirs", "the policy theirs does not mirror it")],
)
def test_a_queue_that_no_policy_mirrors_contradicts_the_file(
    policy: str | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter, "_MIRRORS_LIMIT_S", 0.0)

    @in_a_loop
    async def refused() -> None:
        said = everywhere(EU, (200, UNMIRRORED | {"policy": policy}))
        rabbit, _ = foreign_broker(said, layout=layout_of(topology()))
        with pytest.raises(WrongInput) as error:
            await rabbit.declare("mqproof.r.q", True, "rmq1")
        (problem,) = error.value.problems
        assert problem.place == "staging.toml, [queues]"
        assert problem.text == f"mqproof.r.q has no mirror: {why}"
        assert "`copies = 1`" in problem.expected
        assert all(one in problem.advice for one in (r"`^mqproof\.`", '`policies = "set"`'))

    refused()


@pytest.mark.parametrize(
    ("table", "queue"),
    [
        ("", QUEUE),
        ("[queues]\ncopies = 1\n", UNMIRRORED),
        ('[queues]\nmirrored_on = "none"\n', UNMIRRORED),
    ],
)
@in_a_loop
async def test_a_queue_with_a_mirror_or_declared_without_one_is_used(
    table: str, queue: dict[str, object]
) -> None:
    rabbit, _ = foreign_broker(everywhere(EU, (200, queue)), layout=layout_of(topology(table)))
    await rabbit.declare("mqproof.r.q", True, "rmq1")
