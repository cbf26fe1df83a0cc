"""A DLedger group of brokers and a name server in the simulated world, and a client."""

import json

from reference_impl.rocketmq.broker.server import BrokerServer
from reference_impl.rocketmq.effects import MEMBERS, REMOTING, Server
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.settings import BrokerSettings
from reference_impl.rocketmq.simulator.world import Host, World
from reference_impl.rocketmq.store import records
from reference_impl.rocketmq.store.records import Record
from tests.reference_impl.rocketmq.talking import (
    NS_ADDRESS,
    Client,
    name_server,
    pulling,
    sending,
    server_of,
)

NAMES = ("b0", "b1", "b2")
PEERS = ";".join(f"n{number}-{name}:40911" for number, name in enumerate(NAMES))
TICK_MS = 50


class BrokerGroupWorld:
    """Brokers b0, b1, b2, which are the members n0, n1, n2."""

    def __init__(self, seed: int, **settings: object) -> None:
        self.world = world = World(seed, TICK_MS)
        name_server(world)
        for number, name in enumerate(NAMES):
            config = BrokerSettings(
                broker_name="broker-a",
                broker_ip1=name,
                namesrv_addr=NS_ADDRESS,
                enable_d_leger_commit_log=True,
                d_leger_group="broker-a",
                d_leger_peers=PEERS,
                d_leger_self_id=f"n{number}",
                mapped_file_size_commit_log=1 << 16,
                mapped_file_size_consume_queue=20 << 10,
                **settings,  # type: ignore[arg-type]
            )
            world.add(name, self._boot(config), {10911: REMOTING, 40911: MEMBERS})
        self.client = Client(world)

    def masters(self) -> list[str]:
        """Brokers that take messages."""
        running = [name for name in NAMES if self.world.hosts[name].server is not None]
        return [name for name in running if not self.server(name)._parts.role.is_slave]

    def master(self, within_ms: float = 15_000, but: str = "") -> str:
        """The one there is, or will be."""
        end_ms = self.world.time.ms + within_ms
        while self.world.time.ms < end_ms:
            found = [name for name in self.masters() if name != but]
            if found:
                return found[0]
            self.world.run(100)
        raise AssertionError(f"no master within {within_ms} ms")

    def server(self, name: str) -> BrokerServer:
        return server_of(self.world, name)

    def route(self) -> dict[str, str]:
        """Addresses by number, as the name server shows them."""
        answer = self.client.ask(NS_ADDRESS, RequestCode.GET_BROKER_CLUSTER_INFO)
        table = json.loads(answer.body)["brokerAddrTable"]
        return dict(table.get("broker-a", {"brokerAddrs": {}})["brokerAddrs"])

    def send(self, name: str, body: bytes, queue: int = 0, **properties: str) -> Command:
        fields = sending("t", queue, **properties)
        return self.client.ask(f"{name}:10911", RequestCode.SEND_MESSAGE_V2, fields, body)

    def pull(self, name: str, queue: int = 0, offset: int = 0, topic: str = "t") -> list[Record]:
        """All there is from there on."""
        found = list[Record]()
        while True:
            fields = pulling(topic, queue, offset)
            answer = self.client.ask(f"{name}:10911", RequestCode.PULL_MESSAGE, fields)
            if answer.header.code != Code.SUCCESS:
                return found
            found += records_in(answer.body)
            offset = int(answer.header.fields["nextBeginOffset"])

    def _boot(self, config: BrokerSettings):  # type: ignore[no-untyped-def]
        def boot(host: Host) -> Server:
            return BrokerServer(config, host.clock, host.disk, self.world.dice)

        return boot


def records_in(octets: bytes) -> list[Record]:
    found = list[Record]()
    while octets:
        one = records.read(octets)
        assert isinstance(one, Record), one
        found.append(one)
        octets = octets[one.octets :]
    return found
