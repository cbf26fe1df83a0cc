"""Workers that know brokers by name: an address for each, a listener there for each server."""

from typing import Any

import pytest

from harness.cluster.agent import AgentProxyError
from harness.cluster.port import DeployError
from harness.systems.catalogue import load_layout
from harness.systems.rocketmq.core.layout import brokers, servers
from harness.systems.rocketmq.links import RocketLinks
from tests.rigs.machine.loops import in_a_loop

LAYOUT = load_layout("rocketmq-2m2s", "colocated")
ADDRESSES = {host.name: f"10.1.1.{11 + place}" for place, host in enumerate(LAYOUT.hosts)}


class FakeProxy:
    """Toxiproxy's listeners: where they are and where they lead. It has `late` addresses later."""

    def __init__(self, late: int = 0) -> None:
        self.listeners: dict[str, tuple[str, str]] = {}
        self._late = late

    async def call(self, name: str, /, timeout_s: float, **arguments: Any) -> dict[str, Any]:
        assert timeout_s > 0
        if name == "proxy_delete":
            gone = [one for one in self.listeners if one.startswith(arguments["prefix"])]
            for one in gone:
                del self.listeners[one]
            return {"deleted": gone}
        if arguments["listen"] and self._late:
            self._late -= 1
            raise AgentProxyError("cannot assign requested address")
        listen = arguments["listen"] or "0.0.0.0:40001"
        assert listen not in {place for place, _ in self.listeners.values()}, "in use"
        self.listeners[arguments["name"]] = (listen, arguments["upstream"])
        return {"port": int(listen.rpartition(":")[2])}


def links(proxy: FakeProxy, free: int = 2) -> RocketLinks:
    ways = [f"10.1.1.{210 + number}" for number in range(free)]
    return RocketLinks(proxy, "10.1.1.200", ways, servers(LAYOUT.hosts), ADDRESSES, ())


@in_a_loop
async def test_a_prober_queries_voters_only_where_they_exist() -> None:
    layout = load_layout("rocketmq-dledger", "colocated")
    addresses = {host.name: host.name for host in layout.hosts}
    proxy, every = FakeProxy(), servers(layout.hosts)
    ways = RocketLinks(
        proxy, "10.1.1.200", ["10.1.1.210", "10.1.1.211"], every, addresses, brokers(layout.hosts)
    )
    made = await ways.make("r1", "prober-orders")
    assert [(one.process, one.endpoint.port) for one in made if one.votes] == [
        ("broker-a-0", 10916),
        ("broker-a-1", 10926),
        ("broker-a-2", 10936),
    ]
    assert proxy.listeners["mqproof.r1.prober-orders.rkd3.broker-a-2.votes"] == (
        "10.1.1.210:10936",
        "rkd3:10936",
    )
    assert not [one for one in await ways.make("r1", "publisher-1") if one.votes]


@in_a_loop
async def test_worker_reaches_every_server_at_its_port_on_one_address() -> None:
    proxy = FakeProxy()
    made = await links(proxy).make("r1", "publisher-1")
    assert [(link.host, link.process, link.endpoint.port) for link in made] == [
        ("rkt1", "name-server", 9876),
        ("rkt1", "broker-a-0", 10911),
        ("rkt2", "name-server", 9877),
        ("rkt2", "broker-b-0", 10921),
        ("rkt3", "broker-a-1", 10931),
        ("rkt4", "broker-b-1", 10941),
    ]
    assert {link.endpoint.address for link in made} == {"10.1.1.210"}
    assert proxy.listeners["mqproof.r1.publisher-1.rkt4.broker-b-1"] == (
        "10.1.1.210:10941",
        "10.1.1.14:10941",
    )


@in_a_loop
async def test_workers_share_no_address_and_finished_runs_release_theirs() -> None:
    proxy = FakeProxy()
    ways = links(proxy)
    for worker in ("publisher-1", "consumer-1"):
        await ways.make("r1", worker)
    assert ways.names_mean("publisher-1") != ways.names_mean("consumer-1")
    with pytest.raises(DeployError, match="prober-1 has no address left: 2 workers have them all"):
        await ways.make("r1", "prober-1")
    await ways.remove("r1")
    assert not proxy.listeners
    assert ways.names_mean("publisher-1") is None
    await ways.make("r2", "publisher-1")
    assert ways.names_mean("publisher-1") is not None


@in_a_loop
async def test_missing_proxy_address_is_awaited() -> None:
    ways = links(FakeProxy(late=3))
    assert len(await ways.make("r1", "publisher-1")) == 6


@in_a_loop
async def test_a_listener_is_dialled_where_its_worker_dials_it() -> None:
    ways = links(FakeProxy())
    for link in await ways.make("r1", "consumer-1"):
        assert ways.dial(link.proxy) == (link.endpoint.address, link.endpoint.port)


@in_a_loop
async def test_auditor_link_leads_to_its_broker_and_is_made_once() -> None:
    proxy = FakeProxy()
    ways = links(proxy)
    first, again = await ways.direct("rkt1"), await ways.direct("rkt1")
    assert first == again
    assert (first.host, first.address, first.port) == ("rkt1", "10.1.1.200", 40001)
    assert proxy.listeners == {"mqproof-direct.rkt1": ("0.0.0.0:40001", "10.1.1.11:10911")}


@in_a_loop
async def test_a_host_without_a_broker_has_nothing_to_be_read() -> None:
    separated = load_layout("rocketmq-2m2s", "separated")
    ways = RocketLinks(FakeProxy(), "10.1.1.200", [], servers(separated.hosts), ADDRESSES, ())
    with pytest.raises(DeployError, match="rkt5 has no broker"):
        await ways.direct("rkt5")
