"""A client of simulated name servers and brokers in tests: one more host of the world."""

from collections.abc import Mapping

from reference_impl.rocketmq.broker.server import BrokerServer
from reference_impl.rocketmq.effects import COPIES, REMOTING, Close, Dial, Effect, Server, Transmit
from reference_impl.rocketmq.naming.server import NameServer
from reference_impl.rocketmq.remoting.command import Command, encode, request
from reference_impl.rocketmq.remoting.frames import Decoder
from reference_impl.rocketmq.settings import BrokerSettings, NameServerTimes
from reference_impl.rocketmq.simulator.world import Host, World
from reference_impl.rocketmq.store.properties import write

NAME_SERVER, MASTER, SLAVE = "ns1", "a0", "a1"
NS_ADDRESS, MASTER_ADDRESS, SLAVE_ADDRESS = "ns1:9876", "a0:10911", "a1:10911"
ANSWER_LIMIT_MS = 60_000
_STEP_MS = 1.0


class _Caller:
    """effects.Server: it sends requests, and keeps the answers."""

    def __init__(self) -> None:
        self.links: dict[str, int] = {}
        self.answers: dict[int, Command] = {}
        self.requests: list[Command] = []
        self.refusals: list[str] = []
        self.closings: list[str] = []
        self._decoders: dict[int, Decoder] = {}

    def opened(self, connection: int, peer: str, door: str, dialled: str | None) -> list[Effect]:
        assert dialled is not None
        self.links[dialled] = connection
        self._decoders[connection] = Decoder()
        return []

    def refused(self, address: str, door: str) -> list[Effect]:
        self.refusals.append(address)
        return []

    def received(self, connection: int, octets: bytes) -> list[Effect]:
        for command in self._decoders[connection].feed(octets):
            if command.is_answer:
                self.answers[command.header.opaque] = command
            else:
                self.requests.append(command)
        return []

    def closed(self, connection: int) -> list[Effect]:
        for address, link in [*self.links.items()]:
            if link == connection:
                del self.links[address]
                self.closings.append(address)
        return []

    def tick(self) -> list[Effect]:
        return []

    def stop(self) -> list[Effect]:
        return []


class Client:
    """A host that asks whatever a test wants it to."""

    def __init__(self, world: World, name: str = "client") -> None:
        self.name = name
        self._world = world
        self._caller = _Caller()
        self._number = 0
        world.add(name, lambda _: self._caller)

    @property
    def requests(self) -> list[Command]:
        return self._caller.requests

    @property
    def closings(self) -> list[str]:
        """Addresses whose connections ended."""
        return self._caller.closings

    def ask(
        self,
        address: str,
        code: int,
        fields: Mapping[str, object] | None = None,
        body: bytes = b"",
    ) -> Command:
        """And waits for the answer."""
        number = self.send(address, code, fields, body)
        answer = self.answer(number, ANSWER_LIMIT_MS)
        assert answer is not None, f"{address} did not answer {code}"
        return answer

    def send(
        self,
        address: str,
        code: int,
        fields: Mapping[str, object] | None = None,
        body: bytes = b"",
        oneway: bool = False,
    ) -> int:
        """The request's number, by which its answer is found."""
        link = self.link(address)
        self._number += 1
        texts = {name: str(value) for name, value in (fields or {}).items()}
        octets = encode(request(code, self._number, texts, body, oneway))
        self.raw(link, octets)
        return self._number

    def answer(self, number: int, within_ms: float = 0) -> Command | None:
        """What came until then."""
        while number not in self._caller.answers and within_ms > 0:
            self._world.run(_STEP_MS)
            within_ms -= _STEP_MS
        return self._caller.answers.get(number)

    def raw(self, link: int, octets: bytes) -> None:
        self._world.call(self.name, lambda _: [Transmit(link, octets)])

    def link(self, address: str) -> int:
        """A connection to there, made where there is none."""
        if address not in self._caller.links:
            self._world.call(self.name, lambda _: [Dial(address, REMOTING)])
            for _ in range(5_000):
                if address in self._caller.links:
                    break
                self._world.run(_STEP_MS)
        return self._caller.links[address]

    def reaches(self, address: str) -> bool:
        """Whether a connection to there is open, or is made at once."""
        if address not in self._caller.links:
            self._world.call(self.name, lambda _: [Dial(address, REMOTING)])
            self._world.run(20)
        return address in self._caller.links

    def hang_up(self, address: str) -> None:
        link = self._caller.links.pop(address)
        self._world.call(self.name, lambda _: [Close(link)])
        self._world.run(20)


def name_server(
    world: World, name: str = NAME_SERVER, times: NameServerTimes | None = None, secret: str = ""
) -> None:
    def boot(host: Host) -> Server:
        return NameServer(host.clock, times, None, secret, world.dice)

    world.add(name, boot, {9876: REMOTING})


def broker(world: World, name: str = MASTER, **settings: object) -> None:
    """`told`: beside the name and the one name server."""
    own = {"broker_name": "broker-a", "broker_ip1": name, "namesrv_addr": NS_ADDRESS, **settings}
    sizes = {"mapped_file_size_commit_log": 1 << 16, "mapped_file_size_consume_queue": 20 << 10}
    config = BrokerSettings(**(sizes | own))  # type: ignore[arg-type]

    def boot(host: Host) -> Server:
        return BrokerServer(config, host.clock, host.disk, world.dice)

    world.add(name, boot, {10911: REMOTING, 10909: REMOTING, 10912: COPIES})


def server_of(world: World, name: str) -> BrokerServer:
    server = world.hosts[name].server
    assert isinstance(server, BrokerServer)
    return server


def sending(topic: str, queue: int = 0, **properties: str) -> dict[str, object]:
    """The fields of a SEND_MESSAGE_V2."""
    return {
        "a": "producers",
        "b": topic,
        "c": "TBW102",
        "d": 4,
        "e": queue,
        "f": 0,
        "g": 1_700_000_000_000,
        "h": 0,
        "i": write(properties),
        "j": 0,
        "k": "false",
        "m": "false",
    }


def pulling(topic: str, queue: int, offset: int, **more: object) -> dict[str, object]:
    """The fields of a PULL_MESSAGE that does not wait, and wants everything."""
    return {
        "consumerGroup": "TOOLS_CONSUMER",
        "topic": topic,
        "queueId": queue,
        "queueOffset": offset,
        "maxMsgNums": 32,
        "sysFlag": 4,
        "commitOffset": 0,
        "suspendTimeoutMillis": 15_000,
        "subscription": "*",
        "subVersion": 0,
        **more,
    }
