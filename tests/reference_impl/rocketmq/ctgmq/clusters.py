"""Control nodes and the replicas of one group in the simulated world, and what is seen of them
after every event.

1. A cluster breaks a promise if two masters serve at a time, a message is acknowledged by another
   than the last master, or what a reader saw at some position is ever something else.
2. Numbers are put; one that a client takes for sent has to be in every log at the end.
"""

from collections.abc import Callable, Iterator

import msgspec

from reference_impl.rocketmq.ctgmq.node import ControlNode
from reference_impl.rocketmq.ctgmq.replica import BrokerReplica, ReplicaRole
from reference_impl.rocketmq.ctgmq.requests import ControlAnswer, ControlRequest
from reference_impl.rocketmq.ctgmq.rules import ReplicaRule
from reference_impl.rocketmq.ctgmq.settings import (
    ControlSettings,
    ReplicaSettings,
    ReplicaTimes,
    Truncation,
)
from reference_impl.rocketmq.dledger.settings import MemberSettings
from reference_impl.rocketmq.effects import (
    COPIES,
    MEMBERS,
    REMOTING,
    Dial,
    Effect,
    Server,
    Transmit,
)
from reference_impl.rocketmq.remoting.codes import Code
from reference_impl.rocketmq.simulator.world import Host, World
from reference_impl.rocketmq.store.log import CommitLog
from reference_impl.rocketmq.store.records import Draft, Record

GROUP = "g"
NAME_PORT, MEMBER_PORT, COPIES_PORT = 9876, 40911, 10912
FILE_OCTETS = 4096
TIMES = ReplicaTimes(out=4_000)
SENT = (Code.SUCCESS, Code.FLUSH_DISK_TIMEOUT, Code.FLUSH_SLAVE_TIMEOUT, Code.SLAVE_NOT_AVAILABLE)


class _NumberedRequest(msgspec.Struct, frozen=True):
    number: int
    request: ControlRequest


class _NumberedAnswer(msgspec.Struct, frozen=True):
    number: int
    answer: ControlAnswer


_REQUESTS, _ANSWERS = (
    msgspec.msgpack.Decoder(_NumberedRequest),
    msgspec.msgpack.Decoder(_NumberedAnswer),
)


class ClusterWatch:
    """What was seen of a cluster. `confirmed`: numbers that a client takes for sent."""

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.confirmed: set[int] = set()
        self.masters: list[tuple[int, str, float]] = []  # epoch, name, since when
        self._seen: dict[int, int] = {}  # number by position
        self._served: dict[int, str] = {}
        self._epoch = 0

    def serves(self, name: str, epoch: int, now_ms: float) -> None:
        if self._served.setdefault(epoch, name) != name:
            self.broken.append(f"{name} and {self._served[epoch]} serve in epoch {epoch}")
        if epoch < self._epoch:
            self.broken.append(f"{name} serves in epoch {epoch} after {self._epoch} began")
        elif epoch > self._epoch:
            self.masters.append((epoch, name, now_ms))
            self._epoch = epoch

    def sent(self, number: int, epoch: int) -> None:
        self.confirmed.add(number)
        if epoch < self._epoch:
            self.broken.append(f"{number} is acknowledged in epoch {epoch} after {self._epoch}")

    def read(self, name: str, position: int, number: int) -> None:
        before = self._seen.setdefault(position, number)
        if before != number:
            self.broken.append(f"{name} shows {number} where {before} was read")

    def numbers_read(self) -> set[int]:
        return {*self._seen.values()}


class ControlServer:
    """effects.Server: a control node."""

    def __init__(self, node: ControlNode) -> None:
        self._node = node
        self.control = node.control
        self.member = node.member
        self._effects: list[Effect] = []

    def opened(self, connection: int, peer: str, door: str, dialled: str | None) -> list[Effect]:
        if door == MEMBERS:
            self.member.opened(connection, peer, dialled)
        return self._turned()

    def refused(self, address: str, door: str) -> list[Effect]:
        self.member.refused(address)
        return self._turned()

    def received(self, connection: int, octets: bytes) -> list[Effect]:
        if connection in self.member:
            self.member.received(connection, octets)
            return self._turned()
        sent = _REQUESTS.decode(octets)

        def answer(found: ControlAnswer) -> None:
            body = msgspec.msgpack.encode(_NumberedAnswer(sent.number, found))
            self._effects.append(Transmit(connection, body))

        self.control.request(sent.request, answer)
        return self._turned()

    def closed(self, connection: int) -> list[Effect]:
        self.member.closed(connection)
        return self._turned()

    def tick(self) -> list[Effect]:
        self.member.tick()
        return self._turned()

    def stop(self) -> list[Effect]:
        self.member.stop()
        return []

    def _turned(self) -> list[Effect]:
        members = self._node.take()
        effects, self._effects = self._effects, []
        return members + effects


