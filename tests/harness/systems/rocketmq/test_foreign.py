"""A RocketMQ cluster that somebody else runs, against its topology file: in memory, no socket."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.cluster.port import DeployError
from harness.plan.layouts.topology import Topology
from harness.plan.problems import PlanError
from harness.systems.catalogue import load_system
from harness.systems.foreign import Access, Examined
from harness.systems.rocketmq.foreign.brokers import ForeignRockets
from harness.systems.rocketmq.foreign.core import looks
from harness.systems.rocketmq.foreign.core.own import own
from harness.systems.rocketmq_2m2s import FixedRoles
from harness.systems.rocketmq_dledger import Members
from harness.systems.topologies import layout_of, read_topology
from harness.workers.remoting.requests import Code
from tests.rigs.clusters.external_rocketmq import SYSTEMS, text
from tests.rigs.machine.loops import in_a_loop
from tests.rigs.rocketmq.in_memory import FakeRocket

ACL = """
[credentials]
access_key = "SHOP_ACCESS"
secret_key = "SHOP_SECRET"
"""
BAD_KEY = "org.apache.rocketmq.acl.common.AclException: [10015:signature-failed] no"
PREFIX = "mqproof.r1."
CANARY = "mqproof-canary_"


def topology(*tables: str, source: str = "") -> Topology:
    return read_topology("shop", source or text(*tables), SYSTEMS)


def stood(of: Topology) -> tuple[FakeRocket, ForeignRockets]:
    """Servers that are as their file says, and what asks them."""
    layout = layout_of(of)
    made = FakeRocket(layout)
    access = Access(topology=of, agent=made, login=("", ""), ours=lambda: (PREFIX,))
    return made, ForeignRockets(access, layout, lambda one, _: FixedRoles(one))


async def rows(of: ForeignRockets) -> list[Examined]:
    return [one async for one in of.examined()]


def bad(found: Sequence[Examined]) -> list[Examined]:
    return [one for one in found if one.remedy]


def test_a_topology_declares_what_a_layout_file_would() -> None:
    layout = layout_of(topology())
    system = load_system("reference-2m2s")
    guarantees, servers = system.guarantees(layout), system.servers(layout)
    assert (layout.label, layout.copies, layout.synchronise) == ("shop@T=6", 2, "automatic")
    assert (guarantees.masters, guarantees.confirm_waits_for_mirrors) == (2, True)
    assert guarantees.confirm_waits_for_disk is False
    assert servers.places == ("rkt1", "rkt2", "rkt3", "rkt4", "names1", "names2")
    assert (servers.by_names, len(servers.logs)) == (False, 4)


@in_a_loop
async def test_a_cluster_that_matches_its_file_passes_untouched() -> None:
    made, theirs = stood(topology())
    before = {server: set(names) for server, names in made.topics.items()}
    found = await rows(theirs)
    assert bad(found) == []
    assert Examined("topics of runs", "create, send, read and delete work", "") in found
    assert found[-1].found == "4 brokers at every name server; every slave has what its master has"
    masters = {server: before[server] for server in made.brokers if server.id == 0}
    assert {server: made.topics[server] for server in masters} == masters
    assert {topic.startswith(CANARY) for _, topic in made.sent} == {True}
    assert [host for host, _ in made.deleted_routes] == ["names1", "names2"]


@in_a_loop
async def test_each_contradiction_names_the_server_and_the_remedy() -> None:
    made, theirs = stood(topology())
    made.hidden.add(("names1", "broker-a-1"))
    made.ids[made.server("broker-b-1")] = 3
    made.strangers.append(replace(made.server("broker-b-0"), group="broker-c", address="10.9.9.9"))
    found = {one.found: one.remedy for one in bad(await rows(theirs))}
    missing = "rkt2 (broker-a slave 1 at 10.0.1.1:10911) is not registered at names1"
    assert "is names1 in its `namesrvAddr`" in found[missing]
    other = "names2 shows broker-b slave 3 at 10.0.1.3:10911, and rkt4 is broker-b slave 1"
    assert any(one.startswith(other) for one in found)
    stranger = "names2 shows broker-c master at 10.9.9.9:10911, which the file does not name"
    assert "add a [[broker]] table" in found[stranger]
    assert made.sent == [], "a topic was tried on a cluster that is another one"


@in_a_loop
async def test_configurations_that_contradict_the_file_are_reported() -> None:
    source = text().replace("reference-2m2s", "rocketmq-2m2s")
    source = source.replace('replication = "sync"', 'replication = "async"\nversion = "5.3.3"')
    _, theirs = stood(topology(source=source))
    found = await theirs.contradictions()
    assert "rkt1 has brokerRole = SYNC_MASTER, and by the file ASYNC_MASTER" in found
    assert "rkt4 has version 4.9.7, and 5.3.3 in the file" in found
    assert len(found) == 6


@pytest.mark.parametrize(
    ("version", "in_sync", "found"), [("5.3.3", "1", 1), ("5.3.3", "2", 0), ("4.9.7", "1", 0)]
)
def test_sync_of_version_5_needs_every_replica_in_sync(
    version: str, in_sync: str, found: int
) -> None:
    source = (
        text()
        .replace("reference-2m2s", "rocketmq-2m2s")
        .replace("flush =", f'version = "{version}"\nflush =')
    )
    of = topology(source=source)
    settings = {"brokerRole": "SYNC_MASTER", "inSyncReplicas": in_sync}
    wrong = list(looks.configured(of, own(of).servers[0], settings))
    assert len(wrong) == found
    assert all("set inSyncReplicas = 2 on the master" in one.remedy for one in wrong)


@in_a_loop
async def test_silent_name_servers_are_reported_with_their_addresses() -> None:
    made, theirs = stood(topology())
    made.dead.add("names1 name-server")
    found = {one.what: one for one in await rows(theirs)}
    assert "start it, or correct `address`" in found["names1: brokers"].remedy
    made.dead.add("names2 name-server")
    (row,) = await rows(theirs)
    assert "no name server answers: names1 (10.0.0.1:9876), names2 (10.0.0.2:9876)" in row.found
    with pytest.raises(DeployError, match="no name server answers"):
        await theirs.contradictions()


@in_a_loop
async def test_a_refused_access_key_is_explained_before_a_run() -> None:
    made, theirs = stood(topology(ACL))
    made.denied[Code.GET_ALL_TOPIC_CONFIG] = BAD_KEY
    refused = await theirs.refusals()
    assert [one.text.partition(" ")[0] for one in refused] == ["rkt1", "rkt2", "rkt3", "rkt4"]
    assert "signature-failed" in refused[0].text
    assert refused[0].place.endswith(".toml, [credentials]")
    keys = "what $SHOP_ACCESS and $SHOP_SECRET hold must be the keys of an account"
    assert keys in refused[0].advice
    made, theirs = stood(topology())
    made.denied[Code.GET_ALL_TOPIC_CONFIG] = BAD_KEY
    (first, *_) = await theirs.refusals()
    assert "name the variables of an account in [credentials]" in first.advice


@pytest.mark.parametrize(
    ("code", "words", "right"),
    [
        (Code.UPDATE_AND_CREATE_TOPIC, "create a topic", "`admin: true`"),
        (Code.SEND_MESSAGE_V2, "take a message", "PUB on the topic"),
        (Code.PULL_MESSAGE, "give a message", "SUB on the topic and the group"),
        (Code.DELETE_TOPIC_IN_BROKER, "delete the topic", "`admin: true`"),
    ],
)
@in_a_loop
async def test_a_missing_permission_is_named(code: Code, words: str, right: str) -> None:
    made, theirs = stood(topology(ACL))
    made.denied[code] = "org.apache.rocketmq.acl.common.AclException: No permission"
    (row,) = bad(await rows(theirs))
    assert (row.what, row.found.partition(" refuses to ")[0]) == ("topics of runs", "rkt1")
    assert f"refuses to {words}: org.apache" in row.found
    needed = f"the account of $SHOP_ACCESS in the brokers' conf/plain_acl.yml needs {right}"
    assert row.remedy.startswith(needed)
    (problem,) = await theirs.rights()
    assert (problem.text, problem.advice) == (row.found, row.remedy)
    assert problem.place.endswith(".toml, [credentials]")
    left = [name for name in made.topics[made.server("broker-a-0")] if name.startswith(CANARY)]
    assert bool(left) is (code is Code.DELETE_TOPIC_IN_BROKER)


@in_a_loop
async def test_topics_of_runs_and_trials_are_deleted() -> None:
    made, theirs = stood(topology())
    await theirs.broker.declare(f"{PREFIX}orders", True, "rkt1")
    assert {topic for _, topic in made.sent} == {"mqproof_r1_orders_TRIAL"}
    theirs_own = "somebody_elses"
    for names in made.topics.values():
        names.add(theirs_own)
    await theirs.remove_queues()
    assert all(names == {"SELF_TEST_TOPIC", theirs_own} for names in made.topics.values())


GROUPS = """
system = "rocketmq-dledger"
version = "4.9.7"
idle = "120 s"
[[name_server]]
host = "names1"
address = "10.0.0.1:9876"
"""
MEMBER = """
[[broker]]
host = "rkt{0}"
group = "shop"
id = {0}
address = "10.0.1.{0}:10911"
peer_port = 40911
"""


def group_of(members: int) -> str:
    return GROUPS + "".join(MEMBER.format(number) for number in range(members))


@in_a_loop
async def test_members_of_a_group_report_leaders_at_peer_ports() -> None:
    of = topology(source=group_of(3))
    layout = layout_of(of)
    servers = load_system("rocketmq-dledger").servers(layout)
    first = servers.voters[0]
    assert (first.host, first.id, first.peer) == ("rkt0", "n0", "n1")
    assert {one.votes_at for one in of.brokers} == {40911}
    made = FakeRocket(layout)
    made.leads(made.server("shop-1"))
    access = Access(topology=of, agent=made, login=("", ""), ours=lambda: (PREFIX,))
    theirs = ForeignRockets(access, layout, Members)
    assert bad(await rows(theirs)) == []
    own_id = {"dLegerSelfId": "n2", "enableDLegerCommitLog": "false"}
    found = [one.text for one in looks.configured(of, own(of).servers[0], own_id)]
    assert found == [
        "rkt0 has enableDLegerCommitLog = false, and by the file true",
        "rkt0 has dLegerSelfId = n2, and by the file n0",
    ]


def test_a_group_of_two_is_refused() -> None:
    with pytest.raises(PlanError, match="'shop' has 2 members: fewer than 3 survive nothing"):
        topology(source=group_of(2))
