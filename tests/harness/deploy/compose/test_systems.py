"""What a cluster in containers is made of: containers by place, and parts by system."""

from typing import Any, cast

from harness.cluster.agent import AgentClient
from harness.deploy.compose.cluster import FoundContainers
from harness.deploy.compose.core import worker_ways
from harness.deploy.compose.deployment import with_addresses
from harness.deploy.images import containers_of
from harness.systems.catalogue import load_layout
from harness.systems.containers import ClusterAdapters, PlaceCommands, Stand
from harness.systems.rabbitmq.core.service_ports import AMQP_HEADER
from harness.systems.rocketmq.broker import RocketBroker
from harness.systems.rocketmq.core.service_ports import HELLO
from tests.rigs.machine.loops import in_a_loop

NO_ENGINE = cast(PlaceCommands, None)
NETWORK = "10.1.1"
OWN = ["python", "-m", "harness.workers", "publisher-1"]
PLACES = FoundContainers(
    {
        ("host", "rkt1", "rkt1-host"): "a",
        ("process", "rkt1", "rkt1-name-server"): "b",
        ("process", "rkt1", "rkt1-broker-a-0"): "c",
        ("host", "rkt3", "rkt3-host"): "d",
        ("process", "rkt3", "rkt3-broker-a-1"): "e",
        ("process", "balancer1", "balancer1"): "f",
        ("helper", "rkt1", ""): "g",
        ("proxy", "toxiproxy", "toxiproxy"): "h",
        ("workers", "workers", "workers"): "i",
    }
)


class FakeProxy:
    async def call(self, _name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        assert timeout_s > 0
        return {"port": int(arguments["listen"].rpartition(":")[2])}


def made(system: str, layout: str) -> ClusterAdapters:
    placed = with_addresses(load_layout(system, layout), NETWORK)
    addresses = {host.name: host.address for host in placed.hosts}
    stand = Stand(
        commands=NO_ENGINE,
        layout=placed,
        agent=cast(AgentClient, FakeProxy()),
        addresses=addresses,
        proxy=f"{NETWORK}.200",
        client_endpoint="",
        free=worker_ways.addresses(NETWORK),
    )
    return containers_of(system).parts(stand)


def command(parts: ClusterAdapters) -> list[str]:
    names = ["rkt1", "rkt2", "rkt3", "rkt4"]
    return worker_ways.command(names, parts.ways.names_mean("publisher-1"), OWN)


def test_each_process_on_a_shared_host_has_its_own_log() -> None:
    assert PLACES.logged() == {
        "rkt1-name-server": "b",
        "rkt1-broker-a-0": "c",
        "rkt3": "e",
        "balancer1": "f",
        "toxiproxy": "h",
    }


def test_all_processes_of_a_host_count_for_its_resource_use() -> None:
    """Sample them at the interval of the process that leads."""
    watched = {one.container: (one.host, one.leads) for one in PLACES.watched()}
    assert watched == {
        "a": ("rkt1", True),
        "b": ("rkt1", False),
        "c": ("rkt1", False),
        "d": ("rkt3", True),
        "e": ("rkt3", False),
        "f": ("balancer1", True),  # a host and its process in one
        "h": ("toxiproxy", True),
        "i": ("workers", True),
    }
    assert PLACES.one("workers") == "i"
    assert PLACES.one("host", "rkt3") == "d"


def test_mirrored_queue_brokers_share_one_port_and_keep_their_workers() -> None:
    found = made("rabbitmq-mirrored", "all-automatic")
    assert (found.service_ports.hello, found.service_ports.of("rmq2")) == (AMQP_HEADER, (5672,))
    assert command(found) == OWN


@in_a_loop
async def test_rocketmq_worker_resolves_names_to_its_own_listeners() -> None:
    found = made("rocketmq-2m2s", "colocated")
    assert isinstance(found.broker, RocketBroker)
    assert found.service_ports.hello == HELLO
    assert [found.service_ports.of(host) for host in ("rkt1", "rkt3")] == [(9876, 10911), (10931,)]
    assert command(found) == OWN  # it has no links yet
    links = await found.ways.make("r1", "publisher-1")
    words = command(found)
    address = links[0].endpoint.address
    table = next(word for word in words if "rkt1" in word)
    assert table.splitlines() == [f"{address} rkt{number}" for number in (1, 2, 3, 4)]
    assert words[-4:] == OWN