class ReplicaServer:
    """effects.Server: a replica alone, to which numbers are put."""

    def __init__(
        self,
        settings: ReplicaSettings,
        host: Host,
        name_servers: list[str],
        code: str,
        watch: ClusterWatch,
        now_ms: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._clock = host.clock
        self._watch = watch
        self._now_ms = now_ms
        self._links: dict[str, int | None] = dict.fromkeys(name_servers)
        self._sent_ms: dict[int, int] = {}
        self._effects: list[Effect] = []
        log = CommitLog(host.disk.series("commitlog", FILE_OCTETS))
        log.recover()
        self.replica = BrokerReplica(
            settings, host.clock, host.disk, log, code, self._ask, log.truncate
        )

    def put(self, number: int) -> list[Effect]:
        replica, epoch = self.replica, self.replica.epoch
        if not replica.takes_puts:
            return []

        def settled(is_confirmed: bool) -> None:
            if replica.code(is_confirmed) in SENT:
                self._watch.sent(number, epoch)

        _, octets = replica.log.append(draft(number), 0, 0)
        assert octets > 0, number
        replica.wait(replica.log.end, settled)
        return self._turned()

    def leave(self) -> list[Effect]:
        return self._take(self.replica.leave())

    def opened(self, connection: int, peer: str, door: str, dialled: str | None) -> list[Effect]:
        if door == COPIES:
            self.replica.opened(connection, dialled)
        elif dialled is not None:
            self._links[dialled] = connection
        return self._turned()

    def refused(self, address: str, door: str) -> list[Effect]:
        if door == COPIES:
            self.replica.refused(address)
        return self._turned()

    def received(self, connection: int, octets: bytes) -> list[Effect]:
        if connection in self.replica:
            self.replica.received(connection, octets)
        elif connection in self._links.values():
            found = _ANSWERS.decode(octets)
            self.replica.answered(self._sent_ms[found.number], found.answer)
        return self._turned()

    def closed(self, connection: int) -> list[Effect]:
        self.replica.closed(connection)
        for address, link in self._links.items():
            if link == connection:
                self._links[address] = None
        return self._turned()

    def tick(self) -> list[Effect]:
        self.replica.tick()
        return self._turned()

    def stop(self) -> list[Effect]:
        return self.leave()

    def _ask(self, request: ControlRequest) -> None:
        for address, link in self._links.items():
            if link is None:
                self._effects.append(Dial(address, REMOTING))
            else:
                number = len(self._sent_ms)
                self._sent_ms[number] = self._clock.now_ms()
                body = msgspec.msgpack.encode(_NumberedRequest(number, request))
                self._effects.append(Transmit(link, body))

    def _turned(self) -> list[Effect]:
        return self._take(self.replica.take())

    def _take(self, effects: list[Effect]) -> list[Effect]:
        if self.replica.role is ReplicaRole.MASTER and self.replica.has_lease:
            self._watch.serves(self._settings.name, self.replica.epoch, self._now_ms())
        own, self._effects = self._effects, []
        return effects + own


class ReplicaCluster:
    """Control nodes s0, s1, … and replicas b0, b1, … in a world."""

    def __init__(
        self,
        world: World,
        replicas: int = 2,
        controls: int = 3,
        flushes: bool = False,
        without: tuple[ReplicaRule, ...] = (),
        drift: Callable[[], float] = lambda: 1.0,
        truncation: Truncation = Truncation.EPOCHS,
        min_in_sync: int = 1,
        batch_octets: int = 150,
    ) -> None:
        self.world = world
        self.watch = ClusterWatch()
        self.controls = [f"s{number}" for number in range(controls)]
        self.names = [f"b{number}" for number in range(replicas)]
        self._codes = 0
        self._without = without
        for name in self.controls:
            boot = self._control(name, ControlSettings(without=without, times=TIMES))
            doors = {NAME_PORT: REMOTING, MEMBER_PORT: MEMBERS}
            world.add(name, boot, doors, rate=drift())
        for name in self.names:
            settings = ReplicaSettings(
                group=GROUP,
                name=name,
                address=f"{name}:{COPIES_PORT}",
                flushes=flushes,
                min_in_sync=min_in_sync,
                truncation=truncation,
                batch_octets=batch_octets,
                without=without,
                times=TIMES,
            )
            self.add(name, settings, drift())

    def add(self, host: str, settings: ReplicaSettings, rate: float = 1.0) -> None:
        self.world.add(host, self._replica(settings), {COPIES_PORT: COPIES}, rate=rate)

    @property
    def hosts(self) -> list[str]:
        return [*self.controls, *self.names]

    def running(self) -> list[str]:
        return [name for name in self.names if self.world.hosts[name].server is not None]

    def server(self, name: str) -> ReplicaServer:
        server = self.world.hosts[name].server
        assert isinstance(server, ReplicaServer), name
        return server

    def replica(self, name: str) -> BrokerReplica:
        return self.server(name).replica

    def masters(self) -> list[str]:
        """Those that take messages."""
        return [name for name in self.running() if self.replica(name).takes_puts]

    def master(self) -> str:
        """The one of the last epoch; "": there is none."""
        return max(self.masters(), key=lambda name: self.replica(name).epoch, default="")

    def control(self) -> str:
        """The control node that leads; "": there is none."""
        found = (name for name in self.controls if self._leads(name))
        return next(found, "")

    def put(self, name: str, number: int) -> None:
        def event(server: Server) -> list[Effect]:
            assert isinstance(server, ReplicaServer)
            return server.put(number)

        self.world.call(name, event)

    def stop(self, name: str) -> None:
        """In order: its last words go out before its process ends."""

        def event(server: Server) -> list[Effect]:
            assert isinstance(server, ReplicaServer)
            return server.leave()

        self.world.call(name, event)
        self.world.run(10)
        if self.world.hosts[name].server is not None:
            self.world.crash(name)

    def until(self, happened: Callable[[], bool], limit_ms: float) -> bool:
        """Whether it does within that time."""
        end_ms = self.world.time.ms + limit_ms
        while not happened() and self.world.time.ms < end_ms:
            self.world.run(50)
        return happened()

    def read(self) -> None:
        """A reader at each replica sees all that it shows."""
        for name in self.running():
            replica = self.replica(name)
            for record in replica.log.records(replica.log.start):
                if record.position + record.octets <= replica.visible:
                    self.watch.read(name, record.position, int(record.body))

    def numbers(self, name: str) -> list[int]:
        return [*numbers_of(self.replica(name).log)]

    def isolate(self, name: str, *others: str) -> None:
        for other in others:
            self.world.cut(name, other)
            self.world.cut(other, name)

    def heal(self) -> None:
        for pair in sorted(self.world.network.cuts):
            self.world.heal(*pair)

    def _leads(self, name: str) -> bool:
        server = self.world.hosts[name].server
        return isinstance(server, ControlServer) and server.control.leads

    def _control(self, name: str, settings: ControlSettings) -> Callable[[Host], Server]:
        members = MemberSettings(
            group="control",
            name=name,
            peers={one: f"{one}:{MEMBER_PORT}" for one in self.controls},
            flushes=True,
            file_octets=FILE_OCTETS,
        )

        def boot(host: Host) -> Server:
            return ControlServer(
                ControlNode(settings, members, host.clock, host.disk, self.world.dice)
            )

        return boot

    def _replica(self, settings: ReplicaSettings) -> Callable[[Host], Server]:
        name_servers = [f"{name}:{NAME_PORT}" for name in self.controls]

        def boot(host: Host) -> Server:
            self._codes += 1
            code, time = f"code {self._codes}", self.world.time
            return ReplicaServer(settings, host, name_servers, code, self.watch, lambda: time.ms)

        return boot


def draft(number: int) -> Draft:
    return Draft(
        topic="t",
        queue=0,
        flag=0,
        sys_flag=0,
        born_ms=0,
        born_host=b"\0" * 8,
        store_host=b"\0" * 8,
        body=b"%d" % number,
        props_text="",
    )


def numbers_of(log: CommitLog) -> Iterator[int]:
    for record in log.records(log.start):
        assert isinstance(record, Record), record
        yield int(record.body)
