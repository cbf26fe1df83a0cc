"""Unmodified Java clients that must ask a certain name server, and what they tell of their route.

Against two real name servers and a broker: which one a library chooses is chance, so each story
takes the libraries that it happens to need.
"""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from signal import SIGCONT, SIGSTOP

import pytest

from harness.plan.clients.rocketmq_section import SECTION, RocketWorkload
from harness.systems.catalogue import load_layout, load_system
from harness.workers.clients.rocketmq.options import RocketOptions
from harness.workers.protocol import Endpoint, Role, WorkerConfig
from spark_analysis.schema import tables
from spark_analysis.schema.words import Outcome
from tests.rigs.rocketmq.clusters import Cluster, pair, with_slave
from tests.rigs.rocketmq.needs import require_client, require_servers
from tests.rigs.workers.rig import rows, until
from tests.rigs.workers.rocketmq_worlds import LIMIT_S, World, delivered, events, publish, worker

pytestmark = pytest.mark.slow

VERSION = "4.9.7"
HOSTS = ("host1", "host2")
# 5.0 to 5.2 keep a connection to each name server, and ask one.
CLIENTS = [
    "rocketmq-java-4.9.0",
    pytest.param("rocketmq-java-4.9.8", marks=pytest.mark.nightly),
    pytest.param("rocketmq-java-5.2.0", marks=pytest.mark.nightly),
    pytest.param("rocketmq-java-5.3.3", marks=pytest.mark.nightly),
]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    require_servers(VERSION)
    with pair(VERSION, tmp_path_factory.mktemp("attaching"), name_servers=2) as made:
        yield made


def settings(here: World, role: Role, options: RocketOptions, name: str) -> WorkerConfig:
    ports = [one.port for one in here.servers.name_servers]
    way = tuple(Endpoint(*one) for one in zip(HOSTS, ("127.0.0.1",) * 2, ports, strict=True))
    more = {"rate": 20.0, "confirm_window": 4} if role is Role.PUBLISHER else {"acknowledge": 1}
    log = str(here.folder / name)
    return here.settings(role, options, endpoints=way, log=log, connection_name=name, **more)


def attached_to(settings: WorkerConfig) -> list[str]:
    return [detail for kind, detail in events(settings) if kind == "attached"]


@pytest.mark.parametrize("client", CLIENTS)
def test_clients_attach_to_their_configured_name_server_and_stay(
    tmp_path: Path, servers: Cluster, client: str
) -> None:
    require_client(client)
    here = World.make(servers, client, tmp_path)
    for host in HOSTS:
        options = RocketOptions(
            producer="sync",
            send_timeout_ms=20_000,
            producer_settings=(("sendLatencyFaultEnable", "true"),),
            publishers_attach=(host,),
            consumers_attach=(host,),
        )
        sending = settings(here, Role.PUBLISHER, options, f"to-{host}")
        reading = settings(here, Role.CONSUMER, options, f"from-{host}")

        async def story(sending: WorkerConfig = sending, reading: WorkerConfig = reading) -> None:
            async with worker(reading) as process:
                await publish(sending, 60)  # for three seconds, so that they might move
                await delivered(process, 60)

        asyncio.run(story())
        assert {row["outcome"] for row in rows(sending, tables.SETTLEMENTS)} == {Outcome.CONFIRMED}
        for one in (sending, reading):
            elsewhere = [detail for kind, detail in events(one) if kind == "attached elsewhere"]
            print(client, one.connection_name, attached_to(one), elsewhere)
            assert attached_to(one) == [host]
            assert all(f", not {host}: try " in detail for detail in elsewhere)
            route = f"broker-a master at 127.0.0.1:{servers['broker-a-0'].port}"
            assert ("route", route) in events(one)


@pytest.mark.parametrize("client", CLIENTS)
def test_client_reports_brokers_added_to_and_removed_from_its_route(
    tmp_path: Path, servers: Cluster, client: str
) -> None:
    require_client(client)
    here = World.make(servers, client, tmp_path)
    # It polls each second, so that what it learns comes soon.
    options = RocketOptions(producer="sync", settings=(("pollNameServerInterval", "1000"),))
    sending = settings(here, Role.PUBLISHER, options, "watching")
    master = f"broker-a master at 127.0.0.1:{servers['broker-a-0'].port}"

    def routes() -> list[str]:
        return [detail for kind, detail in events(sending) if kind == "route"]

    async def story() -> str:
        async with worker(sending) as process:
            process.say(do="start", at_ns=time.monotonic_ns())
            await until(lambda: routes() == [master], "its first route", LIMIT_S)
            slave = with_slave(servers, tmp_path)
            both = f"{master}; broker-a slave 1 at 127.0.0.1:{slave.port}"
            try:
                await until(lambda: routes() == [master, both], "the slave", LIMIT_S)
            finally:
                slave.kill()
                del servers.servers[slave.name]
            await until(lambda: routes() == [master, both, master], "its end", LIMIT_S)
            process.say(do="stop_load")
            return both

    both = asyncio.run(story())
    assert routes() == [master, both, master]


def remedied(close: bool | None) -> RocketOptions:
    """As a scenario's section says it; it polls each second, so that what it does comes soon."""
    layout = load_layout("rocketmq-2m2s", "colocated@default")
    servers = load_system("rocketmq-2m2s").servers(layout)
    own = RocketWorkload(send="sync", publishers_attach=("host2",), close_socket_if_timeout=close)
    options = RocketOptions.from_json(SECTION.worker_options(own, servers))
    return replace(options, settings=(("pollNameServerInterval", "1000"),))


def test_only_socket_keeping_clients_stay_with_a_hung_name_server(
    tmp_path: Path,
) -> None:
    """4.9.8: seeds/001 with its remedy, and with the remedy taken away."""
    client = "rocketmq-java-4.9.8"
    require_client(client)
    require_servers(VERSION)
    with pair(VERSION, tmp_path / "servers", name_servers=2) as made:
        here = World.make(made, client, tmp_path)
        closing = settings(here, Role.PUBLISHER, remedied(None), "closing")
        keeping = settings(here, Role.PUBLISHER, remedied(False), "keeping")

        async def story() -> None:
            async with worker(closing), worker(keeping):
                hung_s = time.monotonic()
                made["ns2"].signal(SIGSTOP)
                try:
                    await until(lambda: attached_to(closing)[-1] == "host1", "the other", LIMIT_S)
                    # As long again, and a call's own limit: it would have gone by then.
                    await asyncio.sleep(time.monotonic() - hung_s + 4.0)
                finally:
                    made["ns2"].signal(SIGCONT)

        asyncio.run(story())
    assert attached_to(closing)[0] == "host2" and attached_to(closing)[-1] == "host1"
    assert attached_to(keeping) == ["host2"]


@pytest.mark.parametrize("first", HOSTS)
def test_the_native_client_connects_first_to_its_configured_name_server(
    tmp_path: Path, servers: Cluster, first: str
) -> None:
    client = "rocketmq-native"
    require_client(client)
    here = World.make(servers, client, tmp_path)
    options = RocketOptions(producer="sync", publishers_attach=(first,))
    sending = settings(here, Role.PUBLISHER, options, "native")
    asyncio.run(publish(sending, 40))
    assert [whom for whom in attached_to(sending) if whom] == [first]
