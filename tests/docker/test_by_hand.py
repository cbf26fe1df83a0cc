"""`mqproof up` in containers: brokers and references side by side, reached from this machine."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pika
import pytest

from harness.by_hand import requests
from harness.by_hand.requests import KeptClusters
from harness.cli import main
from harness.deploy.by_hand_files import ByHandCluster, ReachablePort
from harness.workers.agent_calls.remoting import greeted
from tests.docker.by_hand_clusters import up_by_hand
from tests.docker.conftest import require_docker

pytestmark = [pytest.mark.docker, pytest.mark.usefixtures("own_state")]

QUEUE = "orders"
BROKER = "rocketmq-2m2s-rkt1/broker-a-0"
SYSTEMS = ("rabbitmq-mirrored", "rocketmq-2m2s", "reference-mirrored", "reference-2m2s")


@pytest.fixture(scope="module")
def kept(states: Path) -> Iterator[KeptClusters]:
    """What `mqproof up` starts by default."""
    require_docker(*SYSTEMS)
    with up_by_hand(states) as clusters:
        yield clusters


def of(kept: KeptClusters, system: str) -> ByHandCluster:
    assert kept.clusters is not None
    return next(one for one in kept.clusters.clusters if one.system == system)


def port_of(cluster: ByHandCluster, place: str) -> ReachablePort:
    return next(port for port in cluster.ports if port.place == place and port.clients)


@pytest.mark.parametrize(
    ("system", "host"), [("rabbitmq-mirrored", "rmq1"), ("reference-mirrored", "ref1")]
)
def test_a_client_of_this_machine_gets_a_confirm(
    kept: KeptClusters, system: str, host: str
) -> None:
    port = port_of(of(kept, system), host)
    parameters = pika.ConnectionParameters(port.address, port.port)
    with pika.BlockingConnection(parameters) as connection:
        channel = connection.channel()
        channel.queue_declare(QUEUE, durable=True)
        channel.confirm_delivery()
        channel.basic_publish("", QUEUE, b"one", mandatory=True)


@pytest.mark.parametrize("system", ["rocketmq-2m2s", "reference-2m2s"])
def test_every_server_answers_at_its_name_and_port(kept: KeptClusters, system: str) -> None:
    cluster = of(kept, system)
    lines = Path(cluster.hosts_file).read_text(encoding="ascii").splitlines()
    assert {f"{port.address} {port.host}" for port in cluster.ports} < set(lines)
    for port in cluster.ports:
        asyncio.run(greeted(port.address, port.port))


def test_a_fault_strikes_the_meant_cluster_alone(
    kept: KeptClusters, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ("fault", "freeze", f"master of {QUEUE}", "--for", "4 s")
    assert main(words) == 254  # both RabbitMQ and its reference have the queue
    assert "name one by --system" in capfd.readouterr().err
    assert main([*words, "--system", "rabbitmq-mirrored"]) == 0
    assert "verified active: the process is frozen" in capfd.readouterr().out
    assert main(["fault", "kill", BROKER, "--for", "2 s"]) == 0
    assert f"injected kill {BROKER}" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("system", "scenario"),
    [
        ("rabbitmq-mirrored", "master-crash"),
        pytest.param("rocketmq-2m2s", "master-crash", marks=pytest.mark.nightly),
    ],
)
def test_a_run_uses_the_clusters_and_leaves_them_clean(
    kept: KeptClusters, tmp_path: Path, system: str, scenario: str
) -> None:
    words = ("run", scenario, "--on-standing", "--system", system, "--results", str(tmp_path))
    main([*words, "--judge", "claims"])
    (found,) = tmp_path.rglob("verdict.json")
    (one,) = json.loads(found.read_text(encoding="utf-8"))["runs"]
    assert one["judged"]
    assert one["summary"]["faults_seen"] == one["summary"]["faults"] == 1
    assert not [path for path in tmp_path.rglob("*") if path.is_symlink()]
    assert main(["status"]) == 0
    assert requests.kept() == (kept,)
