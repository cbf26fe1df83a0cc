"""`mqproof up` of two clusters of one system in containers: status, a fault on one, down."""

import re
from collections.abc import Iterator
from pathlib import Path

import pika
import pytest

from harness.by_hand.requests import KeptClusters
from harness.cli import main
from harness.deploy.by_hand_files import ByHandCluster, ReachablePort
from tests.docker.by_hand_clusters import up_by_hand
from tests.docker.conftest import require_docker

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("own_state")]

SYSTEM, QUEUE = "rabbitmq-quorum", "orders"
WORDS = (f"{SYSTEM}:three@T=60", f"{SYSTEM}:three-pause-minority@T=60")
LOOKS = 10


@pytest.fixture(scope="module")
def kept(states: Path) -> Iterator[KeptClusters]:
    """Both clusters, each with the queue."""
    require_docker(SYSTEM)
    with up_by_hand(states, *WORDS) as clusters:
        for cluster in clusters_of(clusters):
            confirmed(client_ports(cluster)[0])
        yield clusters


def clusters_of(kept: KeptClusters) -> tuple[ByHandCluster, ...]:
    assert kept.clusters is not None
    return kept.clusters.clusters


def client_ports(cluster: ByHandCluster) -> list[ReachablePort]:
    return [port for port in cluster.ports if port.clients]


def confirmed(port: ReachablePort) -> None:
    """Declare the queue and publish one message to it; an unconfirmed one raises."""
    parameters = pika.ConnectionParameters(port.address, port.port)
    with pika.BlockingConnection(parameters) as connection:
        channel = connection.channel()
        channel.queue_declare(QUEUE, durable=True, arguments={"x-queue-type": "quorum"})
        channel.confirm_delivery()
        channel.basic_publish("", QUEUE, b"one", mandatory=True)


def clean_again() -> bool:
    """Whether `status` soon finds both clean; each look waits some seconds for that."""
    return any(main(["status"]) == 0 for _ in range(LOOKS))


def test_both_clusters_have_hosts_and_ports_of_their_own(kept: KeptClusters) -> None:
    first, second = clusters_of(kept)
    assert [f"{one.system}:{one.layout}" for one in (first, second)] == list(WORDS)
    hosts = [{port.host for port in one.ports} for one in (first, second)]
    names = [{f"{SYSTEM}-{n}-rqq{host}" for host in (1, 2, 3)} for n in (1, 2)]
    assert hosts == names
    ways = [(port.address, port.port) for one in (first, second) for port in one.ports]
    assert len(set(ways)) == len(ways)


def test_status_shows_each_cluster(kept: KeptClusters, capfd: pytest.CaptureFixture[str]) -> None:
    assert clean_again()
    shown = capfd.readouterr().out
    for one in clusters_of(kept):
        assert f"{one.system} {one.layout}: clean" in shown


def test_a_fault_strikes_the_named_cluster_alone(
    kept: KeptClusters, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ("fault", "freeze", f"leader of {QUEUE}", "--for", "4 s")
    for unclear in ((), ("--system", SYSTEM)):
        assert main([*words, *unclear]) == 254  # both have the queue
        refused = capfd.readouterr().err
        assert all(word in refused for word in WORDS)
    assert main([*words, "--system", WORDS[1]]) == 0
    shown = capfd.readouterr().out
    assert re.search(rf"injected freeze {SYSTEM}-2-rqq\d \(leader of {QUEUE}\)", shown), shown
    assert "verified active: the process is frozen" in shown
    assert f"{SYSTEM}-1-" not in shown
    assert clean_again()
    for one in clusters_of(kept):
        confirmed(client_ports(one)[0])
