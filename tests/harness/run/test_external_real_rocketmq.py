"""Whole runs on real RocketMQ servers that mqproof did not start: with access control, of version
5, and as a group that elects its leader."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from harness.deploy.external.site import noted
from harness.plan.clients.requirements import chosen_client
from harness.plan.layouts.topology import Topology
from harness.plan.model import RunPlan
from harness.run_folder.seal import seal
from harness.systems.catalogue import load_system
from harness.systems.files import compose_folder
from harness.systems.topologies import layout_of, read_topology
from spark_analysis.schema.facts import Facts
from spark_analysis.schema.tables import FAULTS
from tests.oracle.judge import judge
from tests.rigs.clusters.external import performed
from tests.rigs.clusters.external_rocketmq import name_server
from tests.rigs.clusters.topologies import command
from tests.rigs.rocketmq.clusters import MEMBERS_BELOW, Cluster, group, pair
from tests.rigs.rocketmq.launcher import HERE, Server
from tests.rigs.rocketmq.needs import require_servers
from tests.rigs.runs.log_rows import read_rows
from tests.rigs.runs.plans import fault, plan
from tests.rigs.runs.run_folders import rows_of

pytestmark = [pytest.mark.slow, pytest.mark.long]

Stand = Callable[[AbstractContextManager[Cluster]], Cluster]
LONGER_THAN_A_LOOK_S = 6.0
LIMIT_S = 240
ACCESS_KEY, SECRET_KEY = "shopkey", "shopsecret"
ACCOUNTS = f"""
globalWhiteRemoteAddresses: []
accounts:
  - accessKey: {ACCESS_KEY}
    secretKey: {SECRET_KEY}
    admin: true
"""
CREDENTIALS = """
[credentials]
access_key = "SHOP_ACCESS_KEY"
secret_key = "SHOP_SECRET_KEY"
"""
ALONE = 'replication = "async"\nflush = "async"'


def topology(of: Cluster, system: str, more: str = "") -> Topology:
    """The file that the owner of this cluster would write."""
    head = f'system = "{system}"\nversion = "{of.version}"\nidle = "120 s"\n{more}'
    servers = [name_server(n, f"{HERE}:{one.port}") for n, one in enumerate(of.name_servers, 1)]
    brokers = [one for one in of.servers.values() if one.is_broker]
    servers += [broker(number, one, system) for number, one in enumerate(brokers)]
    return read_topology("shop", "\n".join([head, *servers]), (system,))


def broker(number: int, server: Server, system: str) -> str:
    assert server.process is not None
    pid = str(server.process.pid)
    stopped = ["grep", "-q", "^State:.T", f"/proc/{pid}/status"]
    words = {"do": ["kill", "-STOP", pid], "undo": ["kill", "-CONT", pid], "verify": stopped}
    peers = f"peer_port = {server.port - MEMBERS_BELOW}\n" if system.endswith("dledger") else ""
    return f"""
[[broker]]
host = "rkt{number + 1}"
group = "broker-a"
id = {number}
address = "{HERE}:{server.port}"
{peers}
{command("freeze", words)}
"""


def played(of: Topology, client: str) -> RunPlan:
    frozen = plan(fault("freeze", "master of orders"), lasts_s=LONGER_THAN_A_LOOK_S)
    return replace(
        frozen,
        system=load_system(of.system),
        layout=layout_of(of),
        deployment="external",
        client=chosen_client(client),
    )


def assert_nothing_lost(of: RunPlan, folder: Path) -> None:
    """Performs the run: its fault was verified and ended, and every confirmed message is there."""
    asyncio.run(asyncio.wait_for(performed(of, folder), LIMIT_S))
    own = folder / "runs" / of.name
    manifest = seal(own)
    assert manifest.failure == ""
    assert manifest.facts is not None
    counts = judge(Facts.from_json(manifest.facts), rows_of(own)).counts
    counted = {row.measure: row.count for row in counts}
    assert "lost" not in counted
    assert counted["state"] > 0
    faults = list(read_rows(own / "logs" / "harness", FAULTS))
    assert [row["ok"] for row in faults if row["event"] in ("verified", "gone")] == [1, 1]
    assert [end.unreadable for end in manifest.queues] == [()]
    assert noted() == ()


@pytest.fixture
def stand() -> Iterator[Stand]:
    """Somebody's cluster, ended after the test."""
    with ExitStack() as until_the_end:
        yield until_the_end.enter_context


def guarded(folder: Path) -> Path:
    """The home of a broker that lets one account in."""
    home = folder / "home"
    shutil.copytree(compose_folder() / "rocketmq" / "conf", home / "conf")
    (home / "conf" / "plain_acl.yml").write_text(ACCOUNTS)
    return home


def test_a_broker_with_access_control_loses_nothing_when_it_stands_still(
    tmp_path: Path,
    stand: Stand,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_servers("4.9.7")
    monkeypatch.setenv("SHOP_ACCESS_KEY", ACCESS_KEY)
    monkeypatch.setenv("SHOP_SECRET_KEY", SECRET_KEY)
    cluster = stand(pair("4.9.7", tmp_path / "own", home=guarded(tmp_path), aclEnable="true"))
    of = topology(cluster, "rocketmq-2m2s", ALONE + CREDENTIALS)
    assert_nothing_lost(played(of, "rocketmq-python-4.9.8"), tmp_path)


def test_a_broker_with_access_control_refuses_a_file_without_keys(
    tmp_path: Path, stand: Stand
) -> None:
    require_servers("4.9.7")
    cluster = stand(pair("4.9.7", tmp_path / "own", home=guarded(tmp_path), aclEnable="true"))
    of = played(topology(cluster, "rocketmq-2m2s", ALONE), "rocketmq-python-4.9.8")
    with pytest.raises(Exception, match=r"access_key\s+and secret_key"):
        asyncio.run(asyncio.wait_for(performed(of, tmp_path), LIMIT_S))


def test_a_broker_of_version_5_loses_nothing_when_it_stands_still(
    tmp_path: Path, stand: Stand
) -> None:
    require_servers("5.3.3")
    of = topology(stand(pair("5.3.3", tmp_path / "own")), "rocketmq-2m2s", ALONE)
    assert_nothing_lost(played(of, "rocketmq-python-5.3.3"), tmp_path)


def test_a_real_dledger_group_loses_nothing_when_its_leader_stands_still(
    tmp_path: Path, stand: Stand
) -> None:
    require_servers("4.9.7")
    of = topology(stand(group(tmp_path / "own", version="4.9.7")), "rocketmq-dledger")
    assert_nothing_lost(played(of, "rocketmq-python-4.9.8"), tmp_path)
