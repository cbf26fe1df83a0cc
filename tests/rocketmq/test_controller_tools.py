"""Real tools, mqadmin of 5.3.3, ask name servers with control nodes as they ask controllers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rigs.rocketmq import clusters
from tests.rigs.rocketmq.clusters import Cluster
from tests.rigs.rocketmq.launcher import HERE
from tests.rigs.rocketmq.mqadmin import mqadmin
from tests.rigs.rocketmq.needs import require_servers

pytestmark = pytest.mark.slow

REAL = "5.3.3"
CONTROL_NODES = 3


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require_servers(REAL)
    with clusters.switched(tmp_path_factory.mktemp("tools")) as made:
        yield made


def _control_node(cluster: Cluster) -> str:
    peers = cluster["ns1"].settings["controlPeers"]
    return peers.partition(";")[0].partition("-")[2]


def test_the_leading_control_node_and_its_peers_are_shown(
    cluster: Cluster, tmp_path: Path
) -> None:
    said = mqadmin(REAL, tmp_path, "getControllerMetaData", "-a", _control_node(cluster))
    leader = re.search(r"^#ControllerLeaderId\s*(s\d)\s*$", said, re.MULTILINE)
    assert leader is not None, said
    assert len(re.findall(r"^#Peer:", said, re.MULTILINE)) == CONTROL_NODES, said


def test_the_sync_state_set_is_shown_with_its_master(cluster: Cluster, tmp_path: Path) -> None:
    words = ("getSyncStateSet", "-a", _control_node(cluster), "-b", "broker-a")
    said = mqadmin(REAL, tmp_path, *words)
    master = cluster[cluster.leader]
    assert re.search(rf"#MasterAddr\s+{HERE}:{master.port}\b", said), said
    assert re.search(r"#MasterEpoch\s+1\b", said), said
    for server in cluster.servers.values():
        assert (f"{HERE}:{server.port}" in said) is server.is_broker, said
