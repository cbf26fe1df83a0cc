"""Two brokers and three name servers with control nodes in the simulated world, and a client."""

import json
from collections.abc import Callable

import msgspec

from harness.workers.remoting.leaders import (
    Controllers,
    SyncState,
    read_controllers,
    read_sync_states,
)
from reference_impl.misbehave.lines import TruthLine
from reference_impl.rocketmq.broker.server import BrokerServer
from reference_impl.rocketmq.ctgmq.node import ControlNode
from reference_impl.rocketmq.ctgmq.settings import of_name_server
from reference_impl.rocketmq.effects import COPIES, MEMBERS, REMOTING, Server
from reference_impl.rocketmq.naming.server import NameServer
from reference_impl.rocketmq.remoting.codes import Code, RequestCode
from reference_impl.rocketmq.remoting.command import Command
from reference_impl.rocketmq.settings import BrokerSettings, BrokerTimes
from reference_impl.rocketmq.settings import NameServer as NameServerSettings
from reference_impl.rocketmq.simulator.world import Host, World
from reference_impl.rocketmq.store.records import Record
from tests.reference_impl.rocketmq.dledger.brokers import records_in
from tests.reference_impl.rocketmq.talking import Client, pulling, sending, server_of

NAMES = ("b1", "b2")
NAME_SERVERS = ("s0", "s1", "s2")
PEERS = ";".join(f"{name}-{name}:40911" for name in NAME_SERVERS)
ADDRESSES = ";".join(f"{name}:9876" for name in NAME_SERVERS)
TICK_MS = 50
SECRET = "a secret of sixteen octets"


class SwitchedBrokers:
    """Brokers b1 and b2 of one group, which have the topic `t` when one sends to it."""

    def __init__(self, seed: int = 1, without: str = "", **settings: object) -> None:
        """`without`: a rule that no server keeps; brokers admit what they cut then."""
        self._without = without
        self.world = world = World(seed, TICK_MS, kernels=True)
        for name in NAME_SERVERS:
            doors = {9876: REMOTING, 40911: MEMBERS}
            world.add(name, self._name_server(name), doors)
        for number, name in enumerate(NAMES, 1):
            times = settings.get("times", BrokerTimes(register_name_server_period=5_000))
            config = BrokerSettings(
                broker_name="broker-a",
                broker_id=number,
                broker_ip1=name,
                namesrv_addr=ADDRESSES,
                enable_ctgmq=True,
                peer_secret=SECRET,
                mapped_file_size_commit_log=1 << 16,
                mapped_file_size_consume_queue=20 << 10,
                replica_without=without,
                misbehave_truth="a file" if without else "",
                **(settings | {"times": times}),  # type: ignore[arg-type]
            )
            world.add(name, self._broker(config), {10911: REMOTING, 10912: COPIES})
        self.client = Client(world)

    def masters(self) -> list[str]:
        running = [name for name in NAMES if self.world.hosts[name].server is not None]
        return [name for name in running if not self.server(name)._parts.role.is_slave]

    def master(self, within_ms: float = 30_000, but: str = "") -> str:
        """The one there is, or will be."""
        end_ms = self.world.time.ms + within_ms
        while self.world.time.ms < end_ms:
            found = [name for name in self.masters() if name != but]
            if found:
                return found[0]
            self.world.run(50)
        raise AssertionError(f"no master within {within_ms} ms")

    def whole(self) -> str:
        """Wait until both are in the set; return the master."""
        master = self.master()
        for _ in range(600):
            replica = self.server(master)._parts.replica
            assert replica is not None
            if replica.state.members == ("1", "2"):
                return master
            self.world.run(50)
        raise AssertionError("the set is not whole")

    def server(self, name: str) -> BrokerServer:
        return server_of(self.world, name)

    def route(self, name_server: str = "s0") -> dict[str, str]:
        """Addresses by number, as a name server shows them."""
        code = RequestCode.GET_BROKER_CLUSTER_INFO
        table = json.loads(self.client.ask(f"{name_server}:9876", code).body)["brokerAddrTable"]
        return dict(table.get("broker-a", {"brokerAddrs": {}})["brokerAddrs"])

    def controllers(self, name_server: str) -> Controllers:
        code = RequestCode.CONTROLLER_GET_METADATA_INFO
        return read_controllers(self.client.ask(f"{name_server}:9876", code).header.fields)

    def sync_state(self, name_server: str) -> SyncState:
        code = RequestCode.CONTROLLER_GET_SYNC_STATE_DATA
        answer = self.client.ask(f"{name_server}:9876", code, body=b'["broker-a"]')
        return read_sync_states(answer.body)["broker-a"]

    def send(self, name: str, body: bytes, queue: int = 0, **properties: str) -> Command:
        fields = sending("t", queue, **properties)
        return self.client.ask(f"{name}:10911", RequestCode.SEND_MESSAGE_V2, fields, body)

    def pull(self, name: str, queue: int = 0, offset: int = 0) -> list[Record]:
        """All there is from there on."""
        found = list[Record]()
        while True:
            fields = pulling("t", queue, offset)
            answer = self.client.ask(f"{name}:10911", RequestCode.PULL_MESSAGE, fields)
            if answer.header.code != Code.SUCCESS:
                return found
            found += records_in(answer.body)
            offset = int(answer.header.fields["nextBeginOffset"])

    def admitted(self) -> list[bytes]:
        """Bodies of the messages that brokers admit to have cut."""
        truths = b"".join(self.world.hosts[name].truth for name in NAMES)
        lines = [msgspec.json.decode(line, type=TruthLine) for line in truths.splitlines()]
        assert {line.kind for line in lines} <= {f"without-{self._without}"}
        return [line.head for line in lines]

    def bodies(self, name: str) -> list[bytes]:
        return [record.body for record in self.pull(name)]

    def _broker(self, config: BrokerSettings) -> Callable[[Host], Server]:
        return lambda host: BrokerServer(config, host.clock, host.disk, self.world.dice)

    def _name_server(self, name: str) -> Callable[[Host], Server]:
        config = NameServerSettings(
            peer_secret=SECRET,
            control_peers=PEERS,
            control_self_id=name,
            control_without=self._without,
            control_file_octets=1 << 14,
        )

        def boot(host: Host) -> Server:
            control, members = of_name_server(config)
            dice = self.world.dice
            node = ControlNode(control, members, host.clock, host.disk, dice)
            secret = config.peer_secret
            return NameServer(host.clock, config.times, secret=secret, dice=dice, node=node)

        return boot
